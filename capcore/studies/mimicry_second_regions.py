"""Random labels and linear regions of the chapter on mimicry once more, by its second route.

Networks are trained by :func:`~capcore.studies.mimicry_second_route.in_steps`, the chapter's recipe in NumPy, from the
draws of weights of :mod:`capcore.studies.mimicry_second_route`: its teachers are made again here, for their regions.
As in the chapter, a network that learns random labels starts from the weights of the teacher with the same split, and
its students start from the weights of the true-label teacher's students of the same kind.

Regions are counted twice, by two programs with no code in common but that of
:class:`~capcore.complexity.network.Network`: layer by layer, :func:`~capcore.complexity.regions.curve_regions`, and
along the segment, :func:`~capcore.studies.region_walk.walk_regions`. The chapter's own networks are trained again for
that, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.curves import segments
from capcore.complexity.network import Network, random_network
from capcore.complexity.regions import curve_regions
from capcore.complexity.students import answers_of, logit_targets
from capcore.studies import mimicry_second_route as route
from capcore.studies.region_walk import walk_regions

if TYPE_CHECKING:
    from capcore.deep.mimicry import Images

FIRST = "JAX"
ARMS = ("small, logits on the pool", "shallow, logits on the pool")
"""Students of a teacher that has learnt random labels."""
COMMAND = "python -m experiments.mimicry_second_regions"
PACKAGES = ("numpy", "scipy", "jax", "optax", "scikit-learn")


def make_settings() -> dict[str, Any]:
    """Those of the chapter, with what this experiment adds."""
    from capcore.deep.mimicry import SETTINGS

    return {**SETTINGS, "n_draws": route.N_DRAWS, "first_route": True}


def run(settings: dict[str, Any], progress: bool = False) -> dict[str, Any]:
    """What was found by each draw of weights, "draw 0", "draw 1", …, and of the chapter's own networks, "JAX".

    Each has "regions": network → mean per seed, as the chapter stores them, layer by layer; "walked": the same along
    the segments; "otherwise": on how many segments the two differ, in patterns or in linear regions. The draws have
    "teacher accuracy" (seeds,) and "random labels", as the chapter stores them.

    Parameters
    ----------
    settings : those of the chapter, with ``n_draws`` of the weights and ``first_route``, whether its networks are
        trained again, for which JAX is needed.
    """
    found = {f"draw {k}": _draw(30 + k, settings, progress) for k in range(settings["n_draws"])}
    return found | ({FIRST: _first_route(settings)} if settings["first_route"] else {})


def _draw(part: int, settings: dict[str, Any], progress: bool) -> dict[str, Any]:
    """By one draw of weights; ``part`` belongs to its key."""
    from capcore.deep.mimicry import draw_images
    from capcore.deep.mimicry_experiment import STUDENTS, random_labels

    accuracy: list[float] = []
    learnt: list[float] = []
    copied: dict[str, list[float]] = {arm: [] for arm in ARMS}
    networks: dict[str, list[Network]] = {"initial": [], "true labels": [], "random labels": []}
    images = [draw_images(seed, settings) for seed in settings["seeds"]]
    bar = tqdm(settings["seeds"], desc=f"weights {part}", unit="seed", disable=not progress)
    for seed, each in zip(bar, images, strict=True):
        key, noise = [seed, 20, part], random_labels(each, seed)
        teacher = route.in_steps("deep", each.labelled, each.y, key, settings)
        memoriser = route.in_steps("deep", each.labelled, noise, key, settings)
        accuracy.append(float(np.mean(answers_of(teacher, each.test) == each.y_test)))
        learnt.append(float(np.mean(answers_of(memoriser, each.labelled) == noise)))
        said, targets = answers_of(memoriser, each.test), logit_targets(memoriser, each.pool)
        for arm in ARMS:
            student_key = [seed, 21, list(STUDENTS).index(arm), part]
            student = route.in_steps(STUDENTS[arm][0], each.pool, targets, student_key, settings)
            copied[arm].append(float(np.mean(answers_of(student, each.test) == said)))
        start = random_network(settings["widths"]["deep"], np.random.default_rng(key))
        for kind, network in zip(networks, (start, teacher, memoriser), strict=True):
            networks[kind].append(network)
    labels = {"training accuracy": learnt, "student agreement": copied}
    return {"teacher accuracy": accuracy, "random labels": labels, **_counted(networks, images, settings)}


def _first_route(settings: dict[str, Any]) -> dict[str, Any]:
    """The chapter's own networks, trained again by its own program."""
    from capcore.deep.mimicry import cross_entropy, draw_images, fit_networks, initial_networks
    from capcore.deep.mimicry_experiment import random_labels

    images = [draw_images(seed, settings) for seed in settings["seeds"]]
    inputs = [each.labelled for each in images]
    noise = [random_labels(each, seed) for each, seed in zip(images, settings["seeds"], strict=True)]
    networks = {
        "initial": initial_networks("deep", settings),
        "true labels": fit_networks("deep", cross_entropy, inputs, [each.y for each in images], settings),
        "random labels": fit_networks("deep", cross_entropy, inputs, noise, settings),
    }
    return _counted(networks, images, settings)


def _counted(networks: dict[str, list[Network]], images: list[Images], settings: dict[str, Any]) -> dict[str, Any]:
    """Regions of networks, one of every kind per seed, on the chapter's segments, by both counts."""
    from capcore.deep.mimicry import end_points

    found: dict[str, Any] = {name: {kind: [] for kind in networks} for name in ("regions", "walked", "otherwise")}
    for j, (seed, each) in enumerate(zip(settings["seeds"], images, strict=True)):
        ends = end_points(each, settings["n_segments"], seed)
        for kind in networks:
            by_layers = curve_regions(networks[kind][j], segments(*ends))
            patterns, linear = walk_regions(networks[kind][j], *ends)
            differ = (by_layers.patterns != patterns) | (by_layers.linear != linear)
            found["regions"][kind].append(float(by_layers.linear.mean()))
            found["walked"][kind].append(float(linear.mean()))
            found["otherwise"][kind].append(int(differ.sum()))
    return found
