"""Statistics of the published table: how metrics go with the top-1 error within families, across them, and over all.

No row of the table is kept. What is: rank correlations with intervals per family and averaged, at fixed baselines,
under every analysis choice, and quantiles of α over groups of networks. ``study`` reads them.

``python -m chapters run published_metrics --table FILE`` makes them again, in about a minute on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import bootstrap
from threadpoolctl import threadpool_limits

from capcore.checks.arguments import positive_integer
from chapters.kit import stored as results
from chapters.kit.witness import Witness
from chapters.shared.correlation import RankCorrelation
from chapters.shared.family_correlations import (
    AveragedCorrelation,
    FamilyCorrelations,
    family_correlations,
    family_weights,
    weighted_interval,
)
from chapters.spectra_accuracy.table import BASELINES, DEPTH, ERROR, METRICS, PARAMETERS, SHA256, Networks, read_table

PROG = "python -m chapters run published_metrics"
TABLE = "published_osmr_joined.csv"
PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "published" / TABLE
DESCRIPTION = f"""\
Statistics of a published table of spectral metrics; no row of the table is written.

FILE is {TABLE}: per-network metrics of CalculatedContent/ww-trends-2020
(commit efe4723, without a licence) joined with top-1 errors and numbers of parameters of
osmr/imgclsmob (commit f928f6c, MIT). It is not part of this repository and must have the
hash that the code names. Takes about a minute on one core.
"""
SMALLEST, TAIL = 4, 0.1
SETTINGS = {"table": SHA256, "smallest_family": SMALLEST, "level": 0.95, "n_shuffles": 1_999, "seed": 0, "tail": TAIL}
WITNESS = Witness(
    [""],
    partial=["p_value"],
    fixed={"n_shuffles": 19},
    needs=[PUBLISHED],
)
SHOWN = ("alpha", "alpha_weighted", "lognorm", "logspectralnorm", "logpnorm", PARAMETERS)  # with families of their own
MAIN = "imagenet"
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def median_interval(
    values: np.ndarray, others: np.ndarray | None = None, *, n_resamples: int = 9_999, seed: int = 0
) -> list[float]:
    """Ends of the 95 % interval of the median of values (n,), or of that less the median of others (m,).

    Percentile bootstrap; each group is resampled on its own. Raises ``ValueError`` for a group of fewer than two.

    >>> median_interval(np.array([1.0, 1.0, 1.0]), np.array([3.0, 3.0, 3.0]))
    [-2.0, -2.0]
    """
    samples = (values,) if others is None else (values, others)
    for group in samples:
        positive_integer(len(group), "number of values", 2)

    def statistic(*groups: np.ndarray, axis: int) -> np.ndarray:
        first, *rest = (np.median(group, axis=axis) for group in groups)
        return np.asarray(first - rest[0] if rest else first)

    found = bootstrap(samples, statistic, n_resamples=n_resamples, method="percentile", rng=np.random.default_rng(seed))
    return [float(found.confidence_interval.low), float(found.confidence_interval.high)]


def run(settings: Mapping[str, Any] = SETTINGS, path: str | Path = PUBLISHED) -> dict[str, Any]:
    """All statistics of the table at ``path``, of plain types, floats rounded to six digits."""
    n_shuffles = settings["n_shuffles"]
    groups, left_out = read_table(path)
    data = {name: group.of_large_families(SMALLEST) for name, group in groups.items()}
    main = data[MAIN]
    correlations = {
        name: {column: _correlate(group, column, n_shuffles) for column in _columns(name, group)}
        for name, group in data.items()
    }
    values = {
        "left_out": left_out,
        "networks": {name: len(group) for name, group in groups.items()},
        "in_families": {name: len(group) for name, group in data.items()},
        "families": {name: {column: _table(found[column]) for column in SHOWN} for name, found in correlations.items()},
        "averages": {
            name: {column: _three(one) for column, one in found.items()} for name, found in correlations.items()
        },
        "given": _given(main, n_shuffles),
        "differences": {
            f"{first} less {second}": _difference(correlations[MAIN], first, second)
            for first, second in [("alpha_weighted", other) for other in (PARAMETERS, "lognorm", "logspectralnorm")]
        },
        "choices": _choices(groups[MAIN], n_shuffles),
        "best": best_networks(groups[MAIN]),
        "equal_size": {column: list(equal_size(main, column)) for column in METRICS},
    }
    plain: dict[str, Any] = _rounded(values)
    return plain


def main(arguments: Sequence[str]) -> int:
    """Run it on the table that the arguments name, and write the result."""
    parser = argparse.ArgumentParser(
        prog=PROG, description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", required=True, type=Path, metavar="FILE", help="the joined table, a CSV file")
    table = parser.parse_args(arguments).table
    try:
        read_table(table)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    with threadpool_limits(1):
        path = results.path_of("published_metrics")
        results.save(path, f"{PROG} --table {TABLE}", run, SETTINGS, run(path=table))
    return 0


def _columns(name: str, group: Networks) -> list[str]:
    """All metrics for ImageNet, and those shown for the others; depth where a family says it in its names."""
    metrics = [*METRICS, PARAMETERS] if name == MAIN else list(SHOWN)
    return metrics + ([DEPTH] if len(group.with_value(DEPTH).of_large_families(SMALLEST)) else [])


def _correlate(
    group: Networks, column: str, n_shuffles: int, given: str | None = None, **options: Any
) -> FamilyCorrelations:
    """Correlation of ``column`` with the error over families of at least four networks that have a value."""
    size = options.pop("smallest", SMALLEST)
    used = group.with_value(column, *([given] if given else [])).of_large_families(size)
    fixed = used.columns[given] if given else None
    return family_correlations(
        used.columns[column], used.columns[ERROR], used.families, np.random.default_rng(0),
        given=fixed, min_size=size, n_shuffles=n_shuffles, **options,
    )  # fmt: skip


def _one(found: RankCorrelation | AveragedCorrelation) -> dict[str, Any]:
    """The numbers of a correlation, without how it was computed."""
    kept = ("rho", "low", "high", "p_value", "n", "n_families", "n_positive")
    return {name: value for name, value in asdict(found).items() if name in kept}


def _table(found: FamilyCorrelations) -> dict[str, dict[str, Any]]:
    return {name: _one(one) for name, one in found.families.items()}


def _three(found: FamilyCorrelations) -> dict[str, Any]:
    across = None if found.across is None else _one(found.across)
    return {"within": _one(found.within), "across": across, "pooled": _one(found.pooled)}


def _given(group: Networks, n_shuffles: int) -> dict[str, Any]:
    """Averages within families at fixed baselines, and of the baseline at fixed metrics."""
    pairs = [(metric, base) for metric, base in product(SHOWN[:-1], BASELINES)]
    pairs += [(PARAMETERS, metric) for metric in SHOWN[:-1]]
    found = {f"{column} given {base}": _correlate(group, column, n_shuffles, base) for column, base in pairs}
    return {name: {**_one(one.within), "left_out": sorted(one.left_out)} for name, one in found.items()}


def _difference(found: dict[str, FamilyCorrelations], first: str, second: str) -> list[float]:
    """Average of |ρ| of one column less |ρ| of another over the families that have both, with its interval.

    The sign of each is that of its average: a family in which it is the other counts as less than nothing.
    """
    families = [name for name in found[first].families if name in found[second].families]
    rho = {
        column: np.array([found[column].families[name].rho for name in families]) * np.sign(found[column].within.rho)
        for column in (first, second)
    }
    weights = family_weights([found[first].families[name] for name in families])
    return list(weighted_interval(rho[first] - rho[second], weights))


def _choices(group: Networks, n_shuffles: int) -> list[dict[str, Any]]:
    """Averages within families under each combination of choices, one row each."""
    rows = []
    for metric, mean, kind, size in product(
        ("alpha", "alpha_weighted"), ("", "_compound"), ("spearman", "kendall"), (3, 4, 5)
    ):
        found = _correlate(group, metric + mean, n_shuffles, kind=kind, interval="fisher", smallest=size).within
        choice = {"metric": metric, "mean over": "layers" if mean else "slices", "coefficient": kind, "smallest": size}
        rows.append({**choice, **_one(found)})
    return rows


def best_networks(group: Networks) -> dict[str, Any]:
    """α of the networks with the least error: quantiles over groups, and how often the best is nearer to 2."""
    alpha, error = group.columns["alpha"], group.columns[ERROR]
    distance, order = np.abs(alpha - 2), np.argsort(error, kind="stable")
    count = round(len(order) * TAIL)
    best, worst = order[:count], order[-count:]
    large = group.of_large_families(SMALLEST)
    families = np.array(large.families)
    champions, nearer, chance = [], [], []
    for family in dict.fromkeys(large.families):
        rows = np.flatnonzero(families == family)
        own = np.abs(large.columns["alpha"][rows] - 2)
        top = int(np.argmin(large.columns[ERROR][rows]))
        champions.append(float(large.columns["alpha"][rows][top]))
        nearer.append(bool(own[top] < np.median(own)))
        chance.append((own < np.median(own)).mean())
    far = Networks(large.names, large.families, {**large.columns, "distance": np.abs(large.columns["alpha"] - 2)})
    groups = {
        "all": alpha,
        "best tenth": alpha[best],
        "worst tenth": alpha[worst],
        "best of families": np.array(champions),
    }
    return {
        "alpha": {name: list(np.quantile(values, QUANTILES)) for name, values in groups.items()},
        "number": {name: len(values) for name, values in groups.items()},
        "near": {name: float((np.abs(values - 2) <= 0.5).mean()) for name, values in groups.items()},
        "nearer": {"share": float(np.mean(nearer)), "by chance": float(np.mean(chance)), "families": len(nearer)},
        "best less worst": float(np.median(distance[best]) - np.median(distance[worst])),
        "medians": {name: median_interval(values) for name, values in groups.items() if len(values) > 1},
        "best less worst, ends": median_interval(distance[best], distance[worst]) if count > 1 else None,
        "distance": _one(_correlate(far, "distance", 1_999).within),
    }


def equal_size(group: Networks, column: str) -> tuple[int, int]:
    """Pairs of one family with equal numbers of parameters, and those whose smaller value has the smaller error."""
    values, error, size = (group.columns[name] for name in (column, ERROR, PARAMETERS))
    pairs = [
        (i, j)
        for i, j in combinations(range(len(group)), 2)
        if group.families[i] == group.families[j] and size[i] == size[j] and error[i] != error[j]
    ]
    agreeing = sum((values[i] - values[j]) * (error[i] - error[j]) > 0 for i, j in pairs)
    return len(pairs), int(agreeing)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return round(float(value), 6) if isinstance(value, float | np.floating) else value
