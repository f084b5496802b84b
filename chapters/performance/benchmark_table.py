"""The stored benchmarks as tables and curves: rows of two times for the same work, and how times grow with length.

``python -m benchmarks --threads N --save FILE`` writes a run: suites by name, each with the environment it was taken in
and its rows. A row says what was done (``work``), by whom else (``peer``), both times, what was compared
(``agreement``) and the peak memory of both sides.
Lengths and ranks are read off the description of the work: "…, n = 4,096, κ = 144".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from capcore.validation import finite_array

TITLES = {
    "fitting": "Fits of the paper's size",
    "fitting_at_scale": "Fits at scale",
    "lengths": "Capacity of every input, where the dense path runs",
    "scale": "Capacity of every input, at length",
    "octaves": "Capacity by octaves",
    "tangent": "Basis of the tangent space",
    "ranks": "Exact ranks",
    "propagation": "Capacity through deep layers",
    "spectra": "Weight spectra",
}
"""Suite → heading, in order."""


@dataclass(frozen=True)
class Times:
    """Seconds against the number of inputs, and the rank κ where the work tells it.

    ``n``, ``seconds`` and ``kappa`` are lists of one length; κ is 0 where it is not told.
    """

    n: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    kappa: list[int] = field(default_factory=list)

    def add(self, work: str, seconds: float) -> None:
        """One more point, in order of length."""
        n, kappa = size(work)
        place = int(np.searchsorted(self.n, n))
        self.n.insert(place, n)
        self.seconds.insert(place, seconds)
        self.kappa.insert(place, kappa)


def size(work: str) -> tuple[int, int]:
    """Number of inputs and rank that the description of a work tells; 0 for what it does not.

    >>> size("capacity of every input, n = 4,096, κ = 144"), size("rank of a matrix")
    ((4096, 144), (0, 0))
    """
    found = [re.search(rf"{name} = (\d[\d,]*)", work) for name in ("n", "κ")]
    n, kappa = (int(match[1].replace(",", "")) if match else 0 for match in found)
    return n, kappa


def run_with(content: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """Suites by name, in the order of ``TITLES``, of the run with so many threads.

    Raises ``ValueError`` where the file holds none.
    """
    runs: dict[str, Any] = content["values"]
    if str(threads) not in runs:
        raise ValueError(
            f"threads: found {threads}, expected one of {', '.join(runs)}, the runs stored. "
            f"Make another: python -m benchmarks --threads {threads} --save notebooks/results/benchmarks.json"
        )
    found = runs[str(threads)]
    return {name: found[name] for name in TITLES if name in found}


def tags(run: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Every row under a short name: the letter of its suite and its number there, A1, A2, …, B1, …"""
    return {
        f"{chr(ord('A') + i)}{j}": row for i, suite in enumerate(run.values()) for j, row in enumerate(suite["rows"], 1)
    }


def ratio(row: Mapping[str, Any]) -> float | None:
    """How many times longer the peer takes; None where there is no peer."""
    return None if row["peer_seconds"] is None else row["peer_seconds"] / row["seconds"]


def table(run: Mapping[str, Any], suite: str) -> dict[str, dict[str, str]]:
    """Short name of the row → column → text, for one suite."""
    chosen = run[suite]["rows"]
    return {
        name: {
            "work": row["work"],
            "peer": row["peer"],
            "ours": duration(row["seconds"]),
            "peer's": duration(row["peer_seconds"]),
            "ratio": multiple(ratio(row)),
            "memory": f"{row['memory_gb']:.2f} GB",
            "compared": row["agreement"] if row["holds"] else f"FAILED: {row['agreement']}",
        }
        for name, row in tags(run).items()
        if any(row is each for each in chosen)
    }


