"""The stored benchmarks as one table: each row is a piece of work done twice, by this package and by a named peer.

``python -m benchmarks --threads N --save FILE`` writes a run. Lengths and ranks are read off the description of the
work: "…, n = 4,096, κ = 144".
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

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
    "networks": "Capacity of trained networks",
}


def suites_with(content: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """The suites of the run with so many threads, in the order of ``TITLES``."""
    runs = content["values"]
    if str(threads) not in runs:
        raise ValueError(
            f"threads: found {threads}, expected one of {', '.join(runs)}, the runs stored. Make another: "
            f"python -m benchmarks --threads {threads} --save chapters/performance/results/benchmarks.json"
        )
    return {name: runs[str(threads)][name] for name in TITLES if name in runs[str(threads)]}


def rows_of(suites: Mapping[str, Any]) -> pd.DataFrame:
    """Rows A1, A2, …, B1, …: ``suite``, ``work``, ``peer``, both times and their ``ratio``, ``n``, ``kappa``, …"""
    parts = {}
    for letter, (name, suite) in zip("ABCDEFGHIJ", suites.items(), strict=False):
        part = pd.DataFrame(suite["rows"]).astype({"peer_seconds": float})
        parts[name] = part.set_axis([f"{letter}{j}" for j in range(1, len(part) + 1)]).assign(suite=name)
    rows = pd.concat(parts.values())
    for column, name in (("n", "n"), ("kappa", "κ")):
        digits = rows["work"].str.extract(rf"{name} = (\d[\d,]*)", expand=False)
        rows[column] = digits.str.replace(",", "").astype(float)
    return rows.assign(ratio=rows["peer_seconds"] / rows["seconds"])


def summary(rows: pd.DataFrame, suites: Mapping[str, Any]) -> pd.DataFrame:
    """A line for each suite: rows with a peer, in how many the peer takes longer, the middle ratio, and the load."""
    lines = {}
    for name, suite in suites.items():
        ratios = rows.loc[rows["suite"] == name, "ratio"].dropna()
        lines[TITLES[name]] = {
            "rows with a peer": ratios.size,
            "peer takes longer": int((ratios > 1).sum()),
            "median ratio": multiple(ratios.median()),
            "load of the machine": f"{suite['environment']['load']:.1f}",
        }
    return pd.DataFrame(lines).T


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """All rows in words."""
    return pd.DataFrame(
        {
            "work": rows["work"],
            "peer": rows["peer"],
            "ours": rows["seconds"].map(duration),
            "peer's": rows["peer_seconds"].map(duration),
            "ratio": rows["ratio"].map(multiple),
            "memory": rows["memory_gb"].map("{:.2f} GB".format),
            "compared": rows["agreement"].where(rows["holds"], "FAILED: " + rows["agreement"]),
        }
    )


def find(rows: pd.DataFrame, suite: str, work: str = "", peer: str = "") -> dict[str, Any]:
    """The first row of a suite whose descriptions contain these texts."""
    for row in rows[rows["suite"] == suite].to_dict("records"):
        if work in row["work"] and peer in row["peer"]:
            return dict(row)
    raise ValueError(f"suite {suite}: found no row with {work!r} and {peer!r}, expected one.")


FASTER = {
    "floating-point ranks": ("ranks", "random parameters", "matrix_rank"),
    "`teneva`'s orthogonal frames": ("tangent", "c = 4", "teneva"),
    "NNGeometry without single examples": ("networks", "PyTorch", "NNGeometry"),
    "WeightWatcher without a null, on ResNet-56,": ("spectra", "capcore spectra, its", "default run"),
}
"""What a peer was faster at, or may be → suite, work and peer of its row."""


def faster_peers(rows: pd.DataFrame, others: pd.DataFrame) -> dict[str, float]:
    """How many times as fast peers are that are faster; rows that a run lacks are those of the other."""
    both = pd.concat([rows, others])
    speedups = {name: 1 / find(both, *where)["ratio"] for name, where in FASTER.items()}
    return {name: speedup for name, speedup in speedups.items() if speedup > 1}


def times(rows: pd.DataFrame) -> pd.DataFrame:
    """Number of inputs → seconds of an allocation, ``dense``, ``fast``, ``unavoidable``, ``octaves``; and ``kappa``."""
    whole, peer = rows["suite"].isin(["lengths", "scale"]), rows["peer"]
    bare = rows[whole & peer.str.startswith("the part no method avoids")]
    octaves = rows[(rows["suite"] == "octaves") & rows["work"].str.startswith("capacity of every octave")]
    return pd.DataFrame(
        {
            "dense": rows[whole & peer.str.startswith("dense path")].set_index("n")["peer_seconds"],
            "fast": bare.set_index("n")["seconds"],
            "unavoidable": bare.set_index("n")["peer_seconds"],
            "octaves": octaves.set_index("n")["seconds"],
            "kappa": rows.dropna(subset=["n", "kappa"]).drop_duplicates("n").set_index("n")["kappa"],
        }
    )


def exponent(seconds: pd.Series) -> float:
    """a of the power law seconds ≈ b n^a, by least squares in logarithms.

    >>> round(exponent(pd.Series([2.0, 20.0, np.nan, 200.0], index=[10, 100, 500, 1000])), 9)
    1.0
    """
    known = seconds.dropna()
    return float(np.polyfit(np.log(known.index), np.log(known), 1)[0])


def duration(seconds: float) -> str:
    """Two digits and a unit.

    >>> duration(0.00123), duration(0.5), duration(12.3), duration(np.nan)
    ('1.2 ms', '500 ms', '12 s', '–')
    """
    scaled, unit = (seconds * 1e3, "ms") if seconds < 0.9995 else (seconds, "s")
    return "–" if np.isnan(seconds) else f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:,.0f} {unit}"


def multiple(value: float) -> str:
    """Two significant digits, or all before the point.

    >>> multiple(0.123), multiple(3.21), multiple(12345.6), multiple(np.nan)
    ('0.12', '3.2', '12,346', '–')
    """
    text = f"{value:.2g}" if value < 0.995 else f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"
    return "–" if np.isnan(value) else text


def plot_times(lines: Mapping[str, pd.Series], ax: Axes) -> Axes:
    """Seconds against the number of inputs, both axes logarithmic."""
    for label, seconds in lines.items():
        ax.plot(seconds.dropna().index, seconds.dropna(), marker="o", markersize=3, label=label)
    largest = max(seconds.dropna().index.max() for seconds in lines.values())
    powers = np.arange(5, int(np.log2(largest)) + 1, 5)
    ax.set(xscale="log", yscale="log", xlabel="inputs", ylabel="seconds")
    ax.xaxis.set_major_locator(FixedLocator([2.0**power for power in powers]))
    ax.set_xticklabels([f"$2^{{{power}}}$" for power in powers])
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    return ax
