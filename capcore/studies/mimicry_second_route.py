"""The arms of the chapter on mimicry trained once more: NumPy in place of JAX, double precision, other weights.

Same images, widths, numbers of steps, learning rate and batches as :mod:`capcore.deep.mimicry_experiment`. Other than
there: initial weights and the order of the batches, which are drawn by passes over the images and not with
replacement; and a learning rate that falls in ten stages and not at every step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.network import Network, random_network
from capcore.complexity.students import answers_of, logit_targets, train_students

TEACHER = "deep, 400 labels (teacher)"
N_STAGES = 10
MODULES = (
    "capcore.complexity.activations",
    "capcore.complexity.gradients",
    "capcore.complexity.network",
    "capcore.complexity.students",
    "capcore.complexity.training",
    "capcore.deep.mimicry",
    "capcore.deep.mimicry_experiment",
    "capcore.studies.mimicry_second_route",
)
COMMAND = "python -m experiments.mimicry_second_route"
PACKAGES = ("numpy", "scipy", "scikit-learn")


def run(settings: dict[str, Any], arms: list[str] | None = None, progress: bool = False) -> dict[str, Any]:
    """{"arms": arm → {"accuracy": …, "agreement": …}}, lists with one number per seed.

    Parameters
    ----------
    settings : those of the chapter, with ``n_stages``. arms : of its students; by default all. The teacher, which is
        trained anew, is always there.
    """
    from capcore.deep.mimicry import draw_images
    from capcore.deep.mimicry_experiment import STUDENTS

    names = list(STUDENTS) if arms is None else arms
    found: dict[str, dict[str, list[float]]] = {name: {"accuracy": [], "agreement": []} for name in [TEACHER, *names]}
    for seed in tqdm(settings["seeds"], unit="seed", disable=not progress):
        images = draw_images(seed, settings)
        teacher = _trained("deep", images.labelled, images.y, [seed, 20], settings)
        said = answers_of(teacher, images.test)
        for name in found:
            answers = said
            if name != TEACHER:
                size, where, told = STUDENTS[name]
                x = getattr(images, where)
                labels = images.y if where == "labelled" else images.y_pool
                targets = labels if told == "labels" else _told(teacher, x, told)
                key = [seed, 21, list(STUDENTS).index(name)]
                answers = answers_of(_trained(size, x, targets, key, settings), images.test)
            found[name]["accuracy"].append(float(np.mean(answers == images.y_test)))
            found[name]["agreement"].append(float(np.mean(answers == said)))
    return {"arms": found}


def _told(teacher: Network, x: np.ndarray, told: str) -> np.ndarray:
    return answers_of(teacher, x) if told == "hard" else logit_targets(teacher, x)


def _trained(size: str, x: np.ndarray, targets: np.ndarray, key: list[int], settings: dict[str, Any]) -> Network:
    rng = np.random.default_rng(key)
    options = {name: settings[name] for name in ("n_steps", "n_stages", "learning_rate", "batch_size")}
    return train_students([random_network(settings["widths"][size], rng)], x, targets, [rng], **options)[0]
