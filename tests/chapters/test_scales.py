"""Trained networks that come back at another scale: right, or refused, by what takes them."""

import inspect
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")

from chapters.mimicry.students import answers, scaled_logits
from chapters.shared.complexity import Network, random_network
from tests.any_scale import ORDINARY, at_all_scales, equals, right_or_refused

NETWORK = random_network([3, 6, 5, 4], np.random.default_rng(0), bias_scale=0.3)
POINTS = np.random.default_rng(1).normal(size=(20, 3))
TESTED = {"answers", "scaled_logits"}
THROUGH = {
    "against": "answers",
    "mean_regions": "curve_regions, in tests/chapters/shared/complexity/test_scales.py",
    "tangent": "parameter_rank, there",
    "rank_on_fresh": "parameter_rank, there",
    "alpha_hat": "analyse_spectra, in tests/spectra/test_scales.py",
    "accuracy": "the signs of the network's outputs, which refuses by itself",
    "search": "trains what it is given the shape of",
    "train_arm": "the same",
}
"""What else takes a network, and the function that it passes it to."""
OPTAX = (
    "scaling_conjecture*/*",
    *("mimicry/experiment", "mimicry/students"),
    *(f"capacity_vs_expressivity/{name}" for name in ("experiment", "ranks", "sets")),
)
"""Modules of networks that JAX trains; the others take theirs from ``chapters.shared.adam``."""


def takes_a_network(function):
    names = [str(each.annotation) for each in inspect.signature(function).parameters.values()]
    return any(name in ("Network", "TrainedModel", "RecurrentNetwork") for name in names)


def test_every_function_that_takes_a_network_is_here():
    found = set()
    chapters = Path(__file__).parents[2] / "chapters"
    for path in sorted(path for pattern in OPTAX for path in chapters.glob(f"{pattern}.py")):
        module = import_module(f"chapters.{path.parent.name}.{path.stem}")
        functions = inspect.getmembers(module, inspect.isfunction)
        found |= {n for n, each in functions if each.__module__ == module.__name__ and takes_a_network(each)}
    assert {name for name in found if not name.startswith("_")} == TESTED | set(THROUGH)


@at_all_scales
def test_it_is_right_at_every_scale_or_refused(k):
    """Of networks whose logits are 2^k times as large: the same answers, targets and regions."""
    scaled = Network(
        [*NETWORK.weights[:-1], np.ldexp(NETWORK.weights[-1], k)],
        [*NETWORK.biases[:-1], np.ldexp(NETWORK.biases[-1], k)],
    )
    for measure in (
        lambda net: answers(net, POINTS),
        lambda net: scaled_logits(net, POINTS),
    ):
        right_or_refused(lambda measure=measure: measure(scaled), equals(measure(NETWORK)), abs(k) <= ORDINARY)
