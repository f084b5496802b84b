"""What goes with test accuracy among the stored networks: metrics of their weights, within families and at fixed norms.

A family is an architecture. Correlations are Spearman's within each family, and then the mean over families, with
intervals that resample the networks of each family. The resamples are the same for all columns of a table, so that a
difference between two metrics has an interval too. Without resamples ``chapters.shared.family_correlations`` gives the
same means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from chapters.shared.rank_statistics import partial_spearman
from chapters.spectra.experiment import Training
from chapters.spectra_accuracy.study import at_fixed, averages
from chapters.spectra_training.experiment import trainings

NORMS = ("log_frobenius", "log_spectral")
LABELS = {
    "alpha_hat_undivided": "α̂",
    "alpha": "α",
    "log_frobenius": r"log $\|W\|_F^2$",
    "log_spectral": r"log $\lambda_\mathrm{max}$",
    "shuffled_alpha_hat_undivided": "α̂, shuffled weights",
    "train": "training accuracy",
    "alpha_hat": "α̂ with 1/N",
}
"""Metrics of a network, means over its layers, and training accuracy as a baseline."""
Interval = tuple[float, float, float]
HALVES = {"without": "without weight decay", "with": "with weight decay"}


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number with its resamples: ``value``, ``draws`` (B,)."""

    value: float
    draws: np.ndarray

    @property
    def low(self) -> float:
        """Lower end of the 95 % percentile interval."""
        return float(np.percentile(self.draws, 2.5))

    @property
    def high(self) -> float:
        """Upper end."""
        return float(np.percentile(self.draws, 97.5))

    @property
    def ends(self) -> Interval:
        """The number with both ends."""
        return self.value, self.low, self.high

    def __sub__(self, other: Self) -> Self:
        """The difference of two estimates from the same resamples."""
        return type(self)(self.value - other.value, self.draws - other.draws)

    def __abs__(self) -> Self:
        """The size of the number, and of each resample's."""
        return type(self)(abs(self.value), np.abs(self.draws))

    def __str__(self) -> str:
        """The number with its interval, two decimals."""
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]".replace("-", "−")


def lesser(first: Estimate, second: Estimate) -> Estimate:
    """The smaller of two numbers, also in every resample."""
    return Estimate(min(first.value, second.value), np.minimum(first.draws, second.draws))


def within(
    table: pd.DataFrame,
    metric: str,
    outcome: str = "test",
    *,
    given: Sequence[str] = (),
    by: Sequence[str] = ("family",),
    n_resamples: int = 2_000,
    seed: int = 0,
) -> Estimate:
    """Mean over groups of the rank correlation of a metric with an outcome, at fixed ``given`` columns.

    The rows of a group are resampled with replacement, in the same way for the same table, groups and seed. Resamples
    in which a column is constant count as zero. ``by`` : columns whose values make the groups.

    >>> table = pd.DataFrame({"family": list("aaabbb"), "test": [1, 2, 3, 1, 2, 3], "alpha": [3, 2, 1, 3, 2, 1]})
    >>> round(within(table, "alpha", n_resamples=10).value, 6)
    -1.0
    """
    rng, groups = np.random.default_rng(seed), []
    for _, group in table.groupby(list(by), sort=True):
        values = group[[metric, outcome, *given]].to_numpy(float).T
        chosen = rng.integers(len(group), size=(n_resamples, len(group)))
        first, second, *fixed = values[:, np.vstack([np.arange(len(group)), chosen])]
        groups.append(partial_spearman(first, second, fixed))
    mean = np.mean(groups, axis=0)
    return Estimate(float(mean[0]), mean[1:])


def network_table(content: Mapping[str, Any]) -> pd.DataFrame:
    """One row per stored network: its training, accuracies and metrics, which are means over its layers.

    content : ``stored("trained_spectra")``. ``alpha_hat`` is the mean of α log₁₀ λ_max with eigenvalues of WᵀW/N;
    ``alpha_hat_undivided`` that of WᵀW; names that begin with ``shuffled`` are of shuffled weights.
    """
    return pd.DataFrame(map(_row, trainings(content["settings"]), pd.DataFrame(content["values"]).to_dict("records")))


def _row(training: Training, values: Mapping[str, Any]) -> dict[str, Any]:
    layer = {name: np.array(column) for name, column in values.items() if name not in ("train", "test")}
    log_n = np.log10([max(64, training.width), *[training.width] * (training.depth - 1)])
    metrics = {
        **{name.replace("null", "shuffled"): column for name, column in layer.items()},
        "alpha_hat": layer["alpha"] * layer["log_spectral"],
        "alpha_hat_undivided": layer["alpha"] * (layer["log_spectral"] + log_n),
        "shuffled_alpha_hat_undivided": layer["null_alpha_hat"] + layer["null_alpha"] * log_n,
    }
    return {
        "family": f"{training.depth} × {training.width}",
        "half": "with" if training.decay else "without",
        **{name: getattr(training, name) for name in ("rate", "noise")},
        **{name: values[name] for name in ("train", "test")},
        **{name: float(each.mean()) for name, each in metrics.items()},
    }


