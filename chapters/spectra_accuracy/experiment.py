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
import pandas as pd
from scipy.stats import bootstrap
from threadpoolctl import threadpool_limits

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
from chapters.spectra_accuracy.table import (
    BASELINES,
    DEPTH,
    ERROR,
    METRICS,
    PARAMETERS,
    SHA256,
    of_large_families,
    read_table,
    with_value,
)

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

    Percentile bootstrap; each group is resampled on its own.

    >>> median_interval(np.array([1.0, 1.0, 1.0]), np.array([3.0, 3.0, 3.0]))
    [-2.0, -2.0]
    """
    samples = (values,) if others is None else (values, others)

    def statistic(*groups: np.ndarray, axis: int) -> np.ndarray:
        first, *rest = (np.median(group, axis=axis) for group in groups)
        return np.asarray(first - rest[0] if rest else first)

    options = {"n_resamples": n_resamples, "method": "percentile", "rng": np.random.default_rng(seed)}
    interval = bootstrap(samples, statistic, **options).confidence_interval
    return [float(interval.low), float(interval.high)]


def run(settings: Mapping[str, Any] = SETTINGS, path: str | Path = PUBLISHED) -> dict[str, Any]:
    """All statistics of the table at ``path``, of plain types, floats rounded to six digits."""
    n_shuffles = settings["n_shuffles"]
    groups, left_out = read_table(path)
    data = {name: of_large_families(group, SMALLEST) for name, group in groups.items()}
    main = data[MAIN]
    correlations = {
        name: {column: _correlate(group, column, n_shuffles) for column in _columns(name, group)}
        for name, group in data.items()
    }
    values = {
        "left_out": left_out,
        "networks": {name: len(group) for name, group in groups.items()},
        "in_families": {name: len(group) for name, group in data.items()},
        "families": {name: {column: _table(row[column]) for column in SHOWN} for name, row in correlations.items()},
        "averages": {name: {column: _three(one) for column, one in row.items()} for name, row in correlations.items()},
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


def _columns(name: str, group: pd.DataFrame) -> list[str]:
    """All metrics for ImageNet, and those shown for the others; depth where a family says it in its names."""
    metrics = [*METRICS, PARAMETERS] if name == MAIN else list(SHOWN)
    return metrics + ([DEPTH] if len(of_large_families(with_value(group, DEPTH), SMALLEST)) else [])


def _correlate(
    group: pd.DataFrame, column: str, n_shuffles: int, *given: str, smallest: int = SMALLEST, **options: Any
) -> FamilyCorrelations:
    """Correlation of ``column`` with the error over families of at least four networks that have a value."""
    used = of_large_families(with_value(group, column, *given), smallest)
    options |= {"given": used[list(given)].to_numpy().T, "min_size": smallest, "n_shuffles": n_shuffles}
    return family_correlations(used[column], used[ERROR], used["family"], np.random.default_rng(0), **options)


def _one(correlation: RankCorrelation | AveragedCorrelation) -> dict[str, Any]:
    """The numbers of a correlation, without how many quantities were held fixed."""
    return {name: value for name, value in asdict(correlation).items() if name != "n_given"}


def _table(correlations: FamilyCorrelations) -> dict[str, dict[str, Any]]:
    return {name: _one(one) for name, one in correlations.families.items()}


def _three(correlations: FamilyCorrelations) -> dict[str, Any]:
    parts = {name: getattr(correlations, name) for name in ("within", "across", "pooled")}
    return {name: None if part is None else _one(part) for name, part in parts.items()}


def _given(group: pd.DataFrame, n_shuffles: int) -> dict[str, Any]:
    """Averages within families at fixed baselines, and of the baseline at fixed metrics."""
    pairs = [(metric, base) for metric, base in product(SHOWN[:-1], BASELINES)]
    pairs += [(PARAMETERS, metric) for metric in SHOWN[:-1]]
    fixed = {f"{column} given {base}": _correlate(group, column, n_shuffles, base) for column, base in pairs}
    return {name: {**_one(one.within), "left_out": sorted(one.left_out)} for name, one in fixed.items()}


def _difference(correlations: dict[str, FamilyCorrelations], first: str, second: str) -> list[float]:
    """Average of |ρ| of one column less |ρ| of another over the families that have both, with its interval.

    The sign of each is that of its average: a family in which it is the other counts as less than nothing.
    """
    one, other = correlations[first], correlations[second]
    names = [name for name in one.families if name in other.families]
    rho = [np.array([c.families[name].rho for name in names]) * np.sign(c.within.rho) for c in (one, other)]
    return list(weighted_interval(rho[0] - rho[1], family_weights([one.families[name] for name in names])))


def _choices(group: pd.DataFrame, n_shuffles: int) -> list[dict[str, Any]]:
    """Averages within families under each combination of choices, one row each."""
    rows = []
    for metric, mean, kind, size in product(
        ("alpha", "alpha_weighted"), ("", "_compound"), ("spearman", "kendall"), (3, 4, 5)
    ):
        within = _correlate(group, metric + mean, n_shuffles, kind=kind, interval="fisher", smallest=size).within
        choice = {"metric": metric, "mean over": "layers" if mean else "slices", "coefficient": kind, "smallest": size}
        rows.append({**choice, **_one(within)})
    return rows


def best_networks(group: pd.DataFrame) -> dict[str, Any]:
    """α of the networks with the least error: quantiles over groups, and how often the best is nearer to 2."""
    alpha, error = group["alpha"].to_numpy(), group[ERROR].to_numpy()
    distance, order = np.abs(alpha - 2), np.argsort(error, kind="stable")
    count = round(len(order) * TAIL)
    best, worst = order[:count], order[-count:]
    large = of_large_families(group, SMALLEST).assign(distance=lambda rows: (rows["alpha"] - 2).abs())
    champions, nearer, chance = [], [], []
    for _, family in large.groupby("family", sort=False):
        own, top = family["distance"].to_numpy(), int(np.argmin(family[ERROR]))
        champions.append(float(family["alpha"].iloc[top]))
        nearer.append(bool(own[top] < np.median(own)))
        chance.append((own < np.median(own)).mean())
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
        "distance": _one(_correlate(large, "distance", 1_999).within),
    }


def equal_size(group: pd.DataFrame, column: str) -> tuple[int, int]:
    """Pairs of one family with equal numbers of parameters, and those whose smaller value has the smaller error."""
    pairs = agreeing = 0
    for _, alike in group.groupby(["family", PARAMETERS]):
        for (one, error), (other, worse) in combinations(zip(alike[column], alike[ERROR], strict=True), 2):
            pairs += error != worse
            agreeing += (one - other) * (error - worse) > 0
    return int(pairs), int(agreeing)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return round(float(value), 6) if isinstance(value, float | np.floating) else value
