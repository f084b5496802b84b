"""The numbers that the chapter on training and every measure cites in its text, as strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from chapters.along_training.along_agreement import Within, correlation
from chapters.along_training.along_summaries import Kinds, interval, labels_ratio, ratios, short_of, text, verdict
from chapters.shared.rank_intervals import copula_interval

Values = Mapping[str, Kinds]  # activation → kind of labels → measure → (n_snapshots, n_seeds)
REGIONS = ("participation", "boundary.ball", "pieces", "patterns", "transitions")
STEEP = ("length", "logits", "fisher")


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
        **{
            f"along_test_{kind}_{name}": _span(kinds[kind]["test_accuracy"][-1], ".2f")
            for name, kinds in values.items()
            for kind in kinds
        },
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
        "along_uneven_start": f"{relu['right']['unevenness'][0].mean():.2f}",
    }
    for name, kinds in values.items():
        unseen = [table["rank"] - table["rank.seen"] for table in kinds.values()]
        found[f"along_unseen_{name}"] = _span(np.concatenate(unseen), ".0f")
    for at, epoch in ((2, "three"), (3, "ten"), (-1, "end")):
        found[f"along_rank_labels_{epoch}"] = text(interval(labels_ratio(relu, "rank", at)))
    for kind, table in relu.items():
        found[f"along_dead_three_{kind}"] = f"{table['dead'][2].mean():.1f}"
        found[f"along_dead_rank_{kind}"] = _signed(correlation(relu, "dead", "rank", [kind])[0])
        found[f"along_dead_{kind}"] = f"{table['dead'][-1].mean():.1f}"
        found[f"along_rank_{kind}"] = f"{table['rank'][-1].mean():,.0f}"
        found[f"along_rank_test_{kind}"] = f"{table['test rank'][-1].mean():,.0f}"
        found[f"along_uneven_{kind}"] = f"{table['unevenness'][-1].mean():.2f}"
    for name, kinds in values.items():
        least = min(table[where + "gap"].min() for table in kinds.values() for where in ("", "test "))
        found[f"along_gap_{name}"] = f"{10 ** int(np.log10(least)):,}"
    return found


def crowd_prose(missed: Mapping[str, np.ndarray], values: Values, new: Mapping[str, np.ndarray]) -> dict[str, str]:
    """What was found in the states (n_missed,) where the ceiling is missed, and in all states of ``new`` starts."""
    rank, met, n_states = missed["rank"], missed["sharper"] == missed["rank"], len(short_of(values, "limit", "relu"))
    least = np.minimum(missed["nothing"], missed["images"])
    short = new["limit"] > new["rank"]
    left = (new["sharper"] - new["rank"])[short]
    return {
        "along_crowd_missed": str(len(rank)),
        "along_crowd_pattern": str(np.count_nonzero(missed["pattern"] == rank)),
        "along_crowd_images": str(np.count_nonzero(least == rank)),
        "along_crowd_met": str(np.count_nonzero(met)),
        "along_crowd_all": str(n_states - np.count_nonzero(~met)),
        "along_new_states": str(len(short)),
        "along_new_missed": str(len(left)),
        "along_new_met": str(np.count_nonzero(left == 0)),
        "along_new_left": f"{left.max(initial=0):.0f}",
    }


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
    relu, tanh = (
        ratios(values["relu"], names),
        ratios(values["tanh"], ["fisher", "participation", "probabilities", "curve"]),
    )
    found: dict[str, str] = {}
    for kind in ("right", "shuffled"):
        verdicts = [verdict(each) for each in relu[kind].values()]
        found |= {f"along_{way}_{kind}": _number(verdicts.count(way)) for way in ("up", "down")}
        found[f"along_loss_{kind}"] = f"{values['relu'][kind]['loss'][-1].mean():.1g} nats"
        found["along_part_" + kind] = text(relu[kind]["participation"])
        found["along_part_tanh_" + kind] = text(tanh[kind]["participation"])
        found["along_curve_" + kind] = text(tanh[kind]["curve"])
    apart = [verdict(each) for each in relu["labels"].values()]
    return found | {
        "along_n_apart_cap": _number(len(apart) - apart.count("level")).capitalize(),
        "along_prob_right": text(relu["right"]["probabilities"]),
        "along_prob_tanh_right": text(tanh["right"]["probabilities"]),
        "along_labels_transitions": text(relu["labels"]["transitions"]),
        "along_labels_fisher": text(relu["labels"]["fisher"]),
        "along_equal_fisher": text(relu["equal loss"]["fisher"]),
        "along_equal_fisher_tanh": text(tanh["equal loss"]["fisher"]),
        "along_equal_logits": text(relu["equal loss"]["logits"]),
        "along_labels_part": text(relu["labels"]["participation"]),
        "along_labels_part_tanh": text(tanh["labels"]["participation"]),
    }


def agreement_prose(names: Sequence[str], clear: np.ndarray, beyond: np.ndarray, n_seeds: int) -> dict[str, str]:
    """How many pairs of measures agree, how many would by chance, and from which correlation on that shows."""
    below = np.tril_indices(len(names), -1)
    among = [names.index(name) for name in REGIONS]
    steps = np.linspace(0, 1, 101)
    shown = next(rho for rho in steps if copula_interval(float(rho), n_seeds)[0] > 0)
    return {
        "along_n_pairs": str(len(below[0])),
        "along_n_clear": str(np.count_nonzero(clear[below])),
        "along_n_beyond": str(np.count_nonzero(beyond[below])),
        "along_n_beyond_chance": f"{len(below[0]) * 2 * 0.025**2:.1f}",
        "along_within_regions": str(np.count_nonzero(np.tril(beyond[np.ix_(among, among)]))),
        "along_detectable": f"{shown:.2f}",
    }


def within_prose(within: Within, rho: np.ndarray, kinds: Kinds) -> dict[str, str]:
    """What pairs of measures do within one kind of labels, both kinds pooled; ``rho`` (k, k) over all networks."""
    counts = (*REGIONS[:2], "boundary.near", *REGIONS[2:])
    block, chance = within.block(STEEP, counts)
    below = np.tril_indices(len(within.names), -1)
    clear = within.chance[below] < 0.05
    found = {
        "along_within_negative": f"{np.count_nonzero(block < 0)} of {block.size}",
        "along_within_mean": _signed(block.mean()),
        "along_within_chance": f"{chance:.3f}",
        "along_within_largest": f"{within.largest:.2f}",
        "along_within_clear": str(np.count_nonzero(clear)),
        "along_within_by_chance": f"{0.05 * len(clear):.0f}",
    }
    pairs = {"steep": ("logits", "length"), "part": ("logits", "participation"), "pieces": ("fisher", "pieces")}
    for key, pair in pairs.items():
        value, p = within.pair(*pair)
        found[f"along_within_{key}"] = f"{_signed(value)} (p = {p:.3f})"
        if value < 0:
            found[f"along_over_{key}"] = _signed(rho[within.names.index(pair[0]), within.names.index(pair[1])])
    fits = [correlation(kinds, "fisher", "loss", [kind])[0] for kind in kinds]
    return {**found, "along_fisher_loss": _signed(min(fits))}


def _signed(rho: float) -> str:
    """A correlation to two decimals, with its sign: a true minus."""
    return f"{rho:+.2f}".replace("-", "−")


def _span(samples: np.ndarray, form: str) -> str:
    """Text such as "0.90 to 0.93", or one number if both are the same."""
    low, high = (format(end, form) for end in (samples.min(), samples.max()))
    return low if low == high else f"{low} to {high}"


def _number(n: int) -> str:
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[n]
