"""Random labels and linear regions of the chapter on mimicry by two routes, side by side.

What confirms was set before the second route's networks were trained:

- a comparison is confirmed by a draw of weights as in :mod:`capcore.studies.mimicry_routes`: its interval and the
  chapter's lie on the same side of zero, or both hold it; they overlap; and where the claim S4.10 asks for a margin,
  both meet it or neither does. It is confirmed if every draw confirms it;
- a check of S4.10 comes out as registered if it passes or fails alike in every draw;
- the counts of regions are confirmed if the walk finds the same patterns and the same linear regions on every segment,
  of all networks of both routes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from capcore.claims.registry import load
from capcore.complexity.mimicry_report import Difference
from capcore.studies import mimicry_second_regions
from capcore.studies.mimicry import SAWTOOTH, measured
from capcore.studies.mimicry_routes import BothRoutes

SMALL, FULL = "small, logits on the pool", "shallow, logits on the pool"
MARGIN = 0.1
"""By how much a student of a quarter of the size must copy less of a teacher of random labels, says the claim."""


def joined(second: Mapping[str, Any], regions: Mapping[str, Any], draw: str) -> dict[str, Any]:
    """One draw of weights as if it were the chapter's ``stored("mimicry")``: arms, random labels and regions.

    Parameters
    ----------
    second : ``stored("mimicry_second_route")``. regions : ``stored("mimicry_second_regions")``.
    """
    return {"values": {**second["values"][draw], **regions["values"][draw]}}


def draws_of(regions: Mapping[str, Any]) -> list[str]:
    """The draws of weights of ``stored("mimicry_second_regions")``, without the chapter's own networks."""
    return [name for name in regions["values"] if name.startswith("draw")]


def paired(content: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """What is compared → (seeds,) by how much it is less for random labels, or for true ones than without.

    All are positive if the claim is right. Answers copied are shares of the test images. Regions are shares of those
    that the other network has. ``content`` is ``stored("mimicry")``, or a draw as :func:`joined` gives it.
    """
    values = content["values"]
    counts = {kind: np.array(found) for kind, found in values["regions"].items()}
    copied = values["random labels"]["student agreement"]
    true = measured(content, "agreement")
    return {
        "answers copied by a quarter, true − random": true[SMALL] - np.array(copied[SMALL]),
        "answers copied by as many, true − random": true[FULL] - np.array(copied[FULL]),
        "regions, 1 − true / random": 1 - counts["true labels"] / counts["random labels"],
        "regions, 1 − true / untrained": 1 - counts["true labels"] / counts["initial"],
    }


def compared(content: Mapping[str, Any]) -> dict[str, Difference]:
    """What is compared → mean and interval of what :func:`paired` gives."""
    return {name: Difference.of(found) for name, found in paired(content).items()}


def by_draws(
    content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]
) -> dict[str, dict[str, BothRoutes]]:
    """Draw → what is compared → both routes' differences."""
    first = compared(content)
    margins = {name: MARGIN if name.startswith("answers copied by a quarter") else None for name in first}
    return {
        draw: {
            name: BothRoutes(first[name], found, margins[name])
            for name, found in compared(joined(second, regions, draw)).items()
        }
        for draw in draws_of(regions)
    }


def checks(content: Mapping[str, Any]) -> dict[str, bool]:
    """Checks of S4.10 on random labels and on regions → whether they pass, by the registry's criteria."""
    values, found = content["values"], list(compared(content).values())
    numbers = {
        "memorises": min(values["random labels"]["training accuracy"]),
        "far_below_most": float(np.mean(values["regions"]["true labels"])) / SAWTOOTH,
        "below_random_labels": 1 - found[2].low,
        "below_initial": 1 - found[3].low,
        "random_teacher": -found[0].low,
    }
    claim = load()["S4.10"]
    return {name: claim.check(name).test.holds(number) for name, number in numbers.items()}


def confirmed(content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]) -> dict[str, int]:
    """What is compared → the number of draws by which the second route confirms the first."""
    found = by_draws(content, second, regions)
    return {name: sum(draw[name].confirmed for draw in found.values()) for name in compared(content)}


def table(
    content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """What is compared → column → text: JAX, the mean of the draws split by split, and how many draws confirm."""
    draws = [paired(joined(second, regions, draw)) for draw in draws_of(regions)]
    counts = confirmed(content, second, regions)
    return {
        name: {
            "JAX": each.text(),
            "mean of the draws": Difference.of(np.mean([draw[name] for draw in draws], axis=0)).text(),
            "draws that confirm": f"{counts[name]}",
        }
        for name, each in compared(content).items()
    }


def counted_alike(regions: Mapping[str, Any]) -> tuple[int, int]:
    """Segments on which both counts are the same, and all of them, over all networks of both routes."""
    differ = [n for each in regions["values"].values() for found in each["otherwise"].values() for n in found]
    n = regions["settings"]["n_segments"] * len(differ)
    return n - sum(differ), n


def counted_here(regions: Mapping[str, Any]) -> str:
    """Whether an untrained network, counted on the spot on its 100 segments in both ways, has the regions stored of it.

    It is that of the first draw and split, and needs no training. ``regions`` : ``stored("mimicry_second_regions")``.
    """
    stored = regions["settings"]
    settings = {**stored, "seeds": stored["seeds"][:1], "n_draws": 1, "n_steps": 1, "first_route": False}
    found = mimicry_second_regions.run(settings)["draw 0"]
    gaps = [found[way]["initial"][0] - regions["values"]["draw 0"][way]["initial"][0] for way in ("regions", "walked")]
    met = max(abs(gap) for gap in gaps) <= 0.1  # ten of 100 segments with one region more by another processor
    return f"both counts {'meet' if met else 'miss'} what is stored"


def in_words(content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]) -> dict[str, str]:
    """What the chapter's text cites of random labels and regions by the second route."""
    names = draws_of(regions)
    draws = [joined(second, regions, draw) for draw in names]
    counts = confirmed(content, second, regions)
    passed = [checks(draw) for draw in draws]
    learnt = [share for draw in draws for share in draw["values"]["random labels"]["training accuracy"]]
    small = [100 * np.mean(draw["values"]["random labels"]["student agreement"][SMALL]) for draw in draws]
    pairs = {"random": "regions, 1 − true / random", "initial": "regions, 1 − true / untrained"}
    ratios = {key: [f"{1 - compared(draw)[name].mean:.2f}" for draw in draws] for key, name in pairs.items()}
    alike, segments = counted_alike(regions)
    return {
        "all": f"{sum(n == len(names) for n in counts.values())}",
        "of": f"{len(counts)}",
        "others": "; ".join(f"“{name}” by {n}" for name, n in counts.items() if n < len(names)),
        "checks": f"{sum(all(draw[name] == then for draw in passed) for name, then in checks(content).items())}",
        "of_checks": f"{len(checks(content))}",
        "memorised": f"{100 * min(learnt):.0f} %",
        "copied": f"{min(small):.0f} to {max(small):.0f} %",
        **{f"ratio_{key}": ", ".join(found[:-1]) + f" and {found[-1]}" for key, found in ratios.items()},
        "alike": f"{alike:,}",
        "segments": f"{segments:,}",
    }
