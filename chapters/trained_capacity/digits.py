"""Networks that read digits: whether capacity says which pixels matter, and where the number fails.

Other maps of pixels beside that of capacity (question 2 of ``questions``); no weight decay, large residuals
(question 3). ``python -m chapters run trained_digits`` makes it again, in about three minutes on one core.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.data import digits
from chapters.trained_capacity.directions import whitened
from chapters.trained_capacity.networks import READERS, Params, random_params
from chapters.trained_capacity.optimum import Response, Task, input_slopes, outputs, settle

SETTINGS: dict[str, Any] = {
    "n_images": 600,
    "decay": 1.0,
    "readers": ["fully connected", "convolutional"],
    "seeds": [0, 1, 2, 3, 4],
    "few": 40,
    "decays": [1.0, 1e-2, 1e-4, 1e-6],
    "n_shifts": 20,
}
QUICK: dict[str, Any] = {
    "n_images": 60,
    "readers": ["convolutional"],
    "seeds": [0],
    "few": 4,
    "decays": [1.0],
    "n_shifts": 2,
}
WITNESS = Witness(["seeds decays"], fixed={"decays": [1.0], "readers": []}, **CHAOTIC)
PACKAGES = ("jax", "scikit-learn")


def reading(reader: str, n_images: int, decay: float, seed: int) -> tuple[Task, Params]:
    """What a network learns, one-hot targets, and where it starts."""
    (apply, shapes), data = READERS[reader], digits()
    task = Task(apply, data.x[:n_images].astype(float), np.eye(10)[data.y[:n_images]], decay)
    return task, random_params(shapes, np.random.default_rng([seed, 8]))


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


def failing(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Fully connected: leverages of few images by weight decay, and errors of Gauss–Newton."""
    reader, n = SETTINGS["readers"][0], settings["n_images"]
    found: dict[str, Any] = {"few": {}}
    _, start = reading(reader, settings["few"], 1.0, seed)
    for decay in settings["decays"]:  # each from the one before: from scratch the last ones reach no optimum
        task, _ = reading(reader, settings["few"], decay, seed)
        start = settle(task, start, 8000).params
        leverage = Response(task, start).leverage
        found["few"][str(decay)] = [float(leverage.mean()), float(leverage.std())]
    task, start = reading(reader, n, settings["decay"], seed)
    return {**found, "Gauss-Newton": errors(task, settle(task, start).params, settings["n_shifts"], seed)}


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
    """Reader → list over seeds of capacity per pixel and other maps, and "failing", a list over seeds."""
    places = [(reader, seed) for reader in settings["readers"] for seed in settings["seeds"]]
    found: dict[str, Any] = {reader: [] for reader in settings["readers"]}
    for reader, seed in tqdm(places, unit="network", disable=not progress):
        task, start = reading(reader, settings["n_images"], settings["decay"], seed)
        end = settle(task, start).params
        pixels = Response(task, end).capacity(whitened(task.inputs)).sum(axis=1)
        found[reader].append({"pixels": pixels.round(4).tolist(), "maps": maps(task, end, seed)})
    found["failing"] = [failing(settings, seed) for seed in tqdm(settings["seeds"], unit="seed", disable=not progress)]
    return found