def find(run: Mapping[str, Any], suite: str, work: str = "", peer: str = "") -> dict[str, Any]:
    """The first row of a suite whose descriptions contain these texts. Raises ``ValueError`` where there is none."""
    for row in run[suite]["rows"]:
        if work in row["work"] and peer in row["peer"]:
            found: dict[str, Any] = row
            return found
    raise ValueError(
        f"suite {suite}: found no row with {work!r} and {peer!r}, expected one. Look at study.table(run, …)."
    )


def ratios(run: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Heading of the suite → short name of the row and of the peer → ratio, for all rows with a peer."""
    names = {id(row): name for name, row in tags(run).items()}
    return {
        TITLES[suite]: {
            f"{names[id(row)]}  {short(row['peer'])}": row["peer_seconds"] / row["seconds"]
            for row in entry["rows"]
            if row["peer_seconds"] is not None
        }
        for suite, entry in run.items()
    }


def short(peer: str) -> str:
    """The name of a peer without its particulars.

    >>> short("SciPy L-BFGS-B, analytic gradient"), short("NumPy matrix_rank (floating point, SVD)")
    ('SciPy L-BFGS-B', 'NumPy matrix_rank')
    """
    return re.split(r", | \(|: ", peer)[0]


def duration(seconds: float | None) -> str:
    """Two digits and a unit.

    >>> duration(0.00123), duration(0.5), duration(12.3), duration(None)
    ('1.2 ms', '500 ms', '12 s', '–')
    """
    if seconds is None:
        return "–"
    scaled, unit = (seconds * 1e3, "ms") if seconds < 0.9995 else (seconds, "s")
    return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:,.0f} {unit}"


def multiple(value: float | None) -> str:
    """Two significant digits, or all before the point.

    >>> multiple(0.123), multiple(3.21), multiple(12345.6), multiple(None)
    ('0.12', '3.2', '12,346', '–')
    """
    if value is None:
        return "–"
    return f"{value:.2g}" if value < 0.995 else f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def curves(run: Mapping[str, Any]) -> dict[str, Times]:
    """Seconds of an allocation against the number of inputs: ``dense``, ``fast``, ``unavoidable`` and ``octaves``."""
    found = {name: Times() for name in ("dense", "fast", "unavoidable", "octaves")}
    for row in [*run["lengths"]["rows"], *run["scale"]["rows"]]:
        if row["peer"].startswith("the part no method avoids"):
            found["fast"].add(row["work"], row["seconds"])
            found["unavoidable"].add(row["work"], row["peer_seconds"])
        elif row["peer"].startswith("dense path"):
            found["dense"].add(row["work"], row["peer_seconds"])
    for row in run["octaves"]["rows"]:
        if row["work"].startswith("capacity of every octave"):
            found["octaves"].add(row["work"], row["seconds"])
    return found


def exponent(n: Sequence[float], seconds: Sequence[float]) -> float:
    """a of the power law seconds ≈ b n^a through all points, by least squares in logarithms.

    Raises ``ValueError`` for fewer than two lengths.

    >>> round(exponent([10, 100, 1000], [2, 20, 200]), 9)
    1.0
    """
    x, y = (np.log(finite_array(values, name, 1)) for name, values in (("n", n), ("seconds", seconds)))
    if np.unique(x).size < 2 or x.size != y.size:
        raise ValueError(f"n: found {x.size} lengths and {y.size} times, expected two different lengths or more.")
    return float(np.polyfit(x, y, 1)[0])


def exponent_beyond_rank(times: Times, power: int) -> float:
    """Exponent of seconds / κ^power against n: 1 means "in proportion to the inputs", the growth of κ allowed for."""
    return exponent(times.n, [s / k**power for s, k in zip(times.seconds, times.kappa, strict=True)])


def setting(run: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Heading of the suite → processor, cores, load and versions it was taken with."""
    return {
        TITLES[name]: {
            "processor": f"{found['processor']}, {found['cores']} cores",
            "load average at its start": f"{found['load']:.1f}",
            "versions": ", ".join(f"{package} {version}" for package, version in found["versions"].items()),
        }
        for name, suite in run.items()
        for found in [suite["environment"]]
    }
