"""The arms of the chapter on mimicry trained once more: NumPy in place of JAX, double precision, other weights.

Images, widths, numbers of steps, learning rate and batches are those of :mod:`capcore.deep.mimicry_experiment`. Initial
weights and the examples drawn for a batch are not. Two recipes:

- "draw 0", "draw 1", …: the chapter's own, with a learning rate that falls at every step, each from its own weights;
- "ten stages": :func:`~capcore.complexity.training.train` in ten stages, each at its own learning rate, by passes over
  the images. Adam starts anew in every stage, and its first steps there are as long as the learning rate however small
  the gradient is.

The second was run first, and was meant as the second route. It was kept when it was seen to be another recipe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.network import Network, random_network
from capcore.complexity.students import answers_of, logit_targets, train_students
from capcore.complexity.training import train

TEACHER = "deep, 400 labels (teacher)"
STAGES = "ten stages"
N_STAGES = 10
N_DRAWS = 3
COMMAND = "python -m experiments.mimicry_second_route"
PACKAGES = ("numpy", "scipy", "scikit-learn")
Trainer = Callable[[str, np.ndarray, np.ndarray, list[int]], Network]
"""(size, images (n, 64), labels (n,) or logits (n, 10), what seeds weights and batches) → the trained network."""


def make_settings() -> dict[str, Any]:
    """Those of the chapter, with what this experiment adds."""
    from capcore.deep.mimicry import SETTINGS

    return {**SETTINGS, "n_draws": N_DRAWS, "n_stages": N_STAGES}


def run(settings: dict[str, Any], arms: list[str] | None = None, progress: bool = False) -> dict[str, Any]:
    """{recipe → {"arms": arm → {"accuracy": …, "agreement": …}}}, lists with one number per seed.

    Parameters
    ----------
    settings : those of the chapter, with ``n_draws`` of the weights and ``n_stages``, 0 to leave that recipe out.
    arms : of its students; by default all. The teacher, which is trained anew, is always there.
    """

    def by_steps(size: str, x: np.ndarray, targets: np.ndarray, key: list[int]) -> Network:
        return in_steps(size, x, targets, key, settings)

    def by_stages(size: str, x: np.ndarray, targets: np.ndarray, key: list[int]) -> Network:
        return in_stages(size, x, targets, key, settings)

    recipes: dict[str, tuple[Trainer, list[int]]] = {
        f"draw {k}": (by_steps, [30 + k]) for k in range(settings["n_draws"])
    }
    if settings["n_stages"]:
        recipes[STAGES] = (by_stages, [])
    return {
        name: {"arms": _arms(trainer, part, settings, arms, name if progress else None)}
        for name, (trainer, part) in recipes.items()
    }


def in_steps(size: str, x: np.ndarray, targets: np.ndarray, key: list[int], settings: dict[str, Any]) -> Network:
    """A network by the chapter's recipe, :func:`~capcore.complexity.students.train_students`."""
    rng = np.random.default_rng(key)
    options = {name: settings[name] for name in ("n_steps", "learning_rate", "batch_size")}
    return train_students([random_network(settings["widths"][size], rng)], x, targets, [rng], **options)[0]


def in_stages(size: str, x: np.ndarray, targets: np.ndarray, key: list[int], settings: dict[str, Any]) -> Network:
    """A network by passes over the images in ``n_stages`` stages, with steps rounded to whole passes."""
    rng = np.random.default_rng(key)
    network = random_network(settings["widths"][size], rng)
    n_epochs = round(settings["n_steps"] / -(-len(x) // settings["batch_size"]))
    stages = settings["n_stages"]
    for stage, epochs in enumerate(np.array_split(np.arange(n_epochs), stages)):
        rate = settings["learning_rate"] * (1 - stage / stages)
        loss = "cross_entropy" if targets.ndim == 1 else "squared"
        (network,) = train([network], x, targets, [rng], loss, rate, len(epochs), settings["batch_size"]).final
    return network


def _arms(
    trainer: Trainer, part: list[int], settings: dict[str, Any], arms: list[str] | None, bar: str | None
) -> dict[str, dict[str, list[float]]]:
    from capcore.deep.mimicry import draw_images
    from capcore.deep.mimicry_experiment import STUDENTS

    names = list(STUDENTS) if arms is None else arms
    found: dict[str, dict[str, list[float]]] = {name: {"accuracy": [], "agreement": []} for name in [TEACHER, *names]}
    for seed in tqdm(settings["seeds"], desc=bar, unit="seed", disable=bar is None):
        images = draw_images(seed, settings)
        teacher = trainer("deep", images.labelled, images.y, [seed, 20, *part])
        said = answers_of(teacher, images.test)
        for name in found:
            answers = said
            if name != TEACHER:
                size, where, told = STUDENTS[name]
                x = getattr(images, where)
                labels = images.y if where == "labelled" else images.y_pool
                targets = labels if told == "labels" else _told(teacher, x, told)
                key = [seed, 21, list(STUDENTS).index(name), *part]
                answers = answers_of(trainer(size, x, targets, key), images.test)
            found[name]["accuracy"].append(float(np.mean(answers == images.y_test)))
            found[name]["agreement"].append(float(np.mean(answers == said)))
    return found


def _told(teacher: Network, x: np.ndarray, told: str) -> np.ndarray:
    return answers_of(teacher, x) if told == "hard" else logit_targets(teacher, x)
