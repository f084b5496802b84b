"""Random labels and linear regions of the chapter on mimicry by two routes, side by side.

What confirms was set before the second route's networks were trained:

- a comparison is confirmed by a draw of weights as in :mod:`capcore.studies.mimicry_routes`: its interval and the
  chapter's lie on the same side of zero, or both hold it; they overlap; and where the claim S4.10 asks for a margin,
  both meet it or neither does. It is confirmed if every draw confirms it;
- a check of S4.10 comes out as registered if it passes or fails alike in every draw;
- the counts of regions are confirmed if the walk finds as many patterns and as many linear regions on every segment, of
  all networks of both routes.
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

SMALL, FULL = mimicry_second_regions.ARMS
BY_A_QUARTER = "answers copied by a student of a quarter the size, true − random labels"
BY_AS_LARGE = "answers copied by a student as large, true − random labels"
THAN_RANDOM = "regions fewer after true than after random labels"
THAN_UNTRAINED = "regions fewer after true labels than untrained"


def margin() -> float:
    """By how much a student of a quarter of the size must copy less of a teacher of random labels, says the claim."""
    return -float(load()["S4.10"].check("random_teacher").test.bound)


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
        BY_A_QUARTER: true[SMALL] - np.array(copied[SMALL]),
        BY_AS_LARGE: true[FULL] - np.array(copied[FULL]),
        THAN_RANDOM: 1 - counts["true labels"] / counts["random labels"],
        THAN_UNTRAINED: 1 - counts["true labels"] / counts["initial"],
    }


def compared(content: Mapping[str, Any]) -> dict[str, Difference]:
    """What is compared → mean and interval of what :func:`paired` gives."""
    return {name: Difference.of(found) for name, found in paired(content).items()}


def by_draws(
    content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]
) -> dict[str, dict[str, BothRoutes]]:
    """Draw → what is compared → both routes' differences."""
    first = compared(content)
    margins = {BY_A_QUARTER: margin()}
    return {
        draw: {
            name: BothRoutes(first[name], found, margins.get(name))
            for name, found in compared(joined(second, regions, draw)).items()
        }
        for draw in draws_of(regions)
    }


def checks(content: Mapping[str, Any]) -> dict[str, bool]:
    """Checks of S4.10 on random labels and on regions → whether they pass, by the registry's criteria."""
    values, found = content["values"], compared(content)
    numbers = {
        "memorises": min(values["random labels"]["training accuracy"]),
        "far_below_most": float(np.mean(values["regions"]["true labels"])) / SAWTOOTH,
        "below_random_labels": 1 - found[THAN_RANDOM].low,
        "below_initial": 1 - found[THAN_UNTRAINED].low,
        "random_teacher": -found[BY_A_QUARTER].low,
    }
    claim = load()["S4.10"]
    return {name: claim.check(name).test.holds(number) for name, number in numbers.items()}


def confirmed(content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]) -> dict[str, int]:
    """What is compared → the number of draws by which the second route confirms the first."""
    found = by_draws(content, second, regions)
    return {name: sum(draw[name].confirmed for draw in found.values()) for name in compared(content)}


def mean_of_draws(second: Mapping[str, Any], regions: Mapping[str, Any]) -> dict[str, Difference]:
    """What is compared → mean and interval of what :func:`paired` gives, averaged over the draws split by split."""
    draws = [paired(joined(second, regions, draw)) for draw in draws_of(regions)]
    return {name: Difference.of(np.mean([draw[name] for draw in draws], axis=0)) for name in draws[0]}


def table(
    content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """What is compared → column → text: JAX, the mean of the draws split by split, and how many draws confirm."""
    means, counts = mean_of_draws(second, regions), confirmed(content, second, regions)
    return {
        name: {
            "JAX": each.text(),
            "mean of the draws": means[name].text(),
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
    return "meets what is stored within 0.1" if met else "misses what is stored by more than 0.1"


def in_words(content: Mapping[str, Any], second: Mapping[str, Any], regions: Mapping[str, Any]) -> dict[str, str]:
    """What the chapter's text cites of random labels and regions by the second route."""
    names = draws_of(regions)
    draws = [joined(second, regions, draw) for draw in names]
    counts = confirmed(content, second, regions)
    registered, passed = checks(content), [checks(draw) for draw in draws]
    learnt = [share for draw in draws for share in draw["values"]["random labels"]["training accuracy"]]
    small = [100 * np.mean(draw["values"]["random labels"]["student agreement"][SMALL]) for draw in draws]
    pairs = {"random": THAN_RANDOM, "initial": THAN_UNTRAINED}
    fewer = {key: [compared(draw)[name] for draw in draws] for key, name in pairs.items()}
    ratios = {key: [f"{1 - each.mean:.2f}" for each in found] for key, found in fewer.items()}
    average = mean_of_draws(second, regions)[THAN_UNTRAINED]
    alike, segments = counted_alike(regions)
    return {
        "all": f"{sum(n == len(names) for n in counts.values())}",
        "of": f"{len(counts)}",
        "margin": f"{100 * margin():.0f}",
        "networks": f"{len(learnt)}",
        "checks": f"{sum(all(draw[name] == then for draw in passed) for name, then in registered.items())}",
        "of_checks": f"{len(registered)}",
        "memorised": f"{100 * min(learnt):.0f} %",
        "copied": f"{min(small):.0f} to {max(small):.0f} %",
        **{f"ratio_{key}": ", ".join(found[:-1]) + f" and {found[-1]}" for key, found in ratios.items()},
        "ratio_mean": f"{1 - average.mean:.2f} ({1 - average.high:.2f} to {1 - average.low:.2f})",
        "below": f"{sum(each.mean > 0 for each in fewer['initial'])}",
        "surely_below": f"{sum(each.sign > 0 for each in fewer['initial'])}",
        "alike": f"{alike:,}",
        "segments": f"{segments:,}",
    }
