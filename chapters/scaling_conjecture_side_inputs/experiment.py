"""The long runs of the chapter on side inputs and biases: shares of gradients at the start, and trained networks.

``python -m chapters run side_inputs`` makes it again, in about twenty minutes on one core.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import Witness
from chapters.scaling_conjecture.experiment import at_edge, search, starts
from chapters.scaling_conjecture.tasks import residual_scale
from chapters.scaling_conjecture_side_inputs import tasks
from chapters.shared.intervals import Interval
from chapters.shared.training import train

SETTINGS: dict[str, Any] = {
    "untrained": {
        "forms": ["divided", "undivided", "same"],
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


def untrained_shares(form: str, exponents: Sequence[float], n_layers: int, width: int, draws: int) -> np.ndarray:
    """(exponents, draws) share of the squared gradient on X in untrained networks with γ = L^-g.

    Parameters
    ----------
    form : ``divided``, ``undivided``, or ``same``: undivided, with the same side input in every layer.
    """
    gammas = [residual_scale(n_layers, g) for g in exponents]
    norms = [tasks.divisor(n_layers, gamma, form == "divided") for gamma in gammas]
    keys = jax.random.split(jax.random.key(0), draws)

    def shares(scales: tuple[jax.Array, jax.Array]) -> jax.Array:
        return jax.lax.map(lambda key: tasks.gradient_shares(key, n_layers, width, *scales, same=form == "same"), keys)

    measured = jax.jit(lambda scales: jax.lax.map(shares, scales))((jnp.array(gammas), jnp.array(norms)))
    return np.asarray(measured, dtype=float)


def search_rates(task: tasks.SideTask, settings: Mapping[str, Any] = SETTINGS["trained"]) -> dict[str, Any]:
    """Train at every learning rate, and further ones while the best is at an edge, and judge the best; plain types.

    Returns
    -------
    ``rates`` that were tried, ascending. ``final``: median final loss at each. ``best``: the rate with the lowest.
    ``at_edge``: whether that is still the highest or the lowest tried. For every seed at the best rate ``loss``
    and ``accuracy``: final training loss and test accuracy; ``before`` and ``after``: share of X in the squared
    gradients of the logits, empty for one input.
    """
    seeds = settings["seeds"]
    options = {"seeds": seeds, "n_steps": settings["steps"], "optimiser": settings["optimiser"]}
    run = partial(train, task.initial, task.loss, task.data, **options)
    runs = search(run, settings["rates"], settings["extensions"], settings["factor"])
    trained = jax.tree.map(lambda leaf: leaf[runs.best], runs.params)
    pairs = len(task.test_inputs) > 1
    values = {
        "rates": runs.learning_rates,
        "final": np.median(runs.final, axis=1),
        "best": runs.learning_rates[runs.best],
        "at_edge": at_edge(runs),
        "loss": runs.final[runs.best],
        "accuracy": task.accuracy(trained),
        "before": task.share(starts(task.initial, seeds)) if pairs else [],
        "after": task.share(trained) if pairs else [],
    }
    return dict(plain(values))


def arms(settings: Mapping[str, Any] = SETTINGS) -> Iterator[tuple[str, str, int, float, tasks.SideTask]]:
    """Task, form, depth, exponent, and the network of every trained architecture."""
    width = settings["trained"]["width"]
    for depth in settings["trained"]["depths"]:
        for form, exponents in settings["parity"].items():
            for g in exponents:
                task = tasks.parity_task(depth, residual_scale(depth, g), form == "divided", width=width)
                yield "parity", form, depth, g, task
        for form, exponents in settings["digit"].items():
            division, start = form.split()
            for g in exponents:
                beta = residual_scale(depth, g)
                task = tasks.digit_task(depth, beta, division == "divided", width=width, start=start)
                yield "digit", form, depth, g, task
    alone = settings["alone"]
    for seen in alone["seen"]:
        gamma = residual_scale(alone["depth"], alone["exponent"])
        task = tasks.parity_task(alone["depth"], gamma, True, width=width, seen=seen)
        yield "parity", seen, alone["depth"], alone["exponent"], task


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``untrained``: mean share and 95 % half-width (Student) of forms; ``trained``: :func:`search_rates` of each."""
    plan = settings["untrained"]
    cells = [(form, depth) for depth in plan["depths"] for form in plan["forms"]]
    untrained = []
    for form, depth in tqdm(cells, desc="untrained", disable=not progress):
        shares = untrained_shares(form, plan["exponents"], depth, plan["width"], plan["draws"])
        for g, (mean, half) in zip(plan["exponents"], map(Interval.of, shares), strict=True):
            untrained.append({"form": form, "exponent": g, "depth": depth, "mean": plain(mean), "half": plain(half)})
    trained = []
    for task, form, depth, g, network in tqdm(list(arms(settings)), desc="trained", disable=not progress):
        judged = search_rates(network, settings["trained"])
        trained.append({"task": task, "form": form, "depth": depth, "exponent": g, **judged})
    return {"untrained": untrained, "trained": trained}
