"""Statistics of the published table: how metrics go with the top-1 error within families, across them, and over all.

No row of the table is kept. What is: rank correlations with intervals per family and averaged, at a fixed number of
parameters, and quantiles of α over groups of networks. ``study`` reads them.

``python -m chapters run published_metrics --table FILE`` makes them again, in about a minute on one core.

The metrics were computed with WeightWatcher 0.2.7 and are those of the repository CalculatedContent/ww-trends-2020,
commit efe4723; errors and numbers of parameters are from osmr/imgclsmob, commit f928f6c. The table has no licence that
would let this book hand it on: the file is read where a reader has it, and only statistics of it are stored.
"""

import argparse
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from chapters.kit import stored as results
from chapters.kit.witness import Witness
from chapters.shared import family_correlations as within
from chapters.shared.correlation import RankCorrelation

SHA256 = "4dc8d64ce5ac519e08e8d089b02bc2249a6e7a780f763f5acfe05e279cab0946"
TEXT = ("modelname", "dataset", "family")
ERROR, PARAMETERS = "top1_error", "params"
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
WITNESS = Witness([""], partial=["p_value"], fixed={"n_shuffles": 19}, needs=[PUBLISHED])
SHOWN = ("alpha", "alpha_weighted", "lognorm", "logspectralnorm", "logpnorm", PARAMETERS)
MAIN = "imagenet"
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def of_large_families(networks: pd.DataFrame, size: int) -> pd.DataFrame:
    """Those whose family has at least ``size`` of them."""
    return networks[networks.groupby("family")["family"].transform("size") >= size]


def read_table(path: str | Path, expected: str = SHA256) -> dict[str, pd.DataFrame]:
    """Data set → its networks with a known error, one row each.

    An infinite value, which is a logarithm of zero, counts as none. Raises ``ValueError`` if the file is not the one
    whose statistics the book holds.
    """
    content = Path(path).read_bytes()
    own = hashlib.sha256(content).hexdigest()
    if own != expected:
        raise ValueError(f"table: found a file with SHA-256 {own[:16]}…, expected {expected[:16]}…; see the README.")
    table = pd.read_csv(io.BytesIO(content), float_precision="round_trip", keep_default_na=False, na_values=[""])
    numbers = [name for name in table if name not in TEXT]
    table[numbers] = table[numbers].astype(float).replace([np.inf, -np.inf], np.nan)
    known = table.dropna(subset=[ERROR])
    return {str(name): networks for name, networks in known.groupby("dataset", sort=False)}


def run(settings: Mapping[str, Any] = SETTINGS, path: str | Path = PUBLISHED) -> dict[str, Any]:
    """All statistics of the table at ``path``, of plain types, floats rounded to six digits."""
    n_shuffles, groups = settings["n_shuffles"], read_table(path)
    data = {name: of_large_families(group, SMALLEST) for name, group in groups.items()}
    main = data[MAIN]
    correlations = {
        name: {column: _correlate(group, column, n_shuffles) for column in SHOWN} for name, group in data.items()
    }
    given = [*((metric, PARAMETERS) for metric in SHOWN[:-1]), (PARAMETERS, "alpha_weighted")]
    values = {
        "in_families": {name: len(group) for name, group in data.items()},
        "families": {
            name: {column: {key: _one(family) for key, family in one.families.items()} for column, one in row.items()}
            for name, row in correlations.items()
        },
        "averages": {name: {column: _three(one) for column, one in row.items()} for name, row in correlations.items()},
        "given": {f"{one} given {base}": _one(_correlate(main, one, n_shuffles, base).within) for one, base in given},
        "differences": {
            f"alpha_weighted less {other}": _difference(correlations[MAIN], "alpha_weighted", other)
            for other in (PARAMETERS, "lognorm", "logspectralnorm")
        },
        "best": best_networks(groups[MAIN]),
        "equal_size": {"alpha_weighted": equal_size(main, "alpha_weighted")},
    }
    return dict(json.loads(json.dumps(values), parse_float=lambda text: round(float(text), 6)))


def main(arguments: Sequence[str]) -> int:
    """Run it on the table that the arguments name, and write the result."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=PROG, description=DESCRIPTION, formatter_class=layout)
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


def _correlate(group: pd.DataFrame, column: str, n_shuffles: int, *given: str) -> within.FamilyCorrelations:
    """Correlation of ``column`` with the error over families of at least four networks that have a value."""
    used = of_large_families(group.dropna(subset=[column, *given]), SMALLEST)
    rng, held = np.random.default_rng(0), used[list(given)].to_numpy().T
    return within.family_correlations(used[column], used[ERROR], used["family"], rng, held, n_shuffles)


def _one(correlation: RankCorrelation | within.AveragedCorrelation) -> dict[str, Any]:
    """The numbers of a correlation, without how many quantities were held fixed."""
    return {name: value for name, value in correlation._asdict().items() if name != "n_given"}


def _three(correlations: within.FamilyCorrelations) -> dict[str, Any]:
    parts = {name: getattr(correlations, name) for name in ("within", "across", "pooled")}
    return {name: None if part is None else _one(part) for name, part in parts.items()}


def _difference(correlations: dict[str, within.FamilyCorrelations], first: str, second: str) -> list[float]:
    """Average of |ρ| of one column less |ρ| of another over the families that have both, with its interval.

    The sign of each is that of its average: a family in which it is the other counts as less than nothing.
    """
    one, other = correlations[first], correlations[second]
    names = [name for name in one.families if name in other.families]
    rho = [np.array([c.families[name].rho for name in names]) * np.sign(c.within.rho) for c in (one, other)]
    return list(
        within.weighted_interval(rho[0] - rho[1], within.family_weights([one.families[name] for name in names]))
    )


def best_networks(group: pd.DataFrame) -> dict[str, Any]:
    """α of the networks with the least error: quantiles over groups, and how often the best is nearer to 2."""
    alpha, error = group["alpha"].to_numpy(), group[ERROR].to_numpy()
    distance, order = np.abs(alpha - 2), np.argsort(error, kind="stable")
    count = round(len(order) * TAIL)
    best, worst = order[:count], order[-count:]
    large = of_large_families(group, SMALLEST).assign(distance=lambda rows: (rows["alpha"] - 2).abs())
    families = large.groupby("family", sort=False)
    champions, nearer = families[ERROR].idxmin(), large["distance"] < families["distance"].transform("median")
    chance = nearer.groupby(large["family"], sort=False).mean()
    groups = {
        "all": alpha,
        "best tenth": alpha[best],
        "worst tenth": alpha[worst],
        "best of families": large["alpha"][champions].to_numpy(),
    }
    return {
        "alpha": {name: list(np.quantile(values, QUANTILES)) for name, values in groups.items()},
        "number": {name: len(values) for name, values in groups.items()},
        "nearer": {"share": nearer[champions].mean(), "by chance": chance.mean(), "families": len(champions)},
        "best less worst": float(np.median(distance[best]) - np.median(distance[worst])),
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
