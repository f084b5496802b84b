"""What the stored runs on real series say: wins and losses by peer, errors that came true, what ranks networks."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from chapters.design_certificate.peers import __doc__ as peers_text
from chapters.design_certificate.promises import __doc__ as promises_text
from chapters.design_certificate.real_series import __doc__ as series_text
from chapters.design_certificate.small_networks import __doc__ as networks_text
from chapters.shared.intervals import geometric_interval
from chapters.shared.question import Question, RatioQuestion, as_items
from chapters.shared.rank_statistics import spearman

HOW = [as_items("\n\n".join(str(text).split("\n\n")[1:-1])) for text in (peers_text, promises_text, networks_text)]
"""What was done, and the criteria, as Markdown: of peers, promises and small networks."""
RULE = str(series_text).partition("\n\n")[2]  # by which series were chosen
DRAWS, SEEN = 10_000, 2.8
"""Draws of the bootstrap; standard errors at which a difference is seen with a chance of four in five."""
RANKS = Question("", "", 0.5)  # correlation from which something is said to rank
TRUE, RIGHT, CAME = 1.25, 1.1, "series within 1.25"  # factors within which an error came true: of a series, on average
Cell = Mapping[str, Any]


def outcome(gap: Mapping[str, float], n: int) -> str:
    """Win, tie or loss of a difference of n errors.

    >>> outcome({"mean": -0.1, "error": 0.01}, 50), outcome({"mean": 0.1, "error": 0.2}, 50)
    ('win', 'tie')
    """
    width = float(student.ppf(0.975, n - 1)) * gap["error"]
    return "win" if gap["mean"] < -width else "loss" if gap["mean"] > width else "tie"


class Tally(NamedTuple):
    """The design against one peer: counts, the ratio of errors with its interval, what ties hide."""

    losses: int
    ties: int
    wins: int
    ratio: float
    low: float
    high: float
    unseen: float

    @property
    def answer(self) -> str:
        """Better, worse or undecided, by the interval of the ratio."""
        return "better" if self.high < 1 else "worse" if self.low > 1 else "undecided"


def tally(values: Mapping[str, Cell], peer: str, errors: str = "absolute") -> Tally:
    """Over all series, by absolute or by squared errors; ``unseen`` is the median least difference that a test sees."""
    gaps = [(each["methods"][peer][errors], each["held out"]) for each in values.values()]
    outcomes = [outcome(*gap) for gap in gaps]
    logs = np.log1p([gap["mean"] for gap, _ in gaps])
    draws = np.random.default_rng(0).choice(logs, (DRAWS, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(draws, [0.025, 0.975])).tolist()
    losses, ties, wins = (outcomes.count(each) for each in ("loss", "tie", "win"))
    unseen = SEEN * float(np.median([gap["error"] for gap, _ in gaps]))
    return Tally(losses, ties, wins, float(np.exp(logs.mean())), low, high, unseen)


def peers(values: Mapping[str, Cell]) -> list[str]:
    """The peers, those first to which the design loses most often."""
    names = [name for name in next(iter(values.values()))["methods"] if name != "capacity"]
    return sorted(names, key=lambda name: (-tally(values, name).losses, -tally(values, name).ratio))


def is_a_baseline(values: Mapping[str, Cell]) -> bool:
    """Whether the criterion is met: rarely beaten by network and trees, and no worse than the other linear models."""
    rarely = all(found.losses <= 0.25 * len(values) for found in (tally(values, name) for name in ("TCN", "trees")))
    return rarely and all(tally(values, name).answer != "worse" for name in ("AutoReg", "ridge"))


def middle(values: Mapping[str, Cell], method: str, what: str) -> float:
    """The median of a method's weights or seconds over the series."""
    return float(np.median([each["methods"][method][what] for each in values.values()]))


