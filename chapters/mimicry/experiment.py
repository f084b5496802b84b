"""A shallow student and its deep teacher, with the controls: the stored experiment on mimicry.

Ba and Caruana (2014) regress a shallow network on the logits of a deep one. What helps the student may be the logits,
the unlabelled images it sees beside them, or neither: every arm here changes one of these.
``python -m chapters run mimicry`` makes it again, in about four minutes on one core.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.mimicry.students import answers, scaled_logits
from chapters.shared.complexity import Network, as_network, curve_regions, segments
from chapters.shared.side_by_side import as_pairs, draw_layers, through_layers, train_side_by_side

STUDENTS = {
    "shallow, 400 labels": ("shallow", "labelled", "labels"),
    "shallow, logits on the 400": ("shallow", "labelled", "logits"),
    "shallow, logits on the pool": ("shallow", "pool", "logits"),
    "shallow, hard labels on the pool": ("shallow", "pool", "hard"),
    "shallow, true labels on the pool": ("shallow", "pool", "labels"),
    "deep, logits on the pool": ("deep", "pool", "logits"),
    "deep, true labels on the pool": ("deep", "pool", "labels"),
    "small, logits on the pool": ("small", "pool", "logits"),
}
"""Arm → size of the network, images it is trained on, and what it is told of them."""
SETTINGS: dict[str, Any] = {
    "n_labelled": 400,
    "n_unlabelled": 800,
    "widths": {"deep": [64, 48, 48, 48, 48, 10], "shallow": [64, 142, 10], "small": [64, 35, 10]},
    "noise": 0.1,
    "copies": 2,
    "learning_rate": 0.002,
    "n_steps": 3000,
    "batch_size": 128,
    "n_segments": 100,
    "seeds": [0, 1, 2, 3, 4, 5],
    "arms": list(STUDENTS),
}
QUICK: dict[str, Any] = {
    "n_labelled": 40,
    "n_unlabelled": 40,
    "widths": {"deep": [64, 8, 8, 10], "shallow": [64, 12, 10], "small": [64, 4, 10]},
    "n_steps": 2,
    "n_segments": 2,
    "seeds": [0],
}
WITNESS = Witness(["arms"], **CHAOTIC)
PACKAGES = ("jax", "optax", "scikit-learn")
STUDENT_START = 100
"""Students start at their own weights: a deep one that started where its teacher did would copy it for that alone."""


class Images:
    """A split of the 1,797 digits that belongs to ``seed``, pixels of mean 0 and variance 1 over all images.

    Attributes
    ----------
    labelled : (n, 64), their labels ``y`` (n,). test : (m, 64), their labels ``y_test`` (m,).
    pool : (p, 64) the labelled and the unlabelled images, shifted and noisy copies of them, and interpolations.
    y_pool : (p,) the true labels of the pool; an interpolation has that of the nearer image.
    """

    def __init__(self, seed: int, settings: Mapping[str, Any] = SETTINGS) -> None:
        rng = np.random.default_rng([seed, 10])
        x, y = load_digits(return_X_y=True)
        x = (x - x.mean()) / x.std()
        order = rng.permutation(len(x))
        n, m = settings["n_labelled"], settings["n_labelled"] + settings["n_unlabelled"]
        seen, labels, copies = x[order[:m]], y[order[:m]], settings["copies"]
        noisy = [shifted(seen, rng) + settings["noise"] * rng.normal(size=seen.shape) for _ in range(copies)]
        partner, weight = rng.permutation(m), rng.uniform(size=(m, 1))
        between = weight * seen + (1 - weight) * seen[partner]
        nearer = np.where(weight[:, 0] > 0.5, labels, labels[partner])
        self.labelled, self.y, self.test, self.y_test = seen[:n], labels[:n], x[order[m:]], y[order[m:]]
        self.pool = np.concatenate([seen, *noisy, between])
        self.y_pool = np.concatenate([*[labels] * (1 + copies), nearer])


def shifted(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Images (n, 64), each moved by −1, 0 or 1 pixel in both directions; the border is repeated.

    >>> shifted(np.ones((2, 64)), np.random.default_rng(0)).shape
    (2, 64)
    """
    padded = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)), mode="edge")
    down, right = rng.integers(0, 3, (2, len(images), 1, 1))
    rows, columns = np.arange(8)[None, :, None] + down, np.arange(8)[None, None, :] + right
    return padded[np.arange(len(images))[:, None, None], rows, columns].reshape(len(images), 64)


