"""Networks that read digits: where their capacity is, what shuffled labels change, and where the number fails.

True and shuffled labels, at equal weight decay and at equal totals (question 2 of ``questions``); other maps of pixels
beside that of capacity (question 3); no weight decay, a stopped run, large residuals (question 4).
``python -m chapters run trained_digits`` makes it again, in about five minutes on one core.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.data import digits
from chapters.trained_capacity.directions import principal, whitened
from chapters.trained_capacity.networks import READERS, Params, random_params
from chapters.trained_capacity.optimum import Response, Task, input_slopes, outputs, settle, stopped_at

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


def relabelled(labels: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """(n,) labels, a share of which are shuffled among themselves."""
    rng = np.random.default_rng([seed, 7])
    some = rng.permutation(len(labels))[: round(noise * len(labels))]
    found = labels.copy()
    found[np.sort(some)] = labels[some]
    return found


def reading(reader: str, n_images: int, decay: float, seed: int, noise: float = 0.0) -> tuple[Task, Params]:
    """What a network learns, one-hot targets, and where it starts."""
    (apply, shapes), data = READERS[reader], digits()
    targets = np.eye(10)[relabelled(data.y[:n_images], noise, seed)]
    task = Task(apply, data.x[:n_images].astype(float), targets, decay)
    return task, random_params(shapes, np.random.default_rng([seed, 8]))


def where(task: Task, params: Params) -> dict[str, Any]:
    """Total, and capacity of linear functions, of each whitened pixel, and on average of each group of components."""
    response = Response(task, params)
    components = response.capacity(principal(task.inputs))
    return {
        "total": response.total,
        "linear": float(components.sum()),
        "pixels": response.capacity(whitened(task.inputs)).sum(axis=1).round(4).tolist(),
        "components": [float(each.mean().round(5)) for each in np.array_split(components.mean(axis=1), GROUPS)],
    }


def at_total(task: Task, params: Params, total: float) -> tuple[Task, Params]:
    """The optimum of the weight decay at which the total is as given, by secants in the logarithms."""
    tried: list[tuple[float, float]] = []
    decay = task.decay
    for _ in range(8):
        task = replace(task, decay=decay)
        params = settle(task, params).params
        found = Response(task, params).total
        if abs(found / total - 1) < CLOSE:
            break
        tried.append((np.log(decay), np.log(found)))
        slope = -0.3 if len(tried) < 2 else (tried[-1][1] - tried[-2][1]) / (tried[-1][0] - tried[-2][0])
        decay = float(np.exp(tried[-1][0] + np.clip((np.log(total) - tried[-1][1]) / slope, -1.5, 1.5)))
    return task, params


def maps(task: Task, params: Params, seed: int) -> dict[str, list[float]]:
    """Four other maps of the pixels, (64,) each; the last two are what the squared error of test images gains.

    "receptive field": mean square of the derivatives of the outputs; "saliency": mean size of the derivative of the
    labelled output; "permutation": of a pixel among the test images, three times; "ablation": its mean in its place.
    """
    rng, data, slopes = np.random.default_rng([seed, 9]), digits(), input_slopes(task, params)
    labelled = np.take_along_axis(slopes, task.targets.argmax(axis=1)[:, None, None], axis=1)[:, 0]
    tests, truth = data.x_test.astype(float), np.eye(10)[data.y_test]

    def gained(pixel: int, values: Any) -> float:
        x = tests.copy()
        x[:, pixel] = values
        after, before = (np.mean((outputs(task, params, each) - truth) ** 2) for each in (x, tests))
        return float(after - before)

    found = {
        "receptive field": np.mean(slopes**2, axis=(0, 1)),
        "saliency": np.mean(np.abs(labelled), axis=0),
        "permutation": [sum(gained(i, rng.permutation(tests[:, i])) / 3 for _ in range(3)) for i in range(64)],
        "ablation": [gained(i, task.inputs[:, i].mean()) for i in range(64)],
    }
    return {name: [float(f"{each:.4g}") for each in values] for name, values in found.items()}


def learnt(settings: Mapping[str, Any], reader: str, seed: int) -> dict[str, Any]:
    """True labels, shuffled ones at the same weight decay and at the same total, and the other maps."""
    options = settings["n_images"], settings["decay"], seed
    task, start = reading(reader, *options)
    end = settle(task, start).params
    found = {"true": where(task, end), "maps": maps(task, end, seed)}
    other, start = reading(reader, *options, noise=1.0)
    end = settle(other, start).params
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
        start = settle(task, start, 8000).params
        leverage = Response(task, start).leverage
        found["few"][str(decay)] = [float(leverage.mean()), float(leverage.std())]
    task, start = reading(reader, n, settings["decay"], seed)
    for share in settings["stops"]:
        stop = stopped_at(task, start, share).params
        early, end = Response(task, stop), Response(task, settle(task, stop).params)
        found["stopped"][str(share)] = [early.total, end.total, float(early.sizes[0])]
    for noise in settings["noises"]:
        task, start = reading(reader, n, settings["decay"], seed, noise)
        found["Gauss-Newton"][str(noise)] = errors(task, settle(task, start).params, settings["n_shifts"], seed)
    return found


def errors(task: Task, params: Params, n_shifts: int, seed: int) -> dict[str, Any]:
    """Relative errors of predicted responses: of Gauss–Newton against the Hessian, and of both against retraining."""
    whole, plain = Response(task, params), Response(task, params, gauss_newton=True)
    shifts = np.random.default_rng([seed, 10]).normal(size=(n_shifts, *task.targets.shape))
    moved = settle(replace(task, targets=task.targets + 1e-4 * shifts[0]), params)
    actual = (outputs(task, moved.params) - outputs(task, params)) / 1e-4

    def off(predicted: np.ndarray, truth: np.ndarray) -> float:
        return float(np.linalg.norm(predicted - truth) / np.linalg.norm(truth))

    return {
        "between": [off(plain(shift), whole(shift)) for shift in shifts],
        "retrained": [off(whole(shifts[0]), actual), off(plain(shifts[0]), actual)],
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Reader → list over seeds of :func:`learnt`, and "failing", a list over seeds."""
    places = [(reader, seed) for reader in settings["readers"] for seed in settings["seeds"]]
    found: dict[str, Any] = {reader: [] for reader in settings["readers"]}
    for reader, seed in tqdm(places, unit="network", disable=not progress):
        found[reader].append(learnt(settings, reader, seed))
    found["failing"] = [failing(settings, seed) for seed in tqdm(settings["seeds"], unit="seed", disable=not progress)]
    return found
