"""Orders of dilations, exact capacities, runs in stages, and the stored runs."""

from itertools import product

import numpy as np
import pytest

from capcore import AR1, PowerLaw, Problem
from capcore.architectures.generic import exact_rank
from chapters.dilated_blocks import figures as draw
from chapters.dilated_blocks import study as study
from chapters.dilated_blocks.experiment import dilated_models, dilation_orders, exact_capacities, follow, run
from chapters.kit.stored import stored
from chapters.sweeps.engine import sweep


def test_published_exact_capacities():
    """336 tiled and 256 repeated at four channels; 25 for both at one, where scalars commute."""
    models = dilated_models(4, 8, 3)
    assert exact_rank(models["tiled"]) == 336 and exact_rank(models["repeated"]) == 256
    assert exact_capacities([1], 8, 3) == {"tiled": [25], "repeated": [25]}


@pytest.mark.parametrize(("n_dilations", "n_blocks"), [(2, 2), (3, 2), (3, 3), (4, 2)])
def test_a_stack_and_its_mirror_image_have_the_same_capacity(n_dilations, n_blocks):
    for models in (dilated_models(channels, n_dilations, n_blocks) for channels in (1, 2, 3)):
        assert exact_rank(models["tiled"]) == exact_rank(models["reversed"])


@pytest.mark.parametrize("method", ["gauss-newton", "l-bfgs-b"])
def test_a_run_goes_down_and_is_described_at_every_stage(method):
    arch = dilated_models(2, 3, 2)["repeated"]
    course = follow(arch, PowerLaw(), 1, [5, 10, 40], method)
    assert course["loss"][0] >= course["loss"][1] >= course["loss"][2]
    assert set(course["total"]) == {arch.generic_capacity()}
    assert all(
        0 <= near <= 1 and 0 <= far <= 1 - near + 1e-12 for near, far in zip(course["near"], course["far"], strict=True)
    )
    assert len(course["reach"]) == 3 and len(course["params"]) == arch.n_params


def test_the_stored_parameters_give_the_stored_loss_and_are_regular():
    content = stored("dilated_blocks")
    models = dilated_models(4, 8, 3)
    for order, case in content["values"]["paper"]["PowerLaw"].items():
        params, problem = np.array(case["params"]), Problem.of(models[order], PowerLaw())
        loss = problem.loss(models[order].coefficients(params))
        assert loss == pytest.approx(study.best_run(case)["loss"][-1], rel=1e-3)
        assert exact_rank(models[order], params=params) == models[order].generic_capacity()


def test_live_cases_have_the_stored_form_and_are_summarised():
    models = dilated_models(2, 3, 2)
    cases = study.live_cases(models, PowerLaw(), 2, [5, 10], [5])
    case = stored("dilated_blocks")["values"]["small"]["PowerLaw"]["tiled"]
    assert set(cases["tiled"]) == set(case) and set(cases["tiled"]["runs"][0]) == set(case["runs"][0])
    best = study.best_run(cases["tiled"])
    assert best["loss"][-1] == min(run["loss"][-1] for run in cases["tiled"]["runs"])
    assert study.shares(cases)["near"] == best["near"][-1]


@pytest.mark.ci
def test_the_sweep_gives_what_this_process_gives():
    model = {"channels": 2, "n_dilations": 2, "n_blocks": 2}
    chosen = {**model, "seeds": {"PowerLaw": [0, 1], "AR1": [0]}, "stages": [2, 4], "lbfgs_stages": [2]}
    values = run({"small": chosen}, sweep, workers=2)["small"]
    for (order, made), process in product(dilated_models(**model).items(), (PowerLaw(), AR1())):
        if order == "reversed":
            continue
        case = values[type(process).__name__][order]
        here = [follow(made, process, seed, [2, 4]) for seed in chosen["seeds"][type(process).__name__]]
        assert all(run.items() <= course.items() for run, course in zip(case["runs"], here, strict=True))
        if isinstance(process, PowerLaw):
            assert case["params"] == min(here, key=lambda course: course["loss"][-1])["params"]
            assert case["l-bfgs-b"].items() <= follow(made, process, 0, [2], "l-bfgs-b").items()


@pytest.mark.parametrize("order", ["tiled", "repeated"])
def test_a_stack_has_an_edge_for_every_tap_and_reaches_all_inputs(ax, order):
    dilations = dilation_orders(3, 2)[order]
    draw.plot_stack(dilations, ax)
    assert [text.get_text() for text in ax.texts] == [str(step) for step in reversed(dilations)]
    for lines, step in zip(ax.collections, reversed(dilations), strict=True):
        assert {abs(end[0] - start[0]) for start, end in lines.get_segments()} == {0, step}
    assert ax.get_lines()[-2].get_xdata().tolist() == list(range(15))
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"