def cross_entropy(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Mean over images, in nats; y holds labels."""
    logits = through_layers(params, x, jax.nn.relu)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def squared_error(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Half the mean squared error of the logits; y holds those of the teacher, as :func:`scaled_logits` gives them."""
    return 0.5 * jnp.square(through_layers(params, x, jax.nn.relu) - y).mean()


def fit_networks(
    size: str,
    loss: Callable[[Any, jax.Array, jax.Array], jax.Array],
    inputs: list[np.ndarray],
    targets: list[np.ndarray],
    settings: Mapping[str, Any] = SETTINGS,
    start: int = 0,
) -> list[Network]:
    """One ReLU network per seed, widths as ``size`` names, on that seed's inputs (n, 64) and targets (n, …).

    ``start`` is added to the seeds of initial weights and batches: networks of one size with other starts.
    """
    integer = np.issubdtype(targets[0].dtype, np.integer)
    params = train_side_by_side(
        lambda key: draw_layers(key, settings["widths"][size], 2**0.5),
        loss,
        np.stack(inputs).astype(np.float32),
        np.stack(targets).astype(np.int32 if integer else np.float32),
        learning_rates=[settings["learning_rate"]],
        seeds=[start + seed for seed in settings["seeds"]],
        **{key: settings[key] for key in ("n_steps", "batch_size")},
    )
    return [as_network(as_pairs(params, 0, s)) for s in range(len(settings["seeds"]))]


def initial_networks(size: str, settings: Mapping[str, Any] = SETTINGS) -> list[Network]:
    """The networks that :func:`fit_networks` starts teachers from, one per seed."""
    keys = [jax.random.split(jax.random.key(seed))[0] for seed in settings["seeds"]]
    return [as_network(as_pairs(draw_layers(key, settings["widths"][size], 2**0.5))) for key in keys]


def train_student(
    arm: str, teachers: list[Network], images: list[Images], settings: Mapping[str, Any] = SETTINGS
) -> list[Network]:
    """One network per seed for an arm of :data:`STUDENTS`."""
    size, where, lesson = STUDENTS[arm]
    inputs = [getattr(one, where) for one in images]
    targets = [one.y if where == "labelled" else one.y_pool for one in images]
    if lesson != "labels":
        teach = answers if lesson == "hard" else scaled_logits
        targets = [teach(teacher, x) for teacher, x in zip(teachers, inputs, strict=True)]
    loss = squared_error if lesson == "logits" else cross_entropy
    return fit_networks(size, loss, inputs, targets, settings, STUDENT_START)


def against(network: Network, teacher: Network, images: Images) -> dict[str, float]:
    """Accuracy on the test images, and the share of them on which the network gives the teacher's answer."""
    said, taught = answers(network, images.test), answers(teacher, images.test)
    return {"accuracy": float(np.mean(said == images.y_test)), "agreement": float(np.mean(said == taught))}


def mean_regions(network: Network, images: Images, seed: int, settings: Mapping[str, Any]) -> float:
    """Mean number of linear regions on segments between labelled images of different digits, counted exactly."""
    n = settings["n_segments"]
    pairs = np.random.default_rng([seed, 11]).integers(0, len(images.y), (50 * n, 2))
    first, second = pairs[images.y[pairs[:, 0]] != images.y[pairs[:, 1]]][:n].T
    ends = segments(images.labelled[first], images.labelled[second])
    return float(curve_regions(network, ends).linear.mean())


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Lists with one number per seed: {"arms": arm → measure → …, "random labels": …, "regions": network → …}."""
    seeds = settings["seeds"]
    images = [Images(seed, settings) for seed in seeds]
    labelled = [image.labelled for image in images]
    noise = [np.random.default_rng([seed, 12]).integers(0, 10, settings["n_labelled"]) for seed in seeds]
    teachers = fit_networks("deep", cross_entropy, labelled, [image.y for image in images], settings)
    memorisers = fit_networks("deep", cross_entropy, labelled, noise, settings)
    table: dict[str, Any] = {"arms": {"deep, 400 labels (teacher)": _each(teachers, teachers, images)}}
    for arm in tqdm(settings["arms"], unit="arm", disable=not progress):
        table["arms"][arm] = _each(train_student(arm, teachers, images, settings), teachers, images)
    memorised = zip(memorisers, labelled, noise, strict=True)
    table["random labels"] = {
        "training accuracy": [float(np.mean(answers(net, x) == y)) for net, x, y in memorised],
        "student agreement": {
            arm: _each(train_student(arm, memorisers, images, settings), memorisers, images)["agreement"]
            for arm in ("small, logits on the pool", "shallow, logits on the pool")
            if arm in settings["arms"]
        },
    }
    kinds = {"initial": initial_networks("deep", settings), "true labels": teachers, "random labels": memorisers}
    table["regions"] = {
        kind: [mean_regions(net, image, seed, settings) for net, image, seed in zip(nets, images, seeds, strict=True)]
        for kind, nets in kinds.items()
    }
    return table


def _each(networks: list[Network], teachers: list[Network], images: list[Images]) -> dict[str, list[float]]:
    rows = [against(*one) for one in zip(networks, teachers, images, strict=True)]
    return {key: [row[key] for row in rows] for key in rows[0]}
