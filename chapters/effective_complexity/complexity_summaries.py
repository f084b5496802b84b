"""What the chapter on effective complexity reads off the stored experiment, and how live networks compare with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import softmax

from capcore.complexity import Network, curve_regions, segments, sensitivity
from chapters.effective_complexity.curve_activations import segment_pieces, uniform_tangents
from chapters.effective_complexity.stored_complexity import SETTINGS, Stored
from chapters.effective_complexity.study import PLACES, Images
from chapters.shared.intervals import geometric_interval, student_interval

Table = Mapping[str, np.ndarray]  # measure → (n_snapshots, n_seeds)
OFF = PLACES[1:]
"""The places that are compared with training images."""

ROWS = {
    "training loss (nats)": ("loss", "relu"),
    "test accuracy": ("test_accuracy", "relu"),
    "sensitivity of probabilities, training images": ("probabilities.training", "relu"),
    "sensitivity of probabilities, test images": ("probabilities.test", "relu"),
    "sensitivity of logits, test images": ("logits.test", "relu"),
    "Fisher–Rao norm (squared), model": ("fisher", "relu"),
    "Fisher–Rao norm (squared), empirical": ("empirical_fisher", "relu"),
    "linear pieces between test images, ReLU": ("pieces", "relu"),
    "linear pieces between test images, tanh": ("pieces", "tanh"),
    "curve complexity (nats), tanh": ("curve_complexity", "tanh"),
}
"""Label of the table's row → the measure and the activation."""


def place_ratios(table: Table, of: str, snapshot: int = -1) -> np.ndarray:
    """(4, 3) mean sensitivity at :data:`OFF` over that at training images: low end, mean and high end.

    Student's 95 % interval over seeds for the logarithm.
    """
    ratios = np.stack([table[f"{of}.{p}"][snapshot] / table[f"{of}.training"][snapshot] for p in OFF], axis=1)
    mean, low, high = geometric_interval(ratios)
    return np.stack([low, mean, high], axis=1)


def confidence_share(table: Table, place: str = "pixels") -> float:
    """Median over seeds of the share of the log ratio of probabilities' sensitivities that the logits' do not have."""
    full, logits = (
        table[f"log {of}.{place}"][-1] - table[f"log {of}.training"][-1] for of in ("probabilities", "logits")
    )
    return float(np.median((full - logits) / full))


def intervals(stored: Stored, name: str, activation: str = "relu") -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Labels → mean (n_snapshots,) of a measure over seeds and the half-width of its 95 % interval."""
    return {kind: student_interval(stored.along[activation][kind][name].T) for kind in stored.along[activation]}


def n_networks(stored: Stored) -> int:
    """How many networks the stored experiment trained: along training, in the factorial, and to equal loss."""
    along = sum(table["loss"].shape[1] for kinds in stored.along.values() for table in kinds.values())
    return along + stored.after.values["pieces"].size + stored.equal_loss["pieces"].size


def overview(stored: Stored) -> dict[str, list[str]]:
    """Label → at the start, after training on right labels, and on shuffled ones: means with half-widths."""
    found = {}
    for label, (name, activation) in ROWS.items():
        ranges = intervals(stored, name, activation)
        cells = [(ranges["right"], 0), (ranges["right"], -1), (ranges["shuffled"], -1)]
        found[label] = [f"{mean[k]:.3g} ± {half[k]:.1g}" for (mean, half), k in cells]
    return found


def largest_difference(live: Mapping[str, Table], stored: Stored, activation: str, seeds: Sequence[int]) -> float:
    """Largest relative difference of live measures from the stored ones of the same seeds, over all snapshots."""
    columns = [stored.settings["seeds"].index(seed) for seed in seeds]
    gaps = [
        np.abs(values / stored.along[activation][kind][name][:, columns] - 1).max()
        for kind, table in live.items()
        for name, values in table.items()
        if not name.startswith("log ")  # logarithms may be next to 0
    ]
    return float(max(gaps))


def is_stored(seeds: Sequence[int], **options: object) -> bool:
    """Whether networks of these seeds and settings are among the stored ones."""
    activation = options.pop("activation")
    return (
        set(seeds) <= set(SETTINGS["seeds"])
        and activation in SETTINGS["activations"]
        and all(SETTINGS[name] == value for name, value in options.items())
    )


def forward_sensitivity(network: Network, inputs: np.ndarray, of: str) -> np.ndarray:
    """(n,) what ``sensitivity`` gives, by forward accumulation, from the inputs up: the second route."""
    levels = network.pre_activations(inputs)
    found = np.repeat(network.weights[0][None], len(levels[0]), axis=0)  # (n, d, units)
    for z, w in zip(levels[:-1], network.weights[1:], strict=True):
        found = (found * network.phi.derivative(z)[:, None, :]) @ w
    if of == "probabilities":
        p = softmax(levels[-1], axis=1)[:, None, :]
        found = found * p - (found @ np.swapaxes(p, 1, 2)) * p
    return np.linalg.norm(found, axis=(1, 2))


def route_difference(network: Network, data: Images) -> float:
    """Largest relative difference between two routes: sensitivities backward and forward, pieces by two counters.

    The counter of curves carries formulas, the other one values; it needs a piecewise linear network.
    """
    points = data.places["pixels"][:50]
    gaps = [
        np.abs(forward_sensitivity(network, points, of) / sensitivity(network, points, of) - 1).max()
        for of in ("probabilities", "logits")
    ]
    if network.phi.piecewise_linear:
        traced = curve_regions(network, segments(data.starts, data.ends)).patterns
        gaps.append(np.abs(segment_pieces(uniform_tangents(network), data.starts, data.ends) - traced).max())
    return float(max(gaps))
