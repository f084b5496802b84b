"""What the page on pretrained networks shows: shares of layers, the same of spectra with a known law, and intervals."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from capcore.spectra.alternatives import ALTERNATIVES
from capcore.spectra.models import RANGE
from chapters.kit.stored import stored
from chapters.pretrained_spectra.sources import SOURCES

TESTS = {"fits": "not rejected", "no_other": "no other law preferred", "exponential": "preferred to an exponential"}
"""Column of :func:`passed` → its name on the page."""
KINDS = {"": "as found", "law": "true tails", "entries": "power-law entries", "noise": "Gaussian noise"}
"""Prefix of the columns → spectra, in the order of the page."""
LEVEL = 0.1
WIDE = (2.0, 6.0)
LARGE = 256
"""Rows and columns, at least, of a large layer."""
ENOUGH = 0.9
CONFIDENCE, N_RESAMPLES = 97.5, 4_000


def _networks() -> dict[str, Any]:
    """Key → what is stored of the network."""
    return dict(stored("pretrained_spectra")["values"]["networks"])


def layer_table() -> pd.DataFrame:
    """One row a layer of all networks, with its network's ``key`` and ``field``."""
    parts = [pd.DataFrame({"key": key, **network["layers"]}) for key, network in _networks().items()]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(field=[SOURCES[key].field for key in table["key"]])


def slice_table() -> pd.DataFrame:
    """``key`` and ``alpha`` of every matrix as the draft counts them: slices of kernels, and linear layers."""
    layers = layer_table()
    slices = [pd.DataFrame({"key": key, "alpha": network["slices"]}) for key, network in _networks().items()]
    return pd.concat([layers.loc[layers["kind"] == "linear", ["key", "alpha"]], *slices], ignore_index=True)


def passed(table: pd.DataFrame, kind: str = "") -> pd.DataFrame:
    """Which layers pass each of :data:`TESTS`, as found or for one kind of spectra with a known law.

    kind : a key of :data:`KINDS`.
    """
    values = table[[f"{kind} {name}".strip() for name in ("p_value", *ALTERNATIVES)]]
    values = values.set_axis(["p_value", *ALTERNATIVES], axis=1)
    fits, no_other = values["p_value"] > LEVEL, values[[*ALTERNATIVES]].min(axis=1) >= 0
    return pd.DataFrame({"fits": fits, "no_other": no_other, "exponential": values["exponential"] > 0})


def inside(alphas: pd.Series, bounds: tuple[float, float] = RANGE) -> pd.Series:
    """Whether each exponent lies in a closed range; the same index.

    >>> inside(pd.Series([1.9, 2.0, 5.0])).tolist()
    [False, True, True]
    """
    return alphas.between(*bounds)


def below_chance(table: pd.DataFrame) -> pd.Series:
    """Layers whose exponent is below the null's median, with a two-sided p-value of at most 0.05."""
    return (table["alpha"] < table["null_median"]) & (table["null_p_value"] <= 0.05)


def is_large(table: pd.DataFrame) -> pd.Series:
    """Layers whose matrices have enough rows and columns to be called large."""
    return table[["rows", "columns"]].min(axis=1) >= LARGE


def upper_end(keys: pd.Series, numerators: pd.DataFrame, denominators: pd.DataFrame) -> float:
    """Upper end of the 95 % interval of the least of several ratios of sums, networks drawn with replacement.

    keys : the network of each row. numerators, denominators : of the ratios, a column each.
    """
    names = list(dict.fromkeys(keys))
    above, below = (part.groupby(keys.to_numpy(), sort=False).sum().loc[names] for part in (numerators, denominators))
    drawn = np.random.default_rng(0).integers(len(names), size=(N_RESAMPLES, len(names)))
    ratios = above.to_numpy(float)[drawn].sum(axis=1) / np.maximum(below.to_numpy(float)[drawn].sum(axis=1), 1)
    return float(np.percentile(ratios.min(axis=1), CONFIDENCE))


def ratios(table: pd.DataFrame) -> pd.Series:
    """Share of layers that pass each test, divided by that of true tails."""
    return passed(table).mean() / passed(table, "law").mean()


