"""What the chapter on training and every measure reads off the stored experiment: ratios, verdicts, tables.

The rules are those of ``study``, written down before the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from capcore.intervals import student_interval
from chapters.shared.geometric_intervals import geometric_interval

Table = Mapping[str, np.ndarray]  # measure → (n_snapshots, n_seeds)
Kinds = Mapping[str, Table]  # "right" and "shuffled" → their tables

RELU = {
    "rank": "rank on training images",
    "participation": "participation ratio",
    "boundary.ball": "boundary density, ball of all images",
    "boundary.near": "boundary density, near test images",
    "pieces": "linear pieces between images",
    "patterns": "activation patterns between images",
    "transitions": "switches on a circle",
    "length": "length of a circle's image",
    "logits": "slope of the logits",
    "probabilities": "slope of the probabilities",
    "fisher": "Fisher–Rao norm, squared",
    "unevenness": "unevenness of the leverage",
}
"""Measures of ReLU networks and their labels, in the order of tables and figures."""

TANH = {name: RELU[name] for name in ("rank", "participation")} | {
    "curve": "curve complexity (nats)",
    **{name: RELU[name] for name in ("logits", "probabilities", "fisher")},
}
"""The same for tanh networks, which have no boundaries."""

Interval = tuple[float, float, float]  # geometric mean and both ends


def training_ratio(kinds: Kinds, name: str, kind: str) -> np.ndarray:
    """(n_seeds,) a measure at the last snapshot over that at the first."""
    values = kinds[kind][name]
    return values[-1] / values[0]


def labels_ratio(kinds: Kinds, name: str, at: int = -1) -> np.ndarray:
    """(n_seeds,) a measure after shuffled labels over that after right ones, at a snapshot, seed by seed."""
    return kinds["shuffled"][name][at] / kinds["right"][name][at]


def equal_loss_ratio(kinds: Kinds, name: str) -> np.ndarray:
    """(n_seeds,) the same with right labels at the loss at which the shuffled ones ended.

    The logarithm of the measure is interpolated between snapshots in the logarithm of the loss.

    Raises ``ValueError`` where a loss is beyond those of the right labels, or rises from one snapshot to the next.
    """
    right, wrong = kinds["right"], kinds["shuffled"]
    found = np.empty(wrong["loss"].shape[1])
    for j, target in enumerate(np.log(wrong["loss"][-1])):
        losses = np.log(right["loss"][:, j])
        if np.any(np.diff(losses) >= 0) or not losses[-1] <= target <= losses[0]:
            raise ValueError(
                f"loss: found {np.exp(target):.3g} of seed {j}, expected one that falling losses of the right labels "
                "pass. Train with right labels for longer, or take fewer snapshots."
            )
        found[j] = np.interp(target, losses[::-1], np.log(right[name][::-1, j]))
    return wrong[name][-1] / np.exp(found)


def interval(samples: np.ndarray) -> Interval:
    """Geometric mean and 95 % interval of ratios (n_seeds,)."""
    mean, low, high = geometric_interval(samples)
    return float(mean), float(low), float(high)


def verdict(found: Interval) -> str:
    """Either "up" or "down" where the interval excludes 1 by more than rounding, and otherwise "level".

    >>> verdict((2.0, 1.5, 3.0)), verdict((1.0, 1.0 + 1e-15, 1.0 + 1e-15))
    ('up', 'level')
    """
    return "up" if found[1] > 1 + 1e-9 else "down" if found[2] < 1 - 1e-9 else "level"


def ratios(kinds: Kinds, names: Sequence[str]) -> dict[str, dict[str, Interval]]:
    """What is compared → measure → interval; "equal loss" only of measures that every snapshot has."""
    n = len(kinds["right"]["loss"])
    return {
        "right": {name: interval(training_ratio(kinds, name, "right")) for name in names},
        "shuffled": {name: interval(training_ratio(kinds, name, "shuffled")) for name in names},
        "labels": {name: interval(labels_ratio(kinds, name)) for name in names},
        "equal loss": {
            name: interval(equal_loss_ratio(kinds, name)) for name in names if len(kinds["right"][name]) == n
        },
    }


def over_seeds(table: Table, name: str, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """(n_snapshots,) means of a measure times ``scale``, and the half-widths of their 95 % intervals."""
    return student_interval(scale * table[name].T)


def overview(kinds: Kinds, labels: Mapping[str, str]) -> dict[str, list[str]]:
    """Label of a measure → at the start, after right and after shuffled labels: means with half-widths."""
    found = {}
    for name, label in labels.items():
        right, wrong = (over_seeds(kinds[kind], name) for kind in ("right", "shuffled"))
        cells = [(right[0][0], right[1][0]), (right[0][-1], right[1][-1]), (wrong[0][-1], wrong[1][-1])]
        found[label] = [_with_error(*cell) for cell in cells]
    return found


def _with_error(mean: float, half: float) -> str:
    """Text such as "12.3 ± 0.4": one digit of the half-width, two after a leading 1, and the mean to that place.

    >>> _with_error(1234.5, 14.2), _with_error(0.04567, 0.0032), _with_error(3.0, 0.0)
    ('1,234 ± 14', '0.046 ± 0.003', '3')
    """
    if half < 1e-9 * max(abs(mean), 1e-300):
        return f"{mean:,.4g}"
    place = int(np.floor(np.log10(half)))
    digits = max(0, (1 if half / 10.0**place < 2 else 0) - place)
    return f"{mean:,.{digits}f} ± {half:,.{digits}f}"


def early_difference(live: Kinds, stored: Kinds, columns: Sequence[int], names: Sequence[str], n: int = 4) -> float:
    """Largest relative difference of live measures from the stored ones of the same seeds at the first ``n`` snapshots.

    Of measures that both have there. Later ones say less, since training magnifies rounding.
    """
    gaps = [
        np.abs(values[:n] / stored[kind][name][:n, columns] - 1).max()
        for kind, table in live.items()
        for name, values in table.items()
        if name in names and len(values) >= n
    ]
    return float(max(gaps))


def short_of(stored: Mapping[str, Kinds], ceiling: str, activation: str, where: str = "") -> np.ndarray:
    """(n_ranks,) by how much measured ranks stay below a ceiling; the start counts once for both kinds of labels.

    Parameters
    ----------
    ceiling : "bound", "ceiling" or "limit". where : "test " for the ranks at test images.
    """
    tables = stored[activation].values()
    gaps = [table[where + ceiling] - table[f"{where}rank"] for table in tables]
    return np.concatenate([gap[min(i, 1) :].ravel() for i, gap in enumerate(gaps)])


def text(found: Interval) -> str:
    """Text such as "1.23 [1.10, 1.40]": a ratio with its interval, three digits or two decimals, whole from 100 on.

    >>> text((12.345, 9.87, 150.2)), text((0.0034, 0.003, 0.004)), text((0.552, 0.49, 1.618))
    ('12.3 [9.87, 150]', '0.00340 [0.00300, 0.00400]', '0.55 [0.49, 1.62]')
    """
    mean, low, high = (_short(value) for value in found)
    return f"{mean} [{low}, {high}]"


def _short(value: float) -> str:
    return f"{value:.2f}" if 0.1 <= value < 9.995 else f"{value:#.3g}" if value < 100 else f"{value:,.0f}"
