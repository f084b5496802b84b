"""Stacks whose halves differ: hidden layers, the stored optima, and the same numbers with all inputs listed."""

import numpy as np
import pytest

import capcore as cc
from capcore.architectures.generic import tensor_train_dimension
from chapters.audio_scale import halves
from chapters.kit.stored import stored
from tests.book.explorers import octaves


@pytest.mark.parametrize("n", [2, 6, 7])
def test_halves_that_are_exchanged_mirror_the_stack(n):
    hidden = halves.hidden_channels(n, 2, 5)
    assert len(hidden) == n - 1
    assert hidden[::-1] == halves.hidden_channels(n, 5, 2)
    assert halves.hidden_channels(n, 3, 3) == [3] * (n - 1)


def test_every_stored_design_is_an_optimum_with_its_generic_capacity():
    designs = stored("octaves")["values"]
    layers, channels = halves.SETTINGS["layers"], halves.SETTINGS["channels"]
    assert list(designs) == [halves.key(n, a, b) for n in layers for a in channels for b in channels]
    for key, row in designs.items():
        n, lower, upper = map(int, key.split())
        stack = cc.Hierarchical(halves.hidden_channels(n, lower, upper), n)
        assert row["converged"] and row["n_params"] == stack.n_params
        assert row["total"] == tensor_train_dimension([1, *stack.channels, 1], stack.kernel_sizes)
        assert sum(row["per_octave"]) == pytest.approx(row["total"], abs=1e-4 * n)  # of four decimals
        assert np.all(np.array(row["per_octave"]) <= [1, *(2**i for i in range(n))])
        exchanged = designs[halves.key(n, upper, lower)]
        assert (exchanged["total"], exchanged["n_params"]) == (row["total"], row["n_params"])
        for wider in (halves.key(n, lower + 1, upper), halves.key(n, lower, upper + 1)):
            assert wider not in designs or designs[wider]["loss"] < row["loss"] * (1 + 1e-3)


@pytest.mark.parametrize("state", octaves.STATES, ids=str)
def test_the_stored_numbers_are_those_of_models_that_list_their_inputs(state):
    row = stored("octaves")["values"][halves.key(state["layers"], state["lower"], state["upper"])]
    expected = octaves.expected(state)
    np.testing.assert_allclose(row["per_octave"], expected["per_octave"], **octaves.TOLERANCE["per_octave"])
    assert (row["total"], row["n_params"]) == (expected["total"], expected["n_params"])
    np.testing.assert_allclose(row["loss"], expected["loss"], **octaves.TOLERANCE["loss"])
    far = 2 * row["per_octave"][-1] / row["total"]
    np.testing.assert_allclose(far, expected["far"], **octaves.TOLERANCE["far"])
