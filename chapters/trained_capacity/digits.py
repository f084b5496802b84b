"""Networks that read digits: where their capacity is, what shuffled labels change, and where the number fails.

True and shuffled labels, at equal weight decay and at equal totals (question 2 of ``questions``); other maps of pixels
beside that of capacity (question 3); no weight decay, a stopped run, large residuals (question 4).
``python -m chapters run trained_digits`` makes it again, in about five minutes on one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.data import digits
from chapters.trained_capacity.directions import as_they_are, cosines, principal, whitened
from chapters.trained_capacity.networks import READERS, Params, random_params
from chapters.trained_capacity.optimum import Optimum, Response, Task, in_double, outputs, settle, stopped_at

SETTINGS: dict[str, Any] = {
    "n_images": 600,
    "decay": 1.0,
    "readers": ["fully connected", "convolutional"],
    "seeds": [0, 1, 2, 3, 4],
    "few": 40,
    "decays": [1.0, 1e-2, 1e-4, 1e-6],
    "stops": [0.1, 0.01, 1e-3, 1e-4],
    "noises": [0.0, 0.1, 0.3, 1.0],
    "n_shifts": 20,
}
QUICK: dict[str, Any] = {
    "n_images": 60,
    "readers": ["convolutional"],
    "seeds": [0],
    "few": 4,
    "decays": [1.0],
    "stops": [0.1],
    "noises": [0.0],
    "n_shifts": 2,
}
WITNESS = Witness(["seeds decays"], fixed={"decays": [1.0], "readers": [], "stops": [], "noises": []}, **CHAOTIC)
PACKAGES = ("jax", "scikit-learn")
GROUPS = 8  # of principal components
CLOSE = 3e-3  # relative difference of totals that count as equal


def images(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(n, 64) training images, their labels, (360, 64) test images and their labels."""
    data = digits()
    return data.x[:n].astype(float), data.y[:n], data.x_test.astype(float), data.y_test


