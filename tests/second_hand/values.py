"""The table of what is computed a second time, and how it is held beside the registry.

A number is compared with that of the executed notebook, by a tolerance with its reason; with the number that the
registry's sentence prints, if a pattern says where; and both must pass, or both fail, the registry's test.
"""

import json
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.second_hand import note, optimum, propagation, ranks, recurrent, regions, spaces, spectra

ROOT = Path(__file__).parents[2]
DILATIONS = tuple(2**k for k in range(8))


class Agreement(NamedTuple):
    """How near two numbers must be, as a part of the registry's and in its units, and why."""

    relative: float | None
    absolute: float
    why: str


EXACT = Agreement(0, 0, "whole numbers, and truth values")
ROUNDING = Agreement(1e-8, 0, "double precision; exponents of small gaps have eight digits")
TRAINED = Agreement(1e-6, 0, "both optima are stationary to some 1e-8, and sharing one minimum is meant")
SMALL_DIFFERENCE = Agreement(1e-5, 0, "as for trained models, in an error that is itself a small difference")
JUDGED = Agreement(None, 0, "what is left is rounding, or of other draws: both are on one side of the bound")


def sampled(error: float) -> Agreement:
    """Agreement of two samples of one size and standard error."""
    return Agreement(0, 4 * 2**0.5 * error, "four standard errors of a difference, by the scatter of five samples")


class Recomputed(NamedTuple):
    """A number, how near it must be, and the pattern of the same number, times a scale, in the sentence."""

    compute: Callable[[], Any]
    agreement: Agreement
    sentence: str = ""
    scale: float = 1