def peers_table(values: Mapping[str, Cell]) -> pd.DataFrame:
    """A row for each peer: what was lost first."""
    own = {name: f"{middle(values, 'capacity', name):,.0f}" for name in ("weights", "seconds")}
    rows = [{"against": "(the design)", **own}]
    for name in peers(values):
        found = tally(values, name)
        rows.append({
            "against": name, "lost": f"{found.losses}", "tied": f"{found.ties}", "won": f"{found.wins}",
            "error over theirs": f"{found.ratio:.2f} ({found.low:.2f} to {found.high:.2f})",
            "smallest difference seen": f"{found.unseen:.0%}",
            "weights": f"{middle(values, name, 'weights'):,.0f}", "seconds": f"{middle(values, name, 'seconds'):,.1f}",
        })  # fmt: skip
    return (
        pd.DataFrame(rows[1:] + rows[:1])
        .fillna("")
        .set_index("against")
        .rename(columns={"seconds": "seconds a series"})
    )


def series_table(values: Mapping[str, Cell]) -> pd.DataFrame:
    """A row for each series, those with most losses first: errors over that of repeating the season."""
    rows = []
    for name, each in values.items():
        methods, own = each["methods"], each["methods"]["capacity"]
        outcomes = {peer: outcome(one["absolute"], each["held out"]) for peer, one in methods.items() if one is not own}
        best = min(outcomes, key=lambda peer: methods[peer]["error"])
        lost = [peer for peer in outcomes if outcomes[peer] == "loss"]
        rows.append({
            "series": name, "lost to": ", ".join(lost), "design": own["model"], "error (MASE)": f"{own['error']:.3f}",
            "least error of the others": f"{methods[best]['error']:.3f} ({best})",
            "losses": len(lost), "won against": [*outcomes.values()].count("win"),
        })  # fmt: skip
    return pd.DataFrame(rows).sort_values("losses", ascending=False, kind="stable").drop(columns="losses")


KNOWN = {"twin": 1, "best linear": 1, "receptive field": -1, "capacity": -1, "weights": -1}
"""What is known of a network before it is trained → whether more of it is to forecast worse, 1, or better, -1."""


def saturated(cell: Cell) -> bool:
    """Whether the twin is any linear model of its receptive field."""
    return bool(cell["capacity"] == cell["receptive field"])


def ranks(values: Mapping[str, Mapping[str, Cell]], free: bool = False) -> pd.DataFrame:
    """Series × what is known: Spearman's correlation with held-out errors, of all networks or those not saturated."""
    rows = {}
    for name, networks in values.items():
        cells = [cell for cell in networks.values() if not (free and saturated(cell))]
        errors = [np.mean(cell["errors"]) for cell in cells]
        rows[name] = {known: spearman([sign * cell[known] for cell in cells], errors) for known, sign in KNOWN.items()}
        halves = [[np.mean(cell["errors"][part::2]) for cell in cells] for part in (0, 1)]
        rows[name]["other seeds"] = spearman(*halves)
    return pd.DataFrame(rows).T


def came_true(values: Mapping[str, Cell], told: str, warned: bool | None = None) -> np.ndarray:
    """(m,) what happened over an error that was told, "promised" or "held out": of all, or with or without a warning.

    >>> came_true({"a": {"promised": 2.0, "happened": 1.0, "warned": False}}, "promised", warned=False).tolist()
    [0.5]
    """
    cells = (cell for cell in values.values() if warned in (None, cell["warned"]))
    return np.array([cell["happened"] / cell[told] for cell in cells])


def promises_table(values: Mapping[str, Cell]) -> pd.DataFrame:
    """A row for each error that is told: whether it came true on average, and on how many series."""
    rows: dict[str, dict[str, str]] = {}
    for told in ("promised", "held out"):
        mean, low, high = map(float, geometric_interval(came_true(values, told)))
        rows[told] = {"what happened, over it": f"{mean:.2f} ({low:.2f} to {high:.2f})"}
        rows[told][f"within {RIGHT:g} on average"] = RatioQuestion("", "", RIGHT).answer(low, high)
        for name, warned in {CAME: None, "without a warning": False, "with a warning": True}.items():
            ratios = came_true(values, told, warned)
            rows[told][name] = f"{sum(np.maximum(ratios, 1 / ratios) <= TRUE)} of {len(ratios)}"
    return pd.DataFrame(rows).T
