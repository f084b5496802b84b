"""Two stacks stopped at one loss after another: stored stops are where runs stop, and their profiles obey the laws."""

import numpy as np
import pytest

from capcore import Hierarchical, allocate
from capcore.processes import PowerLaw
from capcore.processes.problem import Problem
from chapters.hierarchical_errors import stopped_stacks as experiment
from chapters.kit.stored import stored

CASES = [(order, method) for order in ("tiled", "repeated") for method in ("l-bfgs-b", "gauss-newton")]
each_run = pytest.mark.parametrize(("order", "method"), CASES)


@pytest.fixture(scope="module")
def values():
    return stored("stopped_stacks")["values"]


def test_the_stacks_are_those_that_were_trained(values):
    for order, stack in experiment.stacks().items():
        known = values["stacks"][order]
        assert list(stack.dilations) == known["dilations"] and stack.generic_capacity() == known["total"]
    tiled, repeated = (values["stacks"][order]["dilations"] for order in ("tiled", "repeated"))
    assert sorted(tiled) == repeated and tiled != repeated


@each_run
def test_a_run_stops_where_it_first_reaches_a_level(values, order, method):
    """The three earliest stops of each run, made again; longer runs part with the processor's arithmetic."""
    stack = experiment.stacks()[order]
    problem, stops = Problem.of(stack, PowerLaw()), values["stacks"][order]["runs"][method]
    for known in stops[:3]:
        run = experiment.stop(stack, problem, experiment.SETTINGS, method, known["iterations"])
        found = experiment.look(stack, problem, run)
        assert found["iterations"] == known["iterations"] and found["total"] == known["total"]
        assert found["loss"] == pytest.approx(known["loss"], rel=0.01)
        assert np.allclose(found["per_input"], known["per_input"], atol=2e-3)
        passed = [level for level in values["levels"] if level < run.history[-2]]
        assert known["loss"] <= 1.005 * passed[0], "the iteration before had not reached this level"


@each_run
def test_stored_profiles_obey_the_laws(values, order, method):
    stack = values["stacks"][order]
    for before, after in zip(stack["runs"][method], stack["runs"][method][1:], strict=False):
        assert after["iterations"] > before["iterations"] and after["loss"] <= before["loss"]
    for stop in stack["runs"][method]:
        assert sum(stop["per_input"]) == pytest.approx(stop["total"], abs=0.01)
        assert stop["total"] <= stack["total"] and min(stop["per_input"]) >= 0 and max(stop["per_input"]) <= 1
        assert 0 <= stop["excess"] <= 1
        assert stop["excess"] == 0 or not stop["converged"], "at an optimum no error is beyond its limit"


def test_the_excess_is_what_lies_beyond_the_limit_at_each_input():
    """By the projector onto 𝒦, input by input; and nothing at an optimum."""
    stack = Hierarchical(1, dilations=[1, 2, 4, 8])
    problem = Problem.of(stack, PowerLaw())
    settings = experiment.SETTINGS | {"seed": 1}
    early, late = (experiment.stop(stack, problem, settings, "gauss-newton", most) for most in (3, 500))
    error, k = early.coefficients - problem.target, allocate(stack, early.params, problem).space.basis
    beyond = [x**2 - (1 - row @ row) * (error @ error) for x, row in zip(error, k, strict=True)]
    share = sum(each for each in beyond if each > 0) / (error @ error)
    assert share > 0.01
    assert experiment.look(stack, problem, early)["excess"] == pytest.approx(share, abs=1e-4)
    assert experiment.look(stack, problem, late)["excess"] == 0 and late.converged
