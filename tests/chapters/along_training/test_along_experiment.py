"""All measures along training: the stored experiment is of this code, and holds what is possible."""

import numpy as np
import pytest

from chapters.along_training import experiment
from chapters.along_training.experiment import KINDS, SETTINGS, Stored
from chapters.shared.complexity import Network

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def stored():
    return Stored()


def test_what_is_stored_is_possible(stored):
    n_snapshots = len(SETTINGS["snapshots"])
    for activation, kinds in stored.values.items():
        for table in kinds.values():
            assert table["rank"].shape == (n_snapshots, 10) and table["test rank"].shape == (2, 10)
            for where in ("", "test "):
                ranks = [table[where + name] for name in ("rank", "limit", "ceiling", "bound")]
                assert np.all(np.diff(ranks, axis=0) >= 0) and np.all(table[where + "rank.seen"] < ranks[0])
            assert np.all((table["participation"] >= 1) & (table["participation"] <= table["rank"]))
            assert np.all(table["gap"] > 10)  # over a tolerance that allows for the rounding of the projection
            if activation == "relu":
                assert np.all(table["pieces"] <= table["patterns"])
        starts = [{n: v[0] for n, v in kinds[k].items() if n not in ("loss", "accuracy")} for k in KINDS]
        for name, value in starts[0].items():
            np.testing.assert_array_equal(value, starts[1][name])


def test_idle_units_and_unevenness():
    net = Network([np.ones((2, 3)), np.ones((3, 1))], [[0.0, 99.0, -99.0], [0.0]])
    assert experiment.idle_units(net, np.array([[1.0, 1.0], [-1.0, -1.0]])) == {"dead": 1, "never off": 1}
    assert experiment.unevenness(np.array([1.0, 3.0])) == 0.5
