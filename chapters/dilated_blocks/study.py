"""The stored runs of the chapter on dilated blocks: which are shown, and the same made anew for other models."""

from collections.abc import Mapping
from typing import Any

from capcore import Hierarchical, PowerLaw, Process
from chapters.dilated_blocks.experiment import COURSE, ORDERS, dilated_models, follow

Cases = Mapping[str, Mapping[str, Any]]
"""Order → ``runs`` (each as ``follow`` gives it), ``params`` of the best of them,
``l-bfgs-b`` (another) and its ``stop_params``."""


def live_cases(
    models: Mapping[str, Hierarchical], process: Process, n_starts: int, stages: list[int], lbfgs_stages: list[int]
) -> dict[str, dict[str, Any]]:
    """What the stored experiment holds for one process, made now: order → runs, best parameters, L-BFGS-B.

    Start i has seed i, so that fewer starts are the first of more.
    """
    cases = {}
    for order in ORDERS:
        runs = [follow(models[order], process, seed, stages) for seed in range(n_starts)]
        stop = follow(models[order], process, 0, lbfgs_stages, "l-bfgs-b")
        params = min(runs, key=lambda run: run["loss"][-1])["params"]
        plain = [{name: run[name] for name in COURSE} for run in (*runs, stop)]
        cases[order] = {"runs": plain[:-1], "params": params, "l-bfgs-b": plain[-1], "stop_params": stop["params"]}
    return cases


def is_stored(content: Mapping[str, Any], size: str, models: Mapping[str, Hierarchical], process: Process) -> bool:
    """Whether the stored experiment has these models and this process under ``size``, "paper" or "small"."""
    chosen = content["settings"][size]
    made = dilated_models(chosen["channels"], chosen["n_dilations"], chosen["n_blocks"])
    same = [
        (made[order].dilations, made[order].kernel_shapes) == (models[order].dilations, models[order].kernel_shapes)
        for order in ORDERS
    ]
    return process == PowerLaw() and all(same)


def best_run(case: Mapping[str, Any]) -> dict[str, Any]:
    """The run with the lowest last loss."""
    return min(case["runs"], key=lambda run: run["loss"][-1])


def shares(cases: Cases) -> dict[str, float]:
    """Shares of κ at the best run: ``near`` of the tiled model, and ``far`` of the repeated minus the tiled one.

    These are the two numbers that claim P1.40 makes statements about.
    """
    tiled, repeated = best_run(cases["tiled"]), best_run(cases["repeated"])
    return {"near": tiled["near"][-1], "far": repeated["far"][-1] - tiled["far"][-1]}


def family_shares(content: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Family → :func:`shares` of the stored runs of the paper's size."""
    return {family: shares(cases) for family, cases in content["values"]["paper"].items()}


def holding(shares: Mapping[str, Mapping[str, float]]) -> int:
    """Number of families for which both statements of claim P1.40 about shares hold."""
    return sum(share["near"] >= 0.5 and share["far"] >= 0.01 for share in shares.values())
