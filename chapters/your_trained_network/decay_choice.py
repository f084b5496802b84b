"""Does leave-one-out from one factorisation choose weight decay, width and stopping time as well as cross-validation?

Networks of three architectures are trained on eight real data sets, by Adam and by AdamW, at seven weight decays and
three widths, on all training examples and on those of each of five folds. Estimates see the training examples; what
they choose is judged on the tests. :mod:`~chapters.your_trained_network.questions` says what was asked, before the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.networks.losses import losses_of
from chapters.kit.witness import CHAOTIC, Witness
from chapters.your_trained_network.estimates import estimates
from chapters.your_trained_network.real_data import N_FOLDS, Split
from chapters.your_trained_network.small_networks import EPS, WIDTHS, Recipe, Shape, Trained, jacobian, outputs, train

SETTINGS: dict[str, Any] = {
    "cells": [
        *[
            [name, name, kind]
            for name in ("diabetes", "elevation", "volume", "EEG", "wine", "breast cancer", "iris", "digits")
            for kind in ("MLP tanh", "MLP ReLU")
        ],
        ["volume", "volume", "convolution"],
        ["EEG", "EEG", "convolution"],
        ["digits", "patches of digits", "image convolution"],
    ],
    "n_splits": 20,
    "decays": {"Adam": [0.01, 0.04, 0.15, 0.5, 2.0, 8.0, 30.0], "AdamW": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]},
    "steps": 600,
    "batch": 32,
    "rate": 0.01,
    "checkpoints": [20, 40, 80, 150, 300, 600],
}
QUICK: dict[str, Any] = {
    "cells": [["iris", "iris", "MLP tanh"], ["EEG", "EEG", "convolution"]],
    "n_splits": 2,
    "steps": 40,
}
WITNESS = Witness(
    ["cells"],
    fixed={
        "cells": [[data, data, kind] for data in ("diabetes", "iris") for kind in ("MLP tanh", "MLP ReLU")],
        "n_splits": 1,
    },
    **CHAOTIC,
)
PACKAGES = ("jax", "scikit-learn", "matplotlib")
OPTIMISERS = ("Adam", "AdamW")
TASKS = ("decay", "width", "both", "stop")
"""What is chosen: a decay at each width, a width at each decay, one of all networks, a step at the weakest decay."""


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``cells``: for each cell and optimiser, its names, and :func:`judged` of every split."""
    cells = []
    for name, data, kind in tqdm(settings["cells"], unit="cell", disable=not progress):
        of_splits = [compared(Split(data, number), kind, settings, number) for number in range(settings["n_splits"])]
        for optimiser in OPTIMISERS:
            rows = [judged(each[optimiser], baseline) for each, baseline in of_splits]
            by_split = {key: [row[key] for row in rows] for key in rows[0]}
            cells.append({"data": name, "network": kind, "optimiser": optimiser, **by_split})
    return {"cells": cells}


def compared(data: Split, kind: str, settings: Mapping[str, Any], seed: int) -> tuple[dict[str, Any], float]:
    """Optimiser → what is known of its networks; and the loss of the best constant on the tests.

    ``networks``: name → (3, 7) array by width and decay, of estimates and of "tests", the losses on the tests.
    ``stop``: the same by checkpoint, of the weakest decay at the second width.
    """
    found: dict[str, Any] = {each: {"networks": []} for each in OPTIMISERS}
    for number, width in enumerate(WIDTHS[kind]):
        shape = Shape(kind, width, data.x.shape[1:], data.y.shape[1])
        trained = trained_side_by_side(data, shape, settings, np.random.default_rng([seed, number]))
        for optimiser, own in trained.items():
            decays = settings["decays"][optimiser]
            found[optimiser]["networks"].append(looked_at(data, shape, own, optimiser, decays))
            if number == 1:
                path = [
                    seen(data, shape, params, decay_of(optimiser, decays[0], squares, len(data.x)))
                    for params, squares in zip(own.path, own.path_squares[:, 0], strict=True)
                ]
                found[optimiser]["stop"] = columns(path)
    for each in found.values():
        each["networks"] = columns(each["networks"])
    return found, data.baseline


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Name → what the rows have, one below another."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def trained_side_by_side(
    data: Split, shape: Shape, settings: Mapping[str, Any], rng: np.random.Generator
) -> dict[str, Trained]:
    """Optimiser → networks (6, 7, p): of all examples and five folds left out, by decay; the path of the weakest."""
    n, m = len(data.x), len(settings["decays"]["Adam"])
    left_in = np.array([np.ones(n, bool), *(data.folds != fold for fold in range(N_FOLDS))])
    adam, adamw = (np.array(settings["decays"][each]) for each in OPTIMISERS)
    coupled = np.tile(np.concatenate([adam / n, np.zeros(m)]), N_FOLDS + 1)
    decoupled = np.tile(np.concatenate([np.zeros(m), adamw]), N_FOLDS + 1)
    recipe = Recipe(settings["steps"], settings["batch"], settings["rate"])
    kept = tuple(min(each, recipe.steps) for each in settings["checkpoints"])
    found = train(
        shape, data.loss, recipe, shape.start(rng), data.x, data.y, np.repeat(left_in, 2 * m, axis=0),
        coupled, decoupled, rng, tuple(range(0, coupled.size, m)), kept,
    )  # fmt: skip
    ends, paths = (N_FOLDS + 1, 2, m, -1), (len(kept), N_FOLDS + 1, 2, -1)
    by_optimiser = [
        *(each.reshape(ends).swapaxes(0, 1) for each in (found.params, found.squares)),
        *(np.moveaxis(each.reshape(paths), 2, 0) for each in (found.path, found.path_squares)),
    ]
    return {name: Trained(*each) for name, *each in zip(OPTIMISERS, *by_optimiser, strict=True)}


