"""The measured report of the three axes against its parts, and models whose answers are known."""

import numpy as np
import pytest

from capcore.complexity import TARGETS, SetNetwork, measure_axes, random_network


def flat(items):
    return items.reshape(len(items), -1)


def least_squares(x, y, rng):
    solution = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0]
    return [(solution[:-1, None], solution[-1:])]


def untrained_set(x, y, rng):
    below, above = (random_network(widths, rng, 1.5, 0.5, "tanh") for widths in ([3, 4, 3], [3, 4, 1]))
    return SetNetwork(below, above)


def measured(train, targets, **options):
    chosen = {name: TARGETS[name] for name in targets}
    settings = {"sizes": [8, 64], "n_train": 400, "n_trials": 3, "n_pairs": 40} | options
    return measure_axes("it", train, chosen, np.random.default_rng(1), **settings)


def test_a_linear_model():
    found = measured(least_squares, ["simple order", "order", "invariant"], prepare=flat)
    assert (found.name, found.n_params, found.memorisation.memorised()) == ("it", 13, 8)
    assert not found.memorisation.at_edge and found.memorisation.accuracies.shape == (2, 3)
    assert found.fits["simple order"].test.min() > 0.9
    assert all(0.35 < found.fits[name].test.mean() < 0.65 for name in ("order", "invariant"))
    assert found.ranks.tolist() == [13, 13, 13]
    np.testing.assert_allclose(found.odd_shares, 3 / 13)  # items 1 and 2 differ in three directions


def test_an_invariant_model_is_blind():
    found = measured(untrained_set, ["orbit-closed"])
    assert found.n_params == 16 + 15 + 16 + 5 and (found.ranks == found.n_params).all()
    assert (found.odd_shares < 1e-12).all()
    assert (found.fits["orbit-closed"].train == 0.5).all() and (found.fits["orbit-closed"].test == 0.5).all()


def test_the_training_sees_what_the_model_reads():
    seen = []

    def train(x, y, rng):
        seen.append((x.shape, sorted(set(y))))
        return least_squares(x, y, rng)

    measured(train, ["order"], prepare=flat, n_trials=2)
    assert [shape[0] for shape, _ in seen] == [8, 8, 64, 64, 400, 400, 64, 64]
    assert all(shape[1] == 12 and set(labels) <= {-1.0, 1.0} for shape, labels in seen)


def test_bad_input():
    with pytest.raises(ValueError, match=r"sizes: found \[64.0, 8.0\]"):
        measured(least_squares, [], prepare=flat, sizes=[64, 8])
    with pytest.raises(ValueError, match="n_trials: found 0"):
        measured(least_squares, [], prepare=flat, n_trials=0)
    with pytest.raises(ValueError, match="network: found function"):
        measured(lambda x, y, rng: lambda new: new, [], prepare=flat)