def relabelled(labels: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """(n,) labels, a share of which are shuffled among themselves."""
    rng = np.random.default_rng([seed, 7])
    some = rng.permutation(len(labels))[: round(noise * len(labels))]
    found = labels.copy()
    found[np.sort(some)] = labels[some]
    return found


def reading(reader: str, n_images: int, decay: float, seed: int, noise: float = 0.0) -> tuple[Task, Params]:
    """What a network learns, one-hot targets, and where it starts."""
    apply, shapes = READERS[reader]
    x, labels, _, _ = images(n_images)
    targets = np.eye(10)[relabelled(labels, noise, seed)]
    return Task(apply, x, targets, decay), random_params(shapes, np.random.default_rng([seed, 8]))


def where(task: Task, optimum: Optimum) -> dict[str, Any]:
    """Totals, and capacity summed over the ten outputs: per whitened pixel, cosine mode and group of components."""
    response, plain = Response.of(task, optimum), Response.of(task, optimum, gauss_newton=True)
    pixels, modes = whitened(task.inputs), cosines()
    components = response.capacity(principal(task.inputs)).mean(axis=1)
    _, _, tests, labels = images(len(task.inputs))
    return {
        "total": response.total,
        "gauss_newton": plain.total,
        "gradient": optimum.gradient,
        "lowest": optimum.lowest,
        "accuracy": float(np.mean(outputs(task, optimum.params, tests).argmax(axis=1) == labels)),
        "error": float(np.sqrt(np.mean((outputs(task, optimum.params) - task.targets) ** 2))),
        "linear": float(response.capacity(principal(task.inputs)).sum()),
        "pixels": response.capacity(pixels).sum(axis=1).round(4).tolist(),
        "whitened modes": response.capacity(pixels @ modes).sum(axis=1).round(4).tolist(),
        "modes": response.capacity(as_they_are(task.inputs @ modes)).sum(axis=1).round(4).tolist(),
        "components": [float(each.mean().round(5)) for each in np.array_split(components, GROUPS)],
    }


def at_total(task: Task, optimum: Optimum, total: float) -> tuple[Task, Optimum]:
    """The optimum of the weight decay at which the total is as given, by secants in the logarithms."""
    tried: list[tuple[float, float]] = []
    decay = task.decay
    for _ in range(8):
        task = Task(task.apply, task.inputs, task.targets, decay)
        optimum = settle(task, optimum.params)
        found = Response.of(task, optimum).total
        if abs(found / total - 1) < CLOSE:
            break
        tried.append((np.log(decay), np.log(found)))
        slope = -0.3 if len(tried) < 2 else (tried[-1][1] - tried[-2][1]) / (tried[-1][0] - tried[-2][0])
        decay = float(np.exp(tried[-1][0] + np.clip((np.log(total) - tried[-1][1]) / slope, -1.5, 1.5)))
    return task, optimum


@in_double
def maps(task: Task, optimum: Optimum, seed: int) -> dict[str, list[float]]:
    """Four other maps of the pixels, (64,) each; the last two are what the squared error of test images gains.

    "receptive field": mean square of the derivatives of the outputs; "saliency": mean size of the derivative of the
    labelled output; "permutation": of a pixel among the test images, three times; "ablation": its mean in its place.
    """
    _, _, tests, labels = images(len(task.inputs))
    rng = np.random.default_rng([seed, 9])
    of_one = jax.jit(jax.vmap(jax.jacrev(lambda x: task.apply(optimum.params, x[None])[0])))
    slopes = np.asarray(of_one(task.inputs))
    labelled = np.take_along_axis(slopes, task.targets.argmax(axis=1)[:, None, None], axis=1)[:, 0]
    truth = np.eye(10)[labels]

    def error(x: np.ndarray) -> float:
        return float(np.mean((outputs(task, optimum.params, x) - truth) ** 2))

    permuted, ablated = np.zeros(64), np.zeros(64)
    for i in range(64):
        for _ in range(3):
            x = tests.copy()
            x[:, i] = rng.permutation(x[:, i])
            permuted[i] += (error(x) - error(tests)) / 3
        x = tests.copy()
        x[:, i] = task.inputs[:, i].mean()
        ablated[i] = error(x) - error(tests)
    found = {
        "receptive field": np.mean(slopes**2, axis=(0, 1)),
        "saliency": np.mean(np.abs(labelled), axis=0),
        "permutation": permuted,
        "ablation": ablated,
    }
    return {name: [float(f"{each:.4g}") for each in values] for name, values in found.items()}


def learnt(settings: Mapping[str, Any], reader: str, seed: int) -> dict[str, Any]:
    """True labels, shuffled ones at the same weight decay and at the same total, and the other maps."""
    options = settings["n_images"], settings["decay"], seed
    task, start = reading(reader, *options)
    optimum = settle(task, start)
    found = {"true": where(task, optimum), "maps": maps(task, optimum, seed)}
    other, start = reading(reader, *options, noise=1.0)
    end = settle(other, start)
    found["shuffled"] = where(other, end)
    equal, end = at_total(other, end, found["true"]["total"])
    found["equal"] = {**where(equal, end), "decay": equal.decay}
    return found


def failing(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Fully connected: leverages of few images, totals of stopped runs, errors of Gauss–Newton, by setting."""
    reader, n = SETTINGS["readers"][0], settings["n_images"]
    found: dict[str, Any] = {"few": {}, "stopped": {}, "Gauss-Newton": {}}
    _, start = reading(reader, settings["few"], 1.0, seed)
    for decay in settings["decays"]:  # each from the one before: from scratch the last ones reach no optimum
        task, _ = reading(reader, settings["few"], decay, seed)
        optimum = settle(task, start, 8000)
        start, leverage = optimum.params, Response.of(task, optimum).leverage
        found["few"][str(decay)] = [float(leverage.mean()), float(leverage.std()), optimum.gradient, optimum.lowest]
    task, start = reading(reader, n, settings["decay"], seed)
    for share in settings["stops"]:
        stop = stopped_at(task, start, share)
        early, end = Response.of(task, stop), Response.of(task, settle(task, stop.params))
        found["stopped"][str(share)] = [early.total, end.total, float(early.sizes[0])]
    for noise in settings["noises"]:
        task, start = reading(reader, n, settings["decay"], seed, noise)
        found["Gauss-Newton"][str(noise)] = errors(task, settle(task, start), settings["n_shifts"], seed)
    return found


def errors(task: Task, optimum: Optimum, n_shifts: int, seed: int) -> dict[str, Any]:
    """Relative errors of predicted responses: of Gauss–Newton against the Hessian, and of both against retraining."""
    whole, plain = Response.of(task, optimum), Response.of(task, optimum, gauss_newton=True)
    shifts = np.random.default_rng([seed, 10]).normal(size=(n_shifts, *task.targets.shape))
    moved = settle(task.with_targets(task.targets + 1e-4 * shifts[0]), optimum.params)
    actual = (outputs(task, moved.params) - outputs(task, optimum.params)) / 1e-4

    def off(predicted: np.ndarray, truth: np.ndarray) -> float:
        return float(np.linalg.norm(predicted - truth) / np.linalg.norm(truth))

    return {
        "between": [off(plain(shift), whole(shift)) for shift in shifts],
        "retrained": [off(whole(shifts[0]), actual), off(plain(shifts[0]), actual)],
        "error": float(np.sqrt(np.mean((outputs(task, optimum.params) - task.targets) ** 2))),
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Reader → list over seeds of :func:`learnt`, and "failing", a list over seeds."""
    places = [(reader, seed) for reader in settings["readers"] for seed in settings["seeds"]]
    found: dict[str, Any] = {reader: [] for reader in settings["readers"]}
    for reader, seed in tqdm(places, unit="network", disable=not progress):
        found[reader].append(learnt(settings, reader, seed))
    found["failing"] = [failing(settings, seed) for seed in tqdm(settings["seeds"], unit="seed", disable=not progress)]
    return found