QUICK = {
    "P1.05 worst_z": Recomputed(spaces.isotropic_z, JUDGED),
    "P1.07 gap_converse": Recomputed(spaces.angle_gap, JUDGED),
    "P1.12 printed_index": Recomputed(ranks.printed_index, EXACT),
    "P1.12 receptive_field": Recomputed(partial(ranks.responding_inputs, (2,) * 6), EXACT),
    "P1.12 receptive_field_mixed": Recomputed(partial(ranks.responding_inputs, (3, 2, 4)), EXACT),
    "P1.13 capacity": Recomputed(partial(ranks.monomial_rank, (2,) * 6), EXACT, r"(\d+) of 12 parameters"),
    "P1.13 mismatches": Recomputed(ranks.monomial_mismatches, EXACT),
    "P1.14 slower_steps": Recomputed(ranks.slower_steps, EXACT),
    "P1.14 capacity_end": Recomputed(partial(ranks.hierarchical_rank, 256), EXACT, r"reaches (\d+) at eight"),
    "P1.19 capacity_ahead": Recomputed(optimum.capacity_ahead, TRAINED),
    "P1.26 plane_excess": Recomputed(spaces.plane_excess, ROUNDING),
    "P1.27 zero_layers": Recomputed(ranks.zero_layers, EXACT),
    "P1.28 capacity": Recomputed(ranks.recurrent_ranks, EXACT),
    "P1.36 printed_order": Recomputed(spaces.printed_order, ROUNDING),
    "P1.40 one_channel": Recomputed(partial(ranks.blocks_gap, 1), EXACT),
    "P1.42 smallest": Recomputed(ranks.unreachable_share, Agreement(0, 1e-4, "steps of the grid of values")),
    "P1.42 recurrent": Recomputed(ranks.recurrent_failures, ROUNDING, r"jointly, (\d+) % cannot", 100),
    "P1.43 recurrent": Recomputed(ranks.recurrent_failures, ROUNDING, r"jointly, (\d+) % leave", 100),
    "P1.46 model_ratio": Recomputed(spaces.model_ratio, TRAINED),
    "P1.47 parabola_crossings": Recomputed(spaces.parabola_crossings, EXACT),
    "P1.47 parabola_critical": Recomputed(spaces.parabola_critical, EXACT),
    "P2.02 depth_alone": Recomputed(propagation.depth_alone, ROUNDING),
    "P2.02 order_spread": Recomputed(propagation.order_spread, ROUNDING),
    "P2.03 edge_images": Recomputed(propagation.edge_images, ROUNDING),
    "P2.04 scaled_kurtosis": Recomputed(propagation.scaled_kurtosis, ROUNDING),
    "P2.07 order_spread": Recomputed(propagation.sources_order_spread, ROUNDING),
    "P2.08 double_counting": Recomputed(ranks.double_counting, ROUNDING),
    "P2.09 leak_value": Recomputed(propagation.leak_value, ROUNDING),
    "P2.09 equation_gap": Recomputed(propagation.leak_equation_gap, ROUNDING),
    "P2.12 field_exponent": Recomputed(propagation.field_exponent, ROUNDING),
    "P2.12 printed_variance": Recomputed(propagation.printed_variance, ROUNDING),
    "P2.12 kurtosis": Recomputed(propagation.dilated_kurtosis, ROUNDING),
    "P2.14 spread_exponent": Recomputed(propagation.spread_exponent, ROUNDING),
    "P2.15 half_life": Recomputed(propagation.half_life, ROUNDING),
    "P2.18 smallest_change": Recomputed(propagation.smallest_change, ROUNDING),
    "P3.04 rescaling_law": Recomputed(spectra.rescaling_gap, JUDGED),
    "P3.05 pure": Recomputed(spectra.pure_gap, ROUNDING),
    "S4.01 zaslavsky": Recomputed(regions.line_arrangement, EXACT),
    "S4.04 bounded_gain": Recomputed(regions.bounded_gain, ROUNDING),
    "S4.06 many_inputs": Recomputed(regions.many_inputs_ratio, ROUNDING),
    "S4.07 cover": Recomputed(regions.cover_sizes, EXACT),
    "N2.01 invariant_memorises": Recomputed(note.invariant_memorises, EXACT),
    "N2.01 invariant_orbits": Recomputed(note.invariant_orbits, EXACT),
}
SLOW = {
    "P1.20 smallest": Recomputed(optimum.full_inputs, JUDGED),
    "P1.24 forward_short": Recomputed(
        partial(optimum.chain_share, True, (0, 1, 2), slice(8)), TRAINED, r"\((0.9\d+)\)"
    ),
    "P1.24 forward_long": Recomputed(partial(optimum.chain_share, True, (3, 4, 5), slice(32, 64)), TRAINED),
    "P1.24 backward_short": Recomputed(partial(optimum.chain_share, False, (0, 1, 2), slice(8)), TRAINED),
    "P1.24 backward_long": Recomputed(
        partial(optimum.chain_share, False, (3, 4, 5), slice(32, 64)), TRAINED, r"\((0.7\d+)\)"
    ),
    "P1.26 subspace_excess": Recomputed(optimum.subspace_excess, TRAINED, r"by up to ([\d.]+\d)"),
    "P1.29 optimum_r2": Recomputed(recurrent.power_law, ROUNDING),
    "P1.29 exponential": Recomputed(recurrent.exponential, ROUNDING),
    "P1.39 short_long_ratio": Recomputed(optimum.short_long_ratio, SMALL_DIFFERENCE),
    "P1.39 coefficient_correlation": Recomputed(optimum.coefficient_correlation, ROUNDING),
    "P1.40 gap": Recomputed(partial(ranks.blocks_gap, 4), EXACT),
    "P1.40 tiled": Recomputed(partial(ranks.blocks_rank, DILATIONS * 3, 4), EXACT, r"κ is (\d+) tiled"),
    "P1.40 repeated": Recomputed(partial(ranks.blocks_rank, sorted(DILATIONS * 3), 4), EXACT, r"and (\d+) repeated"),
    "P1.49 homogeneous_residual": Recomputed(partial(optimum.homogeneous_residual, False), SMALL_DIFFERENCE),
    "P1.49 source_residual": Recomputed(partial(optimum.homogeneous_residual, True), JUDGED),
    "P1.50 capacity_correlation": Recomputed(optimum.capacity_correlation, ROUNDING),
    "P1.50 difficulty_correlation": Recomputed(optimum.difficulty_correlation, ROUNDING, r"correlation (-?[\d.]+\d)"),
    "P1.53 half_ratio": Recomputed(optimum.half_ratio, TRAINED, r"at least ([\d.]+) times"),
    "P2.07 divergence": Recomputed(propagation.divergence, ROUNDING),
    "P2.07 rescaled": Recomputed(propagation.rescaled, ROUNDING),
    "P2.12 median": Recomputed(propagation.dilated_median, ROUNDING),
    "P3.02 gaussian": Recomputed(spectra.gaussian_in_range, sampled(0.01)),
    "P3.05 lomax": Recomputed(spectra.lomax_gap, sampled(0.0085)),
    "P3.05 symmetric": Recomputed(spectra.symmetric_gap, sampled(0.0065)),
    "S4.02 short_length": Recomputed(partial(regions.length_exponent, 1 / 16, 1 / 4), sampled(0.021)),
    "S4.02 long_length": Recomputed(partial(regions.length_exponent, 16, 64), sampled(0.0025)),
    "S4.02 width": Recomputed(regions.width_exponent, sampled(0.006)),
    "S4.02 depth": Recomputed(regions.depth_exponent, sampled(0.006)),
    "S4.02 no_biases": Recomputed(regions.without_biases, sampled(0.009)),
    "S4.02 scale_free": Recomputed(regions.scale_change, EXACT),
    "S4.04 grows": Recomputed(regions.growth, sampled(0.006)),
    "S4.04 as_printed": Recomputed(regions.printed_bound, sampled(0.09)),
    "S4.04 published": Recomputed(regions.published_bound, sampled(0.0014)),
    "N2.02 order_blind": Recomputed(partial(note.exchange_share, False), JUDGED),
    "N2.02 order_aware": Recomputed(
        partial(note.exchange_share, True), Agreement(0, 0.05, "about half, whatever the weights and the network")
    ),
}
CLAIMS = QUICK | SLOW


