"""Orders of dilations, exact capacities, runs in stages, and the stored runs against a reduced run now."""

from itertools import product

import numpy as np
import pytest

from capcore import AR1, PowerLaw, Problem
from capcore.architectures.generic import exact_rank
from chapters.dilated_blocks import study as stored_dilated
from chapters.dilated_blocks.experiment import (
    dilated_models,
    dilation_orders,
    exact_capacities,
    far_third,
    follow,
    near_third,
    run,
)
from chapters.kit.stored import stored
from chapters.sweeps.engine import sweep


def test_all_orders_have_the_same_layers():
    orders = dilation_orders(8, 3)
    assert {tuple(sorted(d)) for d in orders.values()} == {tuple(sorted(orders["tiled"]))}
    models = dilated_models(4, 8, 3)
    assert {(arch.n_inputs, arch.n_params) for arch in models.values()} == {(766, 720)}


def test_published_exact_capacities():
    """336 tiled and 256 repeated at four channels; 25 for both at one, where scalars commute."""
    models = dilated_models(4, 8, 3)
    assert exact_rank(models["tiled"]) == 336 and exact_rank(models["repeated"]) == 256
    assert exact_capacities([1], 8, 3) == {"tiled": [25], "repeated": [25]}


@pytest.mark.parametrize(("n_dilations", "n_blocks"), [(2, 2), (3, 2), (3, 3), (4, 2)])
def test_a_stack_and_its_mirror_image_have_the_same_capacity(n_dilations, n_blocks):
    found = exact_capacities([1, 2, 3], n_dilations, n_blocks, ["tiled", "reversed"])
    assert found["tiled"] == found["reversed"]


def test_one_block_is_tiled_and_repeated_at_once():
    found = exact_capacities([1, 2], 4, 1)
    assert found["tiled"] == found["repeated"]


@pytest.mark.parametrize("n", [1, 2, 3, 22, 766])
def test_thirds_have_one_size_and_are_the_two_ends(n):
    lags = np.arange(n)
    assert lags[near_third(n)].size == lags[far_third(n)].size == max(1, n // 3)
    assert lags[near_third(n)][0] == 0 and lags[far_third(n)][-1] == n - 1


@pytest.mark.parametrize("method", ["gauss-newton", "l-bfgs-b"])
def test_a_run_goes_down_and_is_described_at_every_stage(method):
    arch = dilated_models(2, 3, 2)["repeated"]
    course = follow(arch, PowerLaw(), 1, [5, 10, 40], method)
    assert course.loss[0] >= course.loss[1] >= course.loss[2]
    assert set(course.total) == {arch.generic_capacity()}
    assert all(
        0 <= near <= 1 and 0 <= far <= 1 - near + 1e-12 for near, far in zip(course.near, course.far, strict=True)
    )
    assert len(course.reach) == 3 and course.params.shape == (arch.n_params,)


def test_stages_must_increase():
    with pytest.raises(ValueError, match="stages"):
        follow(dilated_models(1, 2, 2)["tiled"], PowerLaw(), 0, [5, 5])
    for bad in (0, 1.5, "8"):
        with pytest.raises(ValueError, match="n_dilations: found"):
            dilation_orders(bad, 3)


def test_the_stored_parameters_give_the_stored_loss_and_are_regular():
    content = stored("dilated_blocks")
    models = dilated_models(4, 8, 3)
    for order, case in content["values"]["paper"]["PowerLaw"].items():
        params, problem = np.array(case["params"]), Problem.of(models[order], PowerLaw())
        loss = problem.loss(models[order].coefficients(params))
        assert loss == pytest.approx(stored_dilated.best_run(case)["loss"][-1], rel=1e-3)
        assert exact_rank(models[order], params=params) == models[order].generic_capacity()


def test_the_stored_runs_are_shown_for_their_own_models_only():
    content = stored("dilated_blocks")
    assert stored_dilated.is_stored(content, "paper", dilated_models(4, 8, 3), PowerLaw())
    assert not stored_dilated.is_stored(content, "paper", dilated_models(3, 8, 3), PowerLaw())
    assert not stored_dilated.is_stored(content, "paper", dilated_models(4, 8, 3), PowerLaw(0.7))
    assert stored_dilated.is_stored(content, "small", dilated_models(2, 5, 3), PowerLaw())


def test_live_cases_have_the_stored_form_and_are_summarised():
    models = dilated_models(2, 3, 2)
    cases = stored_dilated.live_cases(models, PowerLaw(), 2, [5, 10], [5])
    case = stored("dilated_blocks")["values"]["small"]["PowerLaw"]["tiled"]
    assert set(cases["tiled"]) == set(case) and set(cases["tiled"]["runs"][0]) == set(case["runs"][0])
    best = stored_dilated.best_run(cases["tiled"])
    assert best["loss"][-1] == min(run["loss"][-1] for run in cases["tiled"]["runs"])
    assert stored_dilated.shares(cases)["near"] == best["near"][-1]


def test_both_statements_must_hold():
    rows = {"a": (0.5, 0.01), "b": (0.49, 0.2), "c": (0.9, 0.0)}
    assert stored_dilated.holding({name: {"near": near, "far": far} for name, (near, far) in rows.items()}) == 1


@pytest.mark.ci
def test_the_sweep_gives_what_this_process_gives():
    model = {"channels": 2, "n_dilations": 2, "n_blocks": 2}
    chosen = {**model, "seeds": {"PowerLaw": [0, 1], "AR1": [0]}, "stages": [2, 4], "lbfgs_stages": [2]}
    found = run({"small": chosen}, sweep, workers=2)["small"]
    for (order, made), process in product(dilated_models(**model).items(), (PowerLaw(), AR1())):
        if order == "reversed":
            continue
        case = found[type(process).__name__][order]
        here = [follow(made, process, seed, [2, 4]) for seed in chosen["seeds"][type(process).__name__]]
        assert case["runs"] == [course.plain() for course in here]
        if isinstance(process, PowerLaw):
            assert case["params"] == min(here, key=lambda course: course.loss[-1]).params.tolist()
            assert case["l-bfgs-b"] == follow(made, process, 0, [2], "l-bfgs-b").plain()
