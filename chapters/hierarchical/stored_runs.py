"""What the stored experiments of the hierarchical chapter describe, and the numbers that its text takes from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.architectures import Hierarchical
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters.hierarchical import lbfgs_sweep
from chapters.hierarchical.eigenvalue_counts import count_models
from chapters.hierarchical.study import Sweep, sweep


def describes(settings: dict[str, Any], arch: Hierarchical, process: Process, channels: int | None = None) -> bool:
    """Whether stored results with these settings are of this process and of models with these layers.

    With ``channels``, the model must also have that many in every hidden layer.

    >>> describes({"n_layers": 6, "kernel_size": 2}, Hierarchical(4, 6), PowerLaw(0.5))
    True
    """
    same = arch.kernel_sizes == settings["n_layers"] * [settings["kernel_size"]] and arch.has_disjoint_supports
    return same and process == PowerLaw() and (channels is None or set(arch.channels) == {channels})


@dataclass(frozen=True)
class RegisteredStops:
    """Where L-BFGS-B stops, as the claims judge it.

    Attributes
    ----------
    loss : (m,) final loss of each model. benchmark : that of the fully connected model.
    speedup : see ``speedup``.
    tenfold : for each family, whether 64 channels end at a loss
        at least ten times lower than 8. is_stored : whether these are the stored runs.
    """

    loss: np.ndarray
    benchmark: float
    speedup: float
    tenfold: list[bool]
    is_stored: bool


def registered_stops(
    content: dict[str, Any],
    live: Sweep,
    benchmark: float,
    pair: Mapping[str, Hierarchical],
    process: Process,
    seed: int = 0,
    **options: Any,
) -> RegisteredStops:
    """The stored stopping points where they are of these models, process and seed, otherwise those made now.

    Parameters
    ----------
    content : ``stored("lbfgs_sweep")``. live, benchmark : the stopping points made now.
    pair : the two models, narrow and wide, that are compared. options : of L-BFGS-B.
    """
    settings, values = content["settings"], content["values"]
    models = list(live.models.values())
    same = (
        len(models) == len(settings["channels"])
        and all(describes(settings, arch, process, c) for arch, c in zip(models, settings["channels"], strict=True))
        and seed in settings["seeds"]
        and options["max_iterations"] == settings["max_iterations"]
    )
    if same:
        k = settings["seeds"].index(seed)
        races = [[losses[str(c)][k] for c in settings["family_channels"]] for losses in values["families"].values()]
        loss = np.array([losses[k] for losses in values["losses"].values()])
        benchmark, ratio = values["benchmark"][k], values["speedup"][k]
    else:
        brief = {**options, "max_iterations": min(settings["family_max_iterations"], options["max_iterations"])}
        races = [sweep(pair, family(), seed=seed, **brief).loss.tolist() for family in FAMILIES.values()]
        loss, ratio = live.loss, lbfgs_sweep.speedup(*sweep(pair, process, seed=seed, **options).fits.values())
    return RegisteredStops(loss, benchmark, ratio, [narrow >= 10 * wide for narrow, wide in races], same)


def registered_counts(
    content: dict[str, Any], models: Mapping[str, Hierarchical], process: Process, seed: int = 0
) -> dict[str, Any]:
    """The stored counts where they are of these models, process and seed, otherwise those counted now.

    ``content`` is ``stored("eigenvalue_counts")``.
    """
    settings = content["settings"]
    same = (
        list(models) == list(content["values"]["right"])
        and all(describes(settings, arch, process) for arch in models.values())
        and seed == settings["seed"]
    )
    return content["values"] if same else count_models(models, process, seed)


def large_runs(content: dict[str, Any], arch: Hierarchical, process: Process, seed: int = 0) -> dict[str, Any]:
    """The large model by both methods: stored runs where they are of this model, process and seed, else new ones.

    ``content`` is ``stored("lbfgs_sweep")``; returns what ``large_runs`` does.
    """
    settings = content["settings"]
    if describes(settings, arch, process, settings["large_channels"]) and seed == settings["seeds"][0]:
        return content["values"]["large"]
    return lbfgs_sweep.large_runs(arch, process, seed, settings)


def loss_ratios(values: dict[str, Any], way: str) -> dict[int, list[float]]:
    """Channels → largest final loss over the starts divided by the default fit's, one value per family.

    ``values`` are those of ``stored("random_starts")``; ``way`` is plain or rebalanced. Families whose target is
    attained at some width (a loss below 1e-26) are left out: there is nothing to divide by.
    """
    found: dict[int, list[float]] = {}
    for cases in values.values():
        if min(case["reference"][0] for case in cases.values()) > 1e-26:
            for c, case in cases.items():
                found.setdefault(int(c), []).append(max(case[f"{way}_loss"]) / case["reference"][0])
    return found


def nudge_ratios(content: dict[str, Any]) -> dict[int, np.ndarray]:
    """Channels → losses of starts a rounding error apart, divided by their median. ``content`` : "lbfgs_sweep"."""
    return {int(c): losses / np.median(losses) for c, losses in content["values"]["nudged"].items()}


def nudge_statistics(content: dict[str, Any]) -> dict[str, float]:
    """Where nudged starts stop elsewhere, and by how much; ``content`` is ``stored("lbfgs_sweep")``.

    Losses are compared by the factor between the largest and the smallest; a factor below 1.01 counts as none. Raises
    ``ValueError`` where there is no such factor, or none from some number of channels on.

    Returns
    -------
    ``first``, ``last`` : fewest and most channels with a scatter. ``calm`` : fewest channels beyond without one.
    ``worst``, ``worst_channels`` : the largest factor, and where it is. ``milder`` : the largest factor elsewhere.
    ``worst_iterations``, ``calm_iterations`` : length of the first seed's run at these channels.
    """
    factors = {c: float(ratios.max() / ratios.min()) for c, ratios in nudge_ratios(content).items()}
    scattered = [c for c, factor in factors.items() if factor >= 1.01]
    if not scattered or max(scattered) == max(factors):
        raise ValueError(f"nudged: found factors {factors}, expected some above 1.01 and none at the widest model.")
    worst = max(factors, key=lambda c: factors[c])
    calm = min(c for c in factors if c > max(scattered))
    iterations = {c: runs[0] for c, runs in content["values"]["iterations"].items()}
    return {
        "first": min(scattered),
        "last": max(scattered),
        "calm": calm,
        "worst": factors[worst],
        "worst_channels": worst,
        "milder": max(factor for c, factor in factors.items() if c != worst),
        "worst_iterations": iterations[str(worst)],
        "calm_iterations": iterations[str(calm)],
    }


def tenfold_count(content: dict[str, Any]) -> tuple[int, int]:
    """How often the wide model's loss is at least ten times lower than the narrow one's, over families and seeds.

    ``content`` is ``stored("lbfgs_sweep")``; returns the count and the number of pairs.
    """
    narrow, wide = np.array([list(each.values()) for each in content["values"]["families"].values()]).swapaxes(0, 1)
    return int(np.count_nonzero(narrow >= 10 * wide)), narrow.size


def start_statistics(values: dict[str, Any], fewest_channels: int = 2) -> dict[str, float]:
    """What random starts came to, over all models with at least so many channels; AR(1) is left out.

    Returns
    -------
    ``cases``, ``gap`` : families times widths, and the largest relative gap in a coefficient between a rebalanced
    run and the default fit. ``nonzero``, ``stuck``, ``worst`` : of the cases in :func:`loss_ratios` how many there
    are, in how many a run without rebalancing ended more than one per cent above the default, and the largest ratio.
    """
    gaps = [
        max(case["rebalanced_gap"])
        for family, cases in values.items()
        for c, case in cases.items()
        if family != "AR1" and int(c) >= fewest_channels
    ]
    plain = [x for c, ratios in loss_ratios(values, "plain").items() if c >= fewest_channels for x in ratios]
    stuck = sum(ratio > 1.01 for ratio in plain)
    return {"cases": len(gaps), "gap": max(gaps), "nonzero": len(plain), "stuck": stuck, "worst": max(plain)}
