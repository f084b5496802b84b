"""The long runs of the chapter on side inputs and biases: shares of gradients at the start, and trained networks.

``python -m chapters run side_inputs`` makes it again, in about twenty minutes on one core.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from chapters.kit.witness import Witness
from chapters.scaling_conjecture_side_inputs.tasks import (
    SideTask,
    digit_task,
    divisor,
    gradient_shares,
    parity_task,
    side_scale,
)
from chapters.shared.intervals import Interval
from chapters.shared.training import train

FORMS = ("divided", "undivided", "same")
SETTINGS: dict[str, Any] = {
    "untrained": {
        "forms": list(FORMS),
        "exponents": [0, 0.25, 0.5, 0.75, 1],
        "depths": [8, 16, 32, 64, 128, 256, 512],
        "width": 64,
        "draws": 16,
    },
    "trained": {
        "depths": [8, 64, 256],
        "width": 32,
        "steps": 500,
        "optimiser": "adam",
        "rates": [0.0003, 0.001, 0.003],
        "factor": 3.1623,
        "extensions": 2,  # further rates, one at a time, while the best one is at an edge
        "seeds": [0, 1, 2],
    },
    "parity": {"divided": [0, 0.25, 0.5, 1], "undivided": [0, 0.5, 1]},
    "alone": {"depth": 8, "exponent": 0.5, "seen": ["X", "Y"]},
    "digit": {"divided random": [0, 0.5], "undivided random": [0, 0.5], "undivided zero": [0, 0.5]},
}
QUICK: dict[str, Any] = {
    "untrained": {"forms": ["divided", "same"], "exponents": [0, 1], "depths": [4], "width": 8, "draws": 2},
    "trained": {
        **SETTINGS["trained"],
        "depths": [4],
        "width": 8,
        "steps": 2,
        "rates": [0.001],
        "extensions": 0,
        "seeds": [0],
    },
    "parity": {"divided": [0.5]},
    "alone": {"depth": 4, "exponent": 0.5, "seen": ["X"]},
    "digit": {"divided random": [0], "undivided zero": [0.5]},
}
WITNESS = Witness(
    ["untrained.forms untrained.depths", "trained.depths parity", "trained.depths digit", "alone.seen"],
    fixed={"trained.depths": [8]},
    elsewhere={"": inf, "mean": 1e-3, "half": 1e-3},
    reason="Single precision; training magnifies rounding.",
)
PACKAGES = ("jax", "optax", "scikit-learn")


def untrained_shares(
    form: str, exponents: Sequence[float], n_layers: int, width: int = 64, draws: int = 16
) -> np.ndarray:
    """(exponents, draws) share of the squared gradient on X in untrained networks with γ = L^-g.

    Parameters
    ----------
    form : ``divided``, ``undivided``, or ``same``: undivided, with the same side input in every layer.
    """
    gammas = [side_scale(n_layers, g) for g in exponents]
    norms = [divisor(n_layers, gamma, form == "divided") for gamma in gammas]
    keys = jax.random.split(jax.random.key(0), draws)

    def shares(scales: tuple[jax.Array, jax.Array]) -> jax.Array:
        return jax.lax.map(lambda key: gradient_shares(key, n_layers, width, *scales, same=form == "same"), keys)

    measured = jax.jit(lambda scales: jax.lax.map(shares, scales))((jnp.array(gammas), jnp.array(norms)))
    return np.asarray(measured, dtype=float)


@dataclass(frozen=True, eq=False)
class Search:
    """One architecture at its best learning rate: the one with the lowest median final loss over the seeds.

    Attributes
    ----------
    rates : all learning rates that were tried, ascending. final : median final loss at each. best : the best rate.
    at_edge : whether the best one is still the highest or the lowest tried.
    loss, early, accuracy : final training loss, mean loss of the first 20 steps, and test accuracy, for every seed.
    before, after : share of X in the squared gradients of the logits, for every seed; empty for one input.
    """

    rates: list[float]
    final: list[float]
    best: float
    at_edge: bool
    loss: list[float]
    early: list[float]
    accuracy: list[float]
    before: list[float]
    after: list[float]


def search(task: SideTask, settings: Mapping[str, Any] = SETTINGS["trained"], label: str = "") -> Search:
    """Train at every learning rate, and further ones while the best is at an edge, and judge the best."""
    searched: dict[float, tuple[float, dict[str, list[float]]]] = {}

    def add(rates: Sequence[float]) -> None:
        runs = train(
            task.initial, task.loss, task.data, learning_rates=rates, seeds=settings["seeds"],
            n_steps=settings["steps"], optimiser=settings["optimiser"], progress=label,
        )  # fmt: skip
        for k, rate in enumerate(rates):
            ends = jax.tree.map(lambda leaf, k=k: leaf[k], runs.params)
            judged = k == runs.best
            searched[rate] = (
                float(np.median(runs.final[k])),
                {
                    "loss": runs.final[k].tolist(),
                    "early": runs.losses[k, :, :20].mean(axis=1).tolist(),
                    "accuracy": task.accuracy(ends) if judged else [],
                    "after": task.share(ends) if judged and len(task.test_inputs) > 1 else [],
                },
            )

    add(settings["rates"])
    for _ in range(settings["extensions"]):
        rates = sorted(searched)
        best = min(rates, key=lambda rate: searched[rate][0])
        if best not in (rates[0], rates[-1]):
            break
        add([float(f"{best / settings['factor'] if best == rates[0] else best * settings['factor']:.3g}")])
    rates = sorted(searched)
    best = min(rates, key=lambda rate: searched[rate][0])
    before = task.share(_starts(task, settings["seeds"])) if len(task.test_inputs) > 1 else []
    finals = [searched[rate][0] for rate in rates]
    return Search(rates, finals, best, best in (rates[0], rates[-1]), **searched[best][1], before=before)


def _starts(task: SideTask, seeds: Sequence[int]) -> Any:
    """The parameters from which ``train`` starts, each array with a first axis of seeds."""
    starts = [task.initial(jax.random.split(jax.random.key(seed))[0]) for seed in seeds]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts)


def arms(settings: Mapping[str, Any] = SETTINGS) -> Iterator[tuple[str, str, int, float, SideTask]]:
    """Task, form, depth, exponent, and the network of every trained architecture."""
    width = settings["trained"]["width"]
    for depth in settings["trained"]["depths"]:
        for form, exponents in settings["parity"].items():
            for g in exponents:
                yield "parity", form, depth, g, parity_task(depth, side_scale(depth, g), form == "divided", width=width)
        for form, exponents in settings["digit"].items():
            division, start = form.split()
            for g in exponents:
                beta = side_scale(depth, g)
                yield "digit", form, depth, g, digit_task(depth, beta, division == "divided", width=width, start=start)
    alone = settings["alone"]
    for seen in alone["seen"]:
        gamma = side_scale(alone["depth"], alone["exponent"])
        yield "parity", seen, alone["depth"], alone["exponent"], parity_task(
            alone["depth"], gamma, True, width=width, seen=seen
        )  # fmt: skip


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``untrained``: mean share and 95 % half-width (Student) of every form; ``trained``: a :class:`Search` each."""
    plan = settings["untrained"]
    cells = [(form, depth) for depth in plan["depths"] for form in plan["forms"]]
    untrained = []
    for form, depth in tqdm(cells, desc="untrained", disable=not progress):
        shares = untrained_shares(form, plan["exponents"], depth, plan["width"], plan["draws"])
        for g, (mean, half) in zip(plan["exponents"], map(Interval.of, shares), strict=True):
            untrained.append({"form": form, "exponent": g, "depth": depth, "mean": _short(mean), "half": _short(half)})
    trained = []
    for task, form, depth, g, network in tqdm(list(arms(settings)), desc="trained", disable=not progress):
        best = search(network, settings["trained"])
        trained.append(
            {"task": task, "form": form, "depth": depth, "exponent": g}
            | {name: _short(value) for name, value in vars(best).items()}
        )
    return {"untrained": untrained, "trained": trained}


def _short(value: Any) -> Any:
    """Six significant digits of floats, also inside lists; an infinite loss as ``None``."""
    if isinstance(value, list):
        return [_short(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return value