@cache
def registry() -> dict[str, Any]:
    """Claims of book/claims.yml by id."""
    rows = yaml.load((ROOT / "book/claims.yml").read_text("utf8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))[
        "claims"
    ]
    return {row["id"]: row for row in rows}


@cache
def evidence() -> dict[str, dict[str, Any]]:
    """Claim → name of the check → number of the executed notebook, from the metadata of its outputs."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text("utf8"))["cells"]:
            for output in cell.get("outputs", []):
                stored = output.get("metadata", {}).get("capcore", {})
                if "claim" in stored:
                    found.setdefault(stored["claim"], {}).update(stored["values"])
    return found


def passes(test: dict[str, Any], value: Any) -> bool:
    """Whether a value passes a test of the registry."""
    [(kind, bound)] = test.items()
    if kind == "between":
        return bound[0] <= value <= bound[1]
    return {"at_most": value <= bound, "at_least": value >= bound}[kind] if kind.startswith("at") else value == bound


def disagreements(key: str, ours: Any) -> list[str]:
    """What a number disagrees with."""
    claim, name = key.split()
    row, found = CLAIMS[key], []
    tests = {check["name"]: check["test"] for check in registry()[claim]["checks"]}
    if name in tests:
        theirs, (relative, absolute, _) = evidence()[claim][name], row.agreement
        if passes(tests[name], ours) != passes(tests[name], theirs):
            found.append(f"{ours} and {theirs} are on two sides of {tests[name]}")
        if isinstance(theirs, list) or relative is None:
            agree = relative is None or ours == theirs
        else:
            agree = abs(ours - theirs) <= absolute + relative * abs(theirs)
        found += [] if agree else [f"{ours} is not the notebook's {theirs}"]
    if row.sentence:
        [printed] = re.findall(row.sentence, registry()[claim]["sentence"].replace("−", "-"))
        if abs(ours * row.scale - float(printed)) > 0.5 * 10.0 ** -len(printed.partition(".")[2]):
            found.append(f"{ours} is not the sentence's {printed}")
    return found
