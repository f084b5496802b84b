"""Measures along training: ranks against elimination, and what is read off the stored networks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.architectures.finite_field import PRIME, rank_modulo_prime, residues
from capcore.capacity.constraints import ConstraintSpace
from chapters.along_training import study
from chapters.along_training.experiment import Stored, places
from chapters.along_training.ranks import jacobian_rank, participation_ratio
from chapters.shared.complexity import parameter_jacobian, random_network
from chapters.shared.rank_statistics import spearman
from tests.strategies import seeds


def rank(net, x, tolerance=None):
    """Of the whole parameter Jacobian."""
    return ConstraintSpace.from_columns(parameter_jacobian(net, x), tolerance).dimension


def rank_by_elimination(net, x):
    """The rank of a ReLU network's Jacobian without a tolerance: units are on where they are, the rest modulo a prime.

    Given where units are on, the logits are a polynomial in the weights, whose stored values are fractions.
    """

    def product(a, b):  # term by term: a sum of products would overflow
        return sum(a[:, k, None] * b[None, k] % PRIME for k in range(len(b))) % PRIME

    gates = [(z > 0).astype(np.int64) for z in net.pre_activations(x)[:-1]]
    weights = [residues(w).reshape(w.shape) for w in net.weights]
    reads = [residues(x).reshape(x.shape)]
    for w, b, gate in zip(weights[:-1], net.biases[:-1], gates, strict=True):
        reads.append((product(reads[-1], w) + residues(b)) % PRIME * gate)
    n, n_outputs = len(x), net.widths[-1]
    delta = np.broadcast_to(np.eye(n_outputs, dtype=np.int64), (n, n_outputs, n_outputs))
    columns = []
    for layer in range(len(weights) - 1, -1, -1):
        below = np.column_stack([reads[layer], np.ones(n, np.int64)])
        columns.append((below[:, None, :, None] * delta[:, :, None, :] % PRIME).reshape(n * n_outputs, -1))
        if layer:
            back = product(delta.reshape(n * n_outputs, -1), weights[layer].T)
            delta = back.reshape(n, n_outputs, -1) * gates[layer - 1][:, None, :]
    return rank_modulo_prime(np.hstack(columns))


@given(seeds, st.integers(1, 4))
def test_elimination_finds_the_same_rank(seed, n_outputs):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 4, 3, n_outputs], rng, 1.5, 0.5), rng.normal(size=(25, 3))
    assert rank_by_elimination(net, x) == rank(net, x, 1e-10)


@pytest.mark.parametrize("seed", [2, 4, 14])
def test_rounding_is_not_counted(seed):
    """Units whose weights in can do nothing that those above cannot: nothing is left of their columns but rounding."""
    net, x = random_network([64, 8, 5, 3], np.random.default_rng(seed)), places().data.x[:60]
    assert jacobian_rank(parameter_jacobian(net, x)) == rank(net, x) == rank_by_elimination(net, x)


@settings(max_examples=15)
@given(seeds, st.sampled_from(["relu", "tanh"]))
def test_participation_from_singular_values(seed, activation):
    rng = np.random.default_rng(seed)
    net, x = random_network([3, 5, 2], rng, 1.5, 0.5, activation), rng.normal(size=(20, 3))
    jacobian = parameter_jacobian(net, x)
    values = np.linalg.svd(jacobian, compute_uv=False)
    assert participation_ratio(jacobian) == pytest.approx((values**2).sum() ** 2 / (values**4).sum(), rel=1e-10)


@pytest.mark.slow
def test_what_the_chapter_counts_on_the_digits():
    """Six constant pixels, three images with a direction of their own, and one pixel of two images: exercise 1."""
    x = places().data.x
    rare = [set(np.flatnonzero(~np.isclose(column, column.min()))) for column in x.T]
    alone = set.union(*(images for images in rare if len(images) == 1))
    assert sum(not images for images in rare) == 6 and len(alone) == 2
    assert sorted(len(images & alone) for images in rare if len(images) == 2) == [0, 1]
    net = random_network([64, 22, 22, 10], np.random.default_rng(1), activation="tanh")
    assert net.n_params == 2_166
    assert rank(net, x) == 2_166 - 6 * 22 - 3 * (22 - 10) - 2 == 1_996


NAMES = list(study.RELU)


@pytest.fixture(scope="module")
def stored():
    return Stored()


@pytest.fixture(scope="module")
def relu(stored):
    return stored.values["relu"]


def made_up(rng, noise=0.05):
    """Tables of two snapshots and eight seeds: "a" and "b" follow each other, "c" goes its own way."""
    kinds = {}
    for kind, factor in (("right", 1.0), ("shuffled", 2.0)):
        a = np.exp(rng.normal(size=8))
        tables = {"a": a, "b": a * np.exp(noise * rng.normal(size=8)), "c": np.exp(rng.normal(size=8))}
        kinds[kind] = {name: np.stack([np.ones(8), factor * values]) for name, values in tables.items()}
        kinds[kind]["loss"] = np.stack([np.full(8, 2.0), np.full(8, 0.1 * factor)])
    return kinds


def verdicts(kinds, names):
    return {
        group: {name: study.verdict(interval) for name, interval in values.items()}
        for group, values in study.ratios(kinds, list(names)).items()
    }


def test_equal_loss_interpolates_between_snapshots():
    """With a = loss^p along the way, a ratio at equal loss is the end over target^p."""
    losses, ends = np.array([2.0, 0.5, 0.1])[:, None] * np.ones(8), np.array([np.full(8, 2.0), np.full(8, 0.2)])
    kinds = {"right": {"loss": losses, "a": losses**-0.3}, "shuffled": {"loss": ends, "a": ends[:, :8] + 1}}
    ratio = study.equal_loss_ratio(kinds, "a")
    np.testing.assert_allclose(ratio, kinds["shuffled"]["a"][-1] * 0.2**0.3, rtol=1e-12)


def test_within_one_kind_it_is_the_plain_correlation():
    kinds = made_up(np.random.default_rng(1), noise=2.0)
    within = study.Within({"right": kinds["right"]}, ["a", "b"], n_draws=10)
    assert within.rho[0, 1] == pytest.approx(spearman(*(kinds["right"][name][-1] for name in "ab")))


def test_within_the_labels_a_correlation_can_reverse():
    """Two measures, both larger with shuffled labels, and one against the other at the same labels."""
    kinds = made_up(np.random.default_rng(2))
    for kind, factor in (("right", 1.0), ("shuffled", 100.0)):
        kinds[kind]["b"] = np.stack([np.ones(8), factor**2 / kinds[kind]["a"][-1]])
        kinds[kind]["a"] = factor * kinds[kind]["a"]
    within = study.Within(kinds, ["a", "b", "c"], n_draws=2_000)
    assert within.rho[0, 1] == pytest.approx(-1) and within.chance[0, 1] <= 0.002
    assert study.correlation(kinds, "a", "b")[0] > 0.4
    np.testing.assert_array_equal(within.block(["a"], ["c"])[0], within.rho[:1, 2:])
    assert within.block(["a"], ["c"])[1] == pytest.approx(within.chance[0, 2])


def test_chance_keeps_its_level():
    """Measures without relation: about one in twenty is clear at 5 %."""
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(40):
        kinds = {kind: {str(i): rng.normal(size=(1, 10)) for i in range(6)} for kind in ("right", "shuffled")}
        within = study.Within(kinds, [str(i) for i in range(6)], n_draws=400)
        shares.append(np.mean(within.chance[np.tril_indices(6, -1)] < 0.05))
    assert np.mean(shares) == pytest.approx(0.05, abs=0.03)


def test_a_measure_that_is_constant_has_no_correlation():
    kinds = {"right": {"a": np.ones((1, 5)), "b": np.arange(5.0)[None]}}
    within = study.Within(kinds, ["a", "b"], n_draws=20)
    assert (within.rho[0, 1], within.chance[0, 1]) == (0, 1)


def test_what_the_chapter_says_of_relu(relu):
    ways = verdicts(relu, NAMES)
    assert {n for n in NAMES if ways["right"][n] == "up"} == {"length", "logits"}
    assert {n for n in NAMES if ways["shuffled"][n] == "down"} == {"rank", "fisher"}
    for place in ("boundary.ball", "boundary.near"):
        assert (ways["right"][place], ways["shuffled"][place]) == ("down", "level")
    assert {n for n, way in ways["labels"].items() if way != "up"} == {"rank", "unevenness"}
    assert {ways[group]["unevenness"] for group in ("right", "shuffled", "labels")} == {"level"}
    assert {n for n, way in ways["equal loss"].items() if way != "up"} == {"rank", "fisher"}


def test_what_the_chapter_says_of_the_rank(stored, relu):
    """Tanh: data and architecture decide it, six constant pixels and three lone images. ReLU: it dips."""
    tanh = stored.values["tanh"]
    assert {float(rank) for table in tanh.values() for rank in table["rank"].ravel()} == {1_482 - 6 * 16 - 3 * 6}
    at = [study.verdict(study.interval(study.labels_ratio(relu, "rank", i))) for i in range(1, 8)]
    assert at == ["level", "down", "down", "level", "level", "level", "level"]


def test_what_the_chapter_says_of_pairs_within_the_labels(relu):
    within = study.Within(relu, NAMES)
    rho, chance = within.block(study.STEEP, study.COUNTS)
    assert rho.size == 18 and np.all(rho < 0) and chance < 0.01
    i, j = np.tril_indices(len(NAMES), -1)
    assert np.quantile(np.abs(within.draws[:, i, j]).max(axis=1), 0.95) > np.abs(rho).max()  # none by itself, among 66