def halves(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The networks trained without and with weight decay."""
    return {name: table[table["half"] == name] for name in HALVES}


def metric_estimates(table: pd.DataFrame, **options: Any) -> dict[str, dict[str, Estimate]]:
    """Half → metric of ``LABELS`` → its correlation within families.

    ``options`` as for ``within``.
    """
    parts = halves(table)
    return {half: {name: within(part, name, **options) for name in LABELS} for half, part in parts.items()}


def controlled(table: pd.DataFrame, metric: str = "alpha_hat", **options: Any) -> dict[str, dict[str, Estimate]]:
    """What is held fixed → half → correlation of a metric with test accuracy; also that of shuffled weights."""
    parts = halves(table)
    fixed: dict[str, dict[str, Any]] = {
        "same architecture": {},
        "norms fixed": {"given": NORMS},
        "labels fixed": {"by": ("family", "noise")},
        "labels and rate fixed": {"by": ("family", "noise", "rate")},
    }
    rows = {label: (metric, choice) for label, choice in fixed.items()} | {
        "shuffled weights": (f"shuffled_{metric}", {})
    }
    return {
        label: {half: within(part, name, **choice, **options) for half, part in parts.items()}
        for label, (name, choice) in rows.items()
    }


SUMMARY = {
    "α̂": ("alpha_weighted", "alpha_hat_undivided"),
    "α": ("alpha", "alpha"),
    "norm": ("lognorm", "log_frobenius"),
    "α̂ of shuffled weights": (None, "shuffled_alpha_hat_undivided"),
    "number of parameters": ("params", None),
}
"""What may go with the error → its column in the published table, and among the networks trained here; None: none."""


Rows = dict[str, tuple[Interval | None, Interval | None]]


def published_sources(values: dict[str, Any]) -> Rows:
    """What goes with the error in published families: alone, and at a fixed number of parameters.

    For that number itself α̂ is fixed. ``values`` : of ``stored("published_metrics")``.
    """
    rows: Rows = {}
    for label, (column, _) in SUMMARY.items():
        rows[label] = None, None
        if column:
            base = "alpha_weighted" if column == "params" else "params"
            (alone,), (fixed,) = averages(values, [column]), at_fixed(values, [column], base)
            rows[label] = (alone.rho, alone.low, alone.high), (fixed.rho, fixed.low, fixed.high)
    return rows


def own_sources(table: pd.DataFrame, **options: Any) -> Rows:
    """The same for the stored networks, within architectures with and without weight decay; fixed are both norms."""
    rows: Rows = {}
    wrong, same = table.assign(error=1 - table["test"]), {"by": ("family", "half"), **options}
    for label, (_, metric) in SUMMARY.items():
        alone = within(wrong, metric, "error", **same) if metric else None
        fixed = within(wrong, metric, "error", given=NORMS, **same) if metric and metric not in NORMS else None
        rows[label] = alone.ends if alone else None, fixed.ends if fixed else None
    return rows


def registered_checks(table: pd.DataFrame, metric: str = "alpha_hat", **options: Any) -> dict[str, float]:
    """The numbers that are recorded for claim P3.08, of α̂ as printed or of another metric in its place.

    metric : with an exponent, so that shuffled weights have another. ``options`` as for ``within``.
    """
    shuffled = f"shuffled_{metric}"
    plain = {
        half: {name: within(part, name, **options) for name in (metric, *NORMS, shuffled, "train")}
        for half, part in halves(table).items()
    }
    partial = {half: within(part, metric, given=NORMS, **options) for half, part in halves(table).items()}
    norms = {half: lesser(one["log_frobenius"], one["log_spectral"]) for half, one in plain.items()}
    works = {half: {name: one[name].high < 0 for name in (metric, *NORMS)} for half, one in plain.items()}
    return {
        "without_decay": plain["without"][metric].high,
        "with_decay": plain["with"][metric].high,
        "norms_fail": min((norms[half] - plain[half][metric]).low for half in plain),
        "given_norms": max(one.high for one in partial.values()),
        "shuffled": min((one[shuffled] - one[metric]).low for one in plain.values()),
        "labels_fixed": within(table, metric, by=("family", "noise"), **options).high,
        "baseline": min((abs(one[metric]) - abs(one["train"])).low for one in plain.values()),
        "unregularised": partial["without"].high,
        "norm_instead": float(sum(any(w[n] for n in NORMS) and not w[metric] for w in works.values())),
    }
