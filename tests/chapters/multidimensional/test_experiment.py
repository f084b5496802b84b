"""The experiment on several components: its pieces, and the stored file against a reduced run now."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from capcore.processes.problem import Problem
from chapters.kit.stored import stored
from chapters.multidimensional import similar
from chapters.multidimensional.experiment import RANGES, SETTINGS, profile, rerun, run, spread_components, summarise

REDUCED = {
    **SETTINGS,
    "channels": {"PowerLaw": {"1": [1, 2, 4], "2": [2], "4": [1, 2]}, "DampedCosine": {"1": [2]}},
    "random_starts": {"2": [2]},
}


def test_parameters_are_spread_evenly_over_the_range():
    exponents = [process.exponent for process in spread_components("PowerLaw", 16)]
    assert exponents[0] == 0.3 and exponents[-1] == 0.9
    assert_allclose(np.diff(exponents), 0.04, rtol=1e-12)
    assert spread_components("PowerLaw", 1)[0].exponent == pytest.approx(0.6)
    assert [process.phi for process in spread_components("AR1", 2, -0.5, 0.5)] == [-0.5, 0.5]


@pytest.mark.parametrize("family", RANGES)
def test_every_family_has_distinct_components_that_can_be_fitted(family):
    components = spread_components(family, 16)
    assert len({tuple(process.autocovariance(65)) for process in components}) == 16
    target, variance = cc.Independent(components).predictor(64)
    assert target.size == 1024 and 0 < variance < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("PowerLaws", 2), "process: found 'PowerLaws'.*Did you mean 'PowerLaw'"),
        (("PowerLaw", 0), "input_dim: found 0"),
        (("PowerLaw", 2, 0.9, 0.3), "low: found 0.9, expected at most high = 0.3"),
        (("PowerLaw", 2, -0.5, 0.5), "exponent: found -0.5, expected a positive number"),
        (("AR1", 2, 0.5, 1.5), "phi: found 1.5"),
        (("PowerLaw", 2, float("nan")), "low: found nan"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        spread_components(*arguments)


def test_the_profile_is_that_of_the_allocation(rng):
    arch = cc.Hierarchical(3, 4, input_dim=3)
    problem = Problem.of(arch, cc.Independent(spread_components("PowerLaw", 3)))
    params = arch.init(rng)
    expected = cc.allocate(arch, params, problem)
    found, total = profile(arch, params, problem)
    assert total == expected.total
    assert_allclose(found, expected.per_input, rtol=0, atol=1e-12)


def test_the_summary_is_plain_and_complete():
    arch = cc.Hierarchical(2, 3, input_dim=2)
    summary = summarise(arch, cc.Independent(spread_components("PowerLaw", 2)))
    assert json.loads(json.dumps(summary)) == summary
    assert summary["converged"] and summary["total"] == summary["generic_total"]
    assert sum(summary["per_input"]) == pytest.approx(summary["total"])
    assert sum(summary["random_per_input"]) == pytest.approx(summary["random_total"])


def test_a_random_start_ends_at_the_same_optimum():
    arch, process = cc.Hierarchical(2, 4, input_dim=2), cc.Independent(spread_components("PowerLaw", 2))
    found = rerun(arch, process, summarise(arch, process))
    assert found["gap"] < 1e-4 and found["loss_ratio"] == pytest.approx(1, rel=1e-9)


@pytest.mark.slow
def test_the_stored_experiment_agrees_with_a_reduced_run_now():
    """Losses above 1e-10 to eight digits, profiles to 1e-4 (between random starts they differ by 1e-6)."""
    values, now = stored("multidimensional")["values"], run(REDUCED)
    for family, dims in now["optima"].items():
        for d, cases in dims.items():
            for c, case in cases.items():
                kept = values["optima"][family][d][c]
                assert case["loss"] == pytest.approx(kept["loss"], rel=1e-6)
                assert (case["total"], case["random_total"]) == (kept["total"], kept["random_total"])
                assert_allclose(case["per_input"], kept["per_input"], rtol=0, atol=1e-4)
                assert_allclose(case["random_per_input"], kept["random_per_input"], rtol=0, atol=1e-6)
    assert now["random_starts"]["2"]["2"]["gap"] < 1e-4


def test_the_stored_optima_are_optima_but_for_those_the_chapter_names():
    """A relative offset of at most 1e-3 is Bates and Watts' criterion; below a loss of 1e-12 it is mostly rounding."""
    content, stalled = stored("multidimensional"), []
    for family, dims in content["values"]["optima"].items():
        for d, cases in dims.items():
            assert list(map(int, cases)) == content["settings"]["channels"][family][d]
            for c, case in cases.items():
                if not case["converged"]:
                    stalled.append((family, d, c))
                    assert case["relative_offset"] < 2e-3
                else:
                    assert case["loss"] < 1e-12 or case["relative_offset"] < 1e-3, (family, d, c)
    assert stalled == [("DampedCosine", "4", "4"), ("DampedCosine", "16", "4")]
    for d, cases in content["values"]["random_starts"].items():
        assert all(case["gap"] < 1e-3 for case in cases.values()), d


def test_similar_components_are_similar_and_their_fits_arrived():
    """Similar is what differs by a twentieth at most at every lag, as almost equal does in the registry."""
    least, most = similar.SETTINGS["ranges"]["PowerLaw"][1:]
    components = spread_components("PowerLaw", 16, least, most)
    assert np.ptp([each.autocovariance(64) for each in components], axis=0).max() <= 0.05
    for cases in stored("similar_components")["values"]["optima"]["PowerLaw"].values():
        assert all(case["converged"] for case in cases.values())
