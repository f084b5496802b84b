import numpy as np
import pytest

from capcore.architectures import Hierarchical, Linear
from capcore.processes import AR1, PowerLaw
from chapters.linear_systems.study import allocate_all, allocate_by_process


def test_equal_totals_in_different_places():
    """Free weights on the six most recent and on the six oldest inputs are mirror images, since Σ is Toeplitz."""
    models = {"recent": Linear(np.eye(10)[:, :6]), "old": Linear(np.eye(10)[:, 4:])}
    recent, old = (alloc.per_input for alloc in allocate_all(models, PowerLaw()).values())
    assert recent.sum() == pytest.approx(6)
    assert np.allclose(recent, old[::-1])
    assert recent[0] > 0.9 > old[0]


def test_models_keep_their_labels_and_order():
    models = {"z": Hierarchical(1, 2), "a": Linear(np.eye(4)[:, :1])}
    allocs = allocate_all(models, AR1(0.5))
    assert list(allocs) == ["z", "a"]
    assert [alloc.total for alloc in allocs.values()] == [3, 1]


def test_one_model_of_two_processes():
    allocs = allocate_by_process(Hierarchical(2, 3), {"power law": PowerLaw(), "steeper": PowerLaw(1.5)})
    assert list(allocs) == ["power law", "steeper"]
    same = allocate_all({"model": Hierarchical(2, 3)}, PowerLaw(1.5))["model"]
    assert np.array_equal(allocs["steeper"].per_input, same.per_input)
