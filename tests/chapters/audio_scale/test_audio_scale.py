"""Audio length: profiles against the dense path, octaves, and the stored optima."""

import numpy as np
import pytest

import capcore as cc
from capcore.architectures.tensor_train import tensor_train_dimension
from chapters.audio_scale import figures as draw
from chapters.audio_scale import halves, study
from chapters.kit.stored import stored
from tests.book.explorers import octaves


def test_shares_by_hand():
    steep = np.array([1.0] * 2 + [0.0] * 198)
    assert study.ratios(steep) == pytest.approx({"near": 100, "far": 0})


@pytest.mark.parametrize("channels", [1, 3, [2, 4, 4, 4, 4, 2, 2]])
def test_a_profile_is_that_of_the_dense_path(channels):
    row = study.profile(8, channels, cc.PowerLaw())
    arch = cc.Hierarchical(channels, 8)
    dense = cc.fit(arch, cc.PowerLaw())
    per_input = cc.allocate(arch, dense.params, cc.PowerLaw()).per_input
    assert row["loss"] == pytest.approx(dense.loss, rel=1e-6)
    assert {name: row[name] for name in ("near", "far")} == pytest.approx(study.ratios(per_input), rel=1e-5)
    assert sum(row["per_octave"]) == pytest.approx(row["total"])


def test_fits_by_digits_and_by_inputs_end_at_the_same_model():
    listed, digits = (study.profile(10, 3, cc.PowerLaw(), listed_up_to=limit) for limit in (16, 9))
    assert digits["loss"] == pytest.approx(listed["loss"], rel=1e-5)
    np.testing.assert_allclose(digits["per_octave"], listed["per_octave"], atol=1e-4)


def test_octaves_in_the_middle_have_the_square_of_the_channels():
    row = study.profile(18, 2, cc.PowerLaw())
    np.testing.assert_allclose(row["per_octave"][8:16], 4, atol=0.1)


def test_processes_without_a_sum_of_exponentials_are_fitted_by_inputs_at_any_length():
    row = study.profile(9, 2, cc.RationalQuadratic(), listed_up_to=8)
    assert row["converged"] and row["per_octave"] == study.profile(9, 2, cc.RationalQuadratic())["per_octave"]


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


def test_octaves_stand_below_their_ceiling_with_the_past_at_the_left(ax):
    draw.plot_octave_capacities({"a": [1, 1, 2, 2], "b": [1, 1, 1, 3]}, 8, ax)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(lines["one per input"], [1, 1, 2, 4])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2", "4"]
    assert ax.xaxis_inverted()