def decay_of(optimiser: str, value: float, squares: np.ndarray, n: int) -> np.ndarray:
    """(p,) weight decay beside the sum of losses: λ, or of AdamW's fixed point ∇ℓ = −N·w(√v + ε)θ."""
    return n * value * (np.sqrt(squares) + EPS) if optimiser == "AdamW" else np.full(squares.size, value)


def held_out(data: Split, shape: Shape, of_folds: np.ndarray) -> tuple[float, float]:
    """Mean losses of the examples of the first fold, and of all folds, by the networks (5, p) trained without them."""
    losses = np.empty(len(data.x))
    for fold, w in enumerate(of_folds):
        part = data.folds == fold
        losses[part] = losses_of(outputs(shape, w[None], data.x)[0][part], data.y[part], data.loss)
    return float(losses[data.folds == 0].mean()), float(losses.mean())


def seen(data: Split, shape: Shape, of_folds: np.ndarray, decay: np.ndarray) -> dict[str, float]:
    """Estimates of a network with its decay, and its mean loss on the "tests"; of_folds : (6, p), itself first."""
    w, at = of_folds[0], outputs(shape, of_folds[:1], data.x)[0]
    holdout, cv = held_out(data, shape, of_folds[1:])
    tests = losses_of(outputs(shape, of_folds[:1], data.x_test)[0], data.y_test, data.loss).mean()
    found = estimates(jacobian(shape, w, data.x), at, data.y, decay, w, data.loss)
    return {**found, "holdout": holdout, "cv": cv, "tests": float(tests)}


def looked_at(
    data: Split, shape: Shape, trained: Trained, optimiser: str, decays: Sequence[float]
) -> dict[str, np.ndarray]:
    """Name → (7,) what is :func:`seen` of the networks of an optimiser by decay."""
    own = [decay_of(optimiser, *each, len(data.x)) for each in zip(decays, trained.squares[0], strict=True)]
    return columns([seen(data, shape, trained.params[:, i], decay) for i, decay in enumerate(own)])


def judged(found: Mapping[str, Any], baseline: float) -> dict[str, Any]:
    """What the choices of each estimate cost on the tests, as a share of the loss of the best constant.

    Tasks of ``TASKS`` → name → regret: the loss of what is chosen, less that of the best. "random" is a choice by lot.
    ``optimism``: the mean of test less training loss over all networks, "tests", and what leave-one-out says it is.
    """
    networks, stop = (
        {name: each for name, each in found[kind].items() if name not in ("total", "tests")}
        for kind in ("networks", "stop")
    )
    in_a_row = {name: each.reshape(1, -1) for name, each in networks.items()}
    tests, stop_tests, train = found["networks"]["tests"], found["stop"]["tests"], networks["train"]
    optimism = {"tests": tests - train, "alo": networks["alo"] - train}
    return {
        "decay": regrets(networks, tests, 1, baseline),
        "width": regrets(networks, tests, 0, baseline),
        "both": regrets(in_a_row, tests.reshape(1, -1), 1, baseline),
        "stop": regrets({name: each[None] for name, each in stop.items()}, stop_tests[None], 1, baseline),
        "optimism": {name: _short(each.mean() / baseline) for name, each in optimism.items()},
    }


def regrets(values: Mapping[str, np.ndarray], tests: np.ndarray, axis: int, baseline: float) -> dict[str, float]:
    """Name → mean regret of what an estimate chooses along an axis of (a, b) arrays.

    >>> regrets({"one": np.array([[3.0, 1.0], [0.0, 1.0]])}, np.array([[1.0, 2.0], [1.0, 3.0]]), 1, 2.0)
    {'one': 0.25, 'random': 0.375}
    """
    best = tests.min(axis=axis)
    found = {}
    for name, each in values.items():
        chosen = np.expand_dims(each.argmin(axis=axis), axis)
        found[name] = _short((np.take_along_axis(tests, chosen, axis).squeeze(axis) - best).mean() / baseline)
    return {**found, "random": _short((tests.mean(axis=axis) - best).mean() / baseline)}


def _short(value: float) -> float:
    return round(float(value), 5)
