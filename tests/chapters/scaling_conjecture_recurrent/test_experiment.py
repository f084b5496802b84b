"""Recurrent networks against a loop over steps with matrices in full, and the adding task against its definition."""

import jax
import numpy as np
import pytest

from chapters.scaling_conjecture_recurrent import experiment
from chapters.scaling_conjecture_recurrent.experiment import BASELINE, RecurrentNetwork, adding_batches

pytestmark = pytest.mark.slow  # of code that stored results hash, so that it cannot change unnoticed


def full(network, A):
    """W of one step, as a matrix that acts on rows."""
    n, scale = network.width, network.n_steps**-network.exponent
    if network.structure == "local":
        matrix = np.zeros((n, n))
        for i in range(n):
            for k in range(3):
                matrix[(i + 1 - k) % n, i] += A[k, i]
        return np.eye(n) + scale * matrix
    if network.structure == "dense":
        return np.eye(n) + scale * A
    A = (A - A.T) / np.sqrt(2)
    if network.structure == "antisymmetric":
        return np.eye(n) + scale * A
    return np.linalg.inv(np.eye(n) - scale / 2 * A) @ (np.eye(n) + scale / 2 * A)


CASES = [
    *((kind, shared) for kind in ("dense", "local") for shared in (True, False)),
    ("antisymmetric", True),
    ("orthogonal", True),
]


@pytest.mark.parametrize(("structure", "shared"), CASES)
@pytest.mark.parametrize("exponent", [0.0, 0.5])
def test_states_are_those_of_a_loop(structure, shared, exponent):
    network = RecurrentNetwork(7, 5, structure, exponent, shared)
    params = network.initial(jax.random.key(1))
    params = {name: np.asarray(value, float) for name, value in params.items()}
    inputs = np.asarray(adding_batches(7, 4)(jax.random.key(2))[0], float)
    x = np.zeros((4, 5))
    for t in range(7):
        A = params["A"] if shared else params["A"][t]
        y = np.tanh(inputs[t] @ params["V"] + params["c"])
        x = np.tanh(x @ full(network, A) + y / np.sqrt(7))
    np.testing.assert_allclose(network.states(params, inputs), x, atol=2e-5)  # single precision
    answers = x @ params["r"] + params["r0"]
    sums = np.arange(4.0)
    assert float(network.loss(params, (inputs, sums))) == pytest.approx(np.mean((answers - sums) ** 2), rel=1e-4)


def test_orthogonal_transitions_keep_lengths():
    network = RecurrentNetwork(4, 6, "orthogonal", 0.0)
    W = np.asarray(network.transition(network.initial(jax.random.key(0))["A"])(np.eye(6, dtype=np.float32)))
    np.testing.assert_allclose(W @ W.T, np.eye(6), atol=1e-5)
    assert np.abs(W - np.eye(6)).max() > 0.3


@pytest.mark.parametrize("structure", ["dense", "local"])
def test_columns_start_with_unit_length_on_average(structure):
    A = np.asarray(RecurrentNetwork(200, 8, structure, shared=False).initial(jax.random.key(0))["A"])
    assert (A**2).sum(axis=1).mean() == pytest.approx(1, abs=0.06)  # 4,800 squares: a standard error of 0.02


def test_the_adding_task_has_one_mark_in_each_half_and_their_sum():
    inputs, sums = map(np.asarray, adding_batches(9, 500)(jax.random.key(3)))
    marks = inputs[..., 1]
    assert (marks[:4].sum(axis=0) == 1).all() and (marks[4:].sum(axis=0) == 1).all()
    np.testing.assert_allclose(((inputs[..., 0] + 0.5) * marks).sum(axis=0), sums, rtol=1e-5)
    assert (marks.sum(axis=1) > 0).all()
    many = np.asarray(adding_batches(2, 100_000)(jax.random.key(4))[1])
    assert many.var() == pytest.approx(BASELINE, rel=0.02) and many.mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("structure: found 'densely'.*Did you mean 'dense'", lambda: RecurrentNetwork(4, 4, "densely")),
        ("shared: found False with structure 'orthogonal'", lambda: RecurrentNetwork(4, 4, "orthogonal", shared=False)),
        ("width: found 2", lambda: RecurrentNetwork(4, 2)),
        ("n_steps: found 1", lambda: RecurrentNetwork(1, 4)),
        ("exponent: found nan", lambda: RecurrentNetwork(4, 4, exponent=float("nan"))),
        ("n_steps: found 1", lambda: adding_batches(1, 4)),
        ("batch_size: found 0", lambda: adding_batches(4, 0)),
    ],
)
def test_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.slow
def test_the_search_goes_on_beyond_the_edge_of_the_grid():
    """Far too small learning rates: the largest is the best, so that two larger ones are tried."""
    settings = {**experiment.SETTINGS, "learning_rates": [1e-5, 3e-5], "n_steps": 120, "seeds": [0], "width": 8}
    found = experiment.search(RecurrentNetwork(4, 8, "dense", 1.0), settings)
    assert found["learning_rates"] == [1e-5, 3e-5, 9e-5, 2.7e-4] and found["best"] == 3 and found["at_edge"]
    assert np.shape(found["final"]) == np.shape(found["early"]) == (4, 1) and len(found["curve"]) == 20


def test_runs_that_diverge_are_stored_as_none():
    assert experiment._plain(np.array([[np.inf, 1 / 3]])) == [[None, 0.333333]]
