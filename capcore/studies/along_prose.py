"""The numbers that the chapter on training and every measure cites in its text, as strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from capcore.spectra.rank_intervals import copula_interval
from capcore.studies.along_summaries import Kinds, interval, ratios, short_of, text, verdict

Values = Mapping[str, Kinds]  # activation → kind of labels → measure → (n_snapshots, n_seeds)
REGIONS = ("participation", "boundary.ball", "pieces", "patterns", "transitions")


def experiment_prose(values: Values, settings: Mapping[str, object]) -> dict[str, str]:
    """What was trained, and how far shuffled labels are memorised."""
    accuracy = {name: kinds["shuffled"]["accuracy"][-1].mean() for name, kinds in values.items()}
    n_images = int(str(settings["n_images"]))
    width = int(str(settings["width"]))
    return {
        "along_n_images": str(n_images),
        "along_n_rows": f"{10 * n_images:,}",
        "along_n_params": f"{65 * width + (width + 1) * width + 10 * (width + 1):,}",
        **{f"along_accuracy_{name}": f"{value:.3f}" for name, value in accuracy.items()},
    }


def live_prose(gap: float | None) -> str:
    """What networks trained here have to do with the stored ones, by the largest relative difference early on."""
    if gap is None:
        return "What is trained here are other networks than the stored ones."
    if gap > 1e-3:
        return "What is trained here differs from the stored numbers already in the first three epochs."
    return "What is trained here gives the stored numbers of the first three epochs to three digits."


def rank_prose(values: Values) -> dict[str, str]:
    """Ranks, their ceilings, dead units and leverage."""
    relu, tanh = values["relu"], values["tanh"]
    below, left = ({name: short_of(values, what, name) for name in values} for what in ("ceiling", "limit"))
    share = {name: np.mean([t["rank"][-1] / t["bound"][-1] for t in kinds.values()]) for name, kinds in values.items()}
    unseen = {
        round(t["ceiling"][-1].mean() - t["seen"][-1].mean()) for kinds in values.values() for t in kinds.values()
    }
    found = {
        "along_share_relu": f"{100 * share['relu']:.0f} %",
        "along_share_tanh": f"{100 * share['tanh']:.0f} %",
        "along_rank_tanh": " or ".join(f"{n:,.0f}" for n in np.unique([t["rank"] for t in tanh.values()])),
        "along_below_relu": f"{np.count_nonzero(below['relu'])} of {len(below['relu'])}",
        "along_below_worst": f"{below['relu'].max():.0f}",
        "along_below_tanh": " or ".join(f"{n:.0f}" for n in np.unique(below["tanh"])),
        "along_n_tanh": str(np.count_nonzero(left["tanh"] == 0)),
        "along_n_relu": str(len(left["relu"])),
        "along_exact_relu": str(np.count_nonzero(left["relu"] == 0)),
        "along_limit_worst": f"{left['relu'].max():.0f}",
        "along_limit_mean": f"{left['relu'][left['relu'] > 0].mean():.1f}",
        "along_dead_start": f"{relu['right']['dead'][0].mean():.1f}",
        "along_unseen": " or ".join(map(str, sorted(unseen))),
        "along_uneven_start": f"{relu['right']['unevenness'][0].mean():.2f}",
    }
    for kind, table in relu.items():
        found[f"along_dead_{kind}"] = f"{table['dead'][-1].mean():.1f}"
        found[f"along_rank_{kind}"] = f"{table['rank'][-1].mean():,.0f}"
        found[f"along_rank_test_{kind}"] = f"{table['test rank'][-1].mean():,.0f}"
        found[f"along_uneven_{kind}"] = f"{table['unevenness'][-1].mean():.2f}"
    least = min(table["gap"].min() for kinds in values.values() for table in kinds.values())
    return {**found, "along_gap": f"{10 ** int(np.log10(least)):,}"}


def boundary_prose(kinds: Kinds) -> dict[str, str]:
    """Boundary densities: what training makes of them, and one place against the other."""
    found: dict[str, str] = {}
    compared = ratios(kinds, ["boundary.ball", "boundary.near"])
    for kind, table in kinds.items():
        found[f"along_ball_{kind}"] = text(compared[kind]["boundary.ball"])
        found[f"along_near_{kind}"] = text(compared[kind]["boundary.near"])
        found[f"along_places_{kind}"] = text(interval(table["boundary.near"][-1] / table["boundary.ball"][-1]))
    return found


def measure_prose(values: Values, names: Sequence[str]) -> dict[str, str]:
    """How many of the ReLU measures go up and down, and single ratios."""
    relu, tanh = ratios(values["relu"], names), ratios(values["tanh"], ["fisher", "participation"])
    found: dict[str, str] = {}
    for kind in ("right", "shuffled"):
        verdicts = [verdict(each) for each in relu[kind].values()]
        found |= {f"along_{way}_{kind}": _number(verdicts.count(way)) for way in ("up", "down")}
        found[f"along_loss_{kind}"] = f"{values['relu'][kind]['loss'][-1].mean():.1g} nats"
        found["along_part_" + kind] = text(relu[kind]["participation"])
        found["along_part_tanh_" + kind] = text(tanh[kind]["participation"])
    apart = [verdict(each) for each in relu["labels"].values()]
    return found | {
        "along_n_apart_cap": _number(len(apart) - apart.count("level")).capitalize(),
        "along_labels_transitions": text(relu["labels"]["transitions"]),
        "along_labels_fisher": text(relu["labels"]["fisher"]),
        "along_equal_fisher": text(relu["equal loss"]["fisher"]),
        "along_equal_fisher_tanh": text(tanh["equal loss"]["fisher"]),
        "along_equal_logits": text(relu["equal loss"]["logits"]),
        "along_labels_part": text(relu["labels"]["participation"]),
        "along_labels_part_tanh": text(tanh["labels"]["participation"]),
    }


def agreement_prose(names: Sequence[str], clear: np.ndarray, beyond: np.ndarray, n_seeds: int) -> dict[str, str]:
    """How many pairs of measures agree, and from which correlation on that shows with so many networks."""
    below = np.tril_indices(len(names), -1)
    among = [names.index(name) for name in REGIONS]
    steps = np.linspace(0, 1, 101)
    shown = next(rho for rho in steps if copula_interval(float(rho), n_seeds)[0] > 0)
    return {
        "along_n_pairs": str(len(below[0])),
        "along_n_clear": str(np.count_nonzero(clear[below])),
        "along_n_beyond": str(np.count_nonzero(beyond[below])),
        "along_within_regions": str(np.count_nonzero(np.tril(beyond[np.ix_(among, among)]))),
        "along_detectable": f"{shown:.2f}",
    }


def _number(n: int) -> str:
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[n]
