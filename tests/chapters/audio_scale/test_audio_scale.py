"""Audio length: shares against dense ones, octaves against inputs, and the stored runs against runs made now."""

import numpy as np
import pytest

import capcore as cc
from chapters.audio_scale import study


def test_shares_of_an_even_allocation_are_one():
    even = np.full(512, 0.25)
    assert study.near_ratio(even) == pytest.approx(1)
    assert study.far_ratio(even) == pytest.approx(1)


def test_shares_by_hand():
    steep = np.array([1.0] * 2 + [0.0] * 198)
    assert study.near_ratio(steep) == pytest.approx(100)
    assert study.far_ratio(steep) == 0


@pytest.mark.parametrize("channels", [1, 3, [2, 4, 4, 4, 4, 2, 2]])
def test_a_profile_is_that_of_the_dense_path(channels):
    row = study.profile(8, channels, cc.PowerLaw())
    arch = cc.Hierarchical(channels, 8)
    dense = cc.fit(arch, cc.PowerLaw())
    per_input = cc.allocate(arch, dense.params, cc.PowerLaw()).per_input
    assert row["loss"] == pytest.approx(dense.loss, rel=1e-6)
    assert row["near"] == pytest.approx(study.near_ratio(per_input), rel=1e-5)
    assert row["far"] == pytest.approx(study.far_ratio(per_input), rel=1e-5)
    assert sum(row["per_octave"]) == pytest.approx(row["total"])


def test_fits_by_digits_and_by_inputs_end_at_the_same_model():
    listed, digits = (study.profile(10, 3, cc.PowerLaw(), listed_up_to=limit) for limit in (16, 9))
    assert digits["loss"] == pytest.approx(listed["loss"], rel=1e-5)
    np.testing.assert_allclose(digits["per_octave"], listed["per_octave"], atol=1e-4)


def test_octaves_in_the_middle_have_the_square_of_the_channels():
    row = study.profile(18, 2, cc.PowerLaw())
    np.testing.assert_allclose(row["per_octave"][8:16], 4, atol=0.1)


def test_the_paper_s_way_is_measured_at_its_stopping_point():
    row = study.paper_method(6, 2, cc.PowerLaw(), 200)
    assert row["n_inputs"] == 64 and row["bytes"] == 8 * 64**2
    assert row["loss"] > study.profile(6, 2, cc.PowerLaw())["loss"]


def test_unusable_lengths_are_refused():
    with pytest.raises(ValueError, match="n_layers: found 0"):
        study.profile(0, 2, cc.PowerLaw())


def test_processes_without_a_sum_of_exponentials_are_fitted_by_inputs_at_any_length():
    row = study.profile(9, 2, cc.RationalQuadratic(), listed_up_to=8)
    assert row["converged"] and row["per_octave"] == study.profile(9, 2, cc.RationalQuadratic())["per_octave"]