def of_power_laws(table: pd.DataFrame) -> dict[str, float]:
    """Values of the checks of P3.01 on pretrained networks, by their names in the registry, whose bounds are older."""
    tails, law = passed(table), passed(table, "law")
    language = ratios(table[table["field"] == "language"])
    least = ratios(table)
    values = {
        "pretrained_fits_ratio": least["fits"],
        "pretrained_no_other_ratio": least["no_other"],
        "pretrained_exponential_ratio": least["exponential"],
        "pretrained_upper": upper_end(table["key"], tails, law),
        "pretrained_language": language.min(),
        "pretrained_power": law[["fits", "no_other"]].mean().min(),
        "pretrained_fits": tails["fits"].mean(),
        "pretrained_no_other": tails["no_other"].mean(),
        "pretrained_large": tails["fits"][is_large(table)].mean(),
        "pretrained_favoured": (table["law likeliest"] > 0).mean(),
        "pretrained_entries": passed(table, "entries")["fits"].mean(),
        "pretrained_noise": 1 - passed(table, "noise")["fits"].mean(),
        "pretrained_span": table["span"].median(),
    }
    return {name: float(value) for name, value in values.items()}


def of_range(table: pd.DataFrame, matrices: pd.DataFrame) -> dict[str, float]:
    """Values of the checks of P3.02 on pretrained networks, by their names in the registry, whose bounds are older.

    table : of :func:`layer_table`. matrices : of :func:`slice_table`.
    """
    held, large = inside(table["alpha"]), table[is_large(table)]
    ends = [
        upper_end(part["key"], inside(part["alpha"]).to_frame(), part["alpha"].notna().to_frame())
        for part in (table, matrices)
    ]
    values = {
        "pretrained_slices": inside(matrices["alpha"]).mean(),
        "pretrained_pooled": held.mean(),
        "pretrained_networks": (held.groupby(table["key"]).mean() >= ENOUGH).mean(),
        "pretrained_upper": max(ends),
        "pretrained_language": held[table["field"] == "language"].mean(),
        "pretrained_wide": inside(table["alpha"], WIDE).mean(),
        "pretrained_control": inside(table["spread alpha"]).mean(),
        "pretrained_chance": inside(large["alpha"]).mean() - inside(large["null_median"]).mean(),
        "pretrained_below": below_chance(table).mean(),
    }
    return {name: float(value) for name, value in values.items()}


def network_table(table: pd.DataFrame) -> pd.DataFrame:
    """One row a network: package, licence, layers analysed and left out, and three shares of its layers."""
    networks, lines = _networks(), {}
    for key, some in table.groupby("key", sort=False):
        source = SOURCES[str(key)]
        package, version = source.packages[0].split("==")
        several = f", {len(source.packages)} parts" if len(source.packages) > 1 else ""
        lines[source.title] = {
            "package": f"{package} {version}{several}",
            "licence": source.licence,
            "layers": len(some),
            "left out": len(networks[key]["left_out"]),
            "α in [2, 5]": _percent(inside(some["alpha"]).mean()),
            "α below chance": _percent(below_chance(some).mean()),
            "not rejected": _percent(passed(some)["fits"].mean()),
        }
    return pd.DataFrame(lines).T.rename_axis("network")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def plot_networks(table: pd.DataFrame, ax: Axes, highest: float = 20.0) -> Axes:
    """α of every layer, a row for each network, above the middle 80 % of the layers' nulls (bars); logarithmic.

    Exponents above ``highest`` are drawn there.
    """
    lines, keys = pd.factorize(table["key"])
    trained, chance = (table[column].clip(upper=highest).to_numpy() for column in ("alpha", "null_median"))
    ax.axvspan(*RANGE, color="0.93", zorder=0)
    heights = lines + np.random.default_rng(0).uniform(-0.3, 0.1, len(table))
    ax.plot(trained, heights, "o", color=CYCLE[0], markersize=3, alpha=0.7, mew=0)
    low, middle, high = (pd.Series(chance).groupby(lines).quantile(share) for share in (0.1, 0.5, 0.9))
    ax.hlines(low.index + 0.3, low, high, color="0.6", linewidth=3)
    ax.plot(middle, middle.index + 0.3, "|", color="black", markersize=8)
    for values, name, colour in (trained, "trained", CYCLE[0]), (chance, "chance", "0.3"):
        ax.text(np.median(values[lines == 0]), -0.6, name, color=colour, ha="center")
    ax.set(xscale="log", xlabel="exponent α", ylim=(len(keys) - 0.4, -1.2), xlim=(1.2, highest * 1.05))
    ax.set_yticks(range(len(keys)), [SOURCES[key].title for key in keys])
    ticks = [1.5, 2, 3, 5, 10, highest]
    ax.set_xticks(ticks, [*(f"{tick:g}" for tick in ticks[:-1]), f"{highest:g}+"])
    ax.xaxis.set_minor_formatter("")
    return ax
