"""Exponents of large layers, trained here: in the range, below all shuffles, with a power law that is not rejected."""

from itertools import product

import pandas as pd
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from capcore.spectra.models import RANGE
from chapters.kit.stored import stored
from chapters.spectra_resnets.large_layers import COLUMNS, TARGETS

LEVEL = 0.1  # of the test of the power law
NAMES = {"inside": "in [2, 5]", "below": "below all shuffles", "fits": "power law not rejected"}


def stored_table() -> pd.DataFrame:
    """One row a matrix of the stored networks: kind, targets, seed, layer, ``COLUMNS``."""
    content, rows = stored("large_layers"), []
    for kind, targets in product(content["values"], TARGETS):
        for seed, network in zip(content["settings"]["seeds"], content["values"][kind][targets], strict=True):
            table = pd.DataFrame({"layer": network["layers"], **{name: network[name] for name in COLUMNS}})
            rows.append(table.assign(kind=kind, targets=targets, seed=seed))
    return pd.concat(rows, ignore_index=True)


def shares(table: pd.DataFrame) -> dict[str, float]:
    """Shares of the matrices: α ``inside`` the range, α ``below`` all shuffles, and a power law that ``fits``: p > 0.1.

    >>> table = pd.DataFrame({"alpha": [1.5, 3.0], "null_low": [2.0, 2.0], "p_value": [0.5, 0.01]})
    >>> shares(table)
    {'inside': 0.5, 'below': 0.5, 'fits': 0.5}
    """
    inside, below = table["alpha"].between(*RANGE), table["alpha"] < table["null_low"]
    parts = {"inside": inside, "below": below, "fits": table["p_value"] > LEVEL}
    return {name: float(part.mean()) for name, part in parts.items()}


def smaller(table: pd.DataFrame) -> float:
    """Share of the matrices whose exponent is smaller than with shuffled targets, in its place and from its start."""
    both = table.pivot(index=["kind", "seed", "layer"], columns="targets", values="alpha")
    return float((both["true"] < both["shuffled"]).mean())


def answers(table: pd.DataFrame, claim: str) -> dict[str, float]:
    """Of the matrices with true targets, the values of the checks ``large…`` of P3.01 or P3.02, by their names."""
    true = shares(table[table["targets"] == "true"])
    if claim == "P3.01":
        return {"large": true["fits"]}
    return {"large": true["inside"], "large_shuffled": true["below"], "large_targets": smaller(table)}


def share_table(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`shares` of each kind of networks and targets, in percent, and how many matrices there are."""
    rows = {}
    for (kind, targets), some in table.groupby(["kind", "targets"], sort=False):
        percent = {NAMES[name]: f"{100 * share:.0f} %" for name, share in shares(some).items()}
        rows[f"{kind}s", targets] = {"matrices": len(some), **percent}
    return pd.DataFrame(rows).T.rename_axis(["", "targets"])


def plot_large(table: pd.DataFrame, kind: str, ax: Axes) -> Axes:
    """α of every matrix of one kind of network, layer by layer; logarithmic."""
    table = table[table["kind"] == kind]
    layers = list(dict.fromkeys(table["layer"]))
    for targets, colour, marker, shift in zip(TARGETS, CYCLE, "os", (-0.15, 0.15), strict=False):
        rows = table[table["targets"] == targets]
        heights = [layers.index(layer) + shift for layer in rows["layer"]]
        shuffles = "20 shuffles" if targets == TARGETS[0] else ""
        ax.hlines(heights, rows["null_low"], rows["null_high"], color="0.6", linewidth=2.5, alpha=0.5, label=shuffles)
        ax.plot(rows["alpha"], heights, marker, color=colour, markersize=4, label=f"{targets} targets")
    ax.axvspan(*RANGE, color="0.93", zorder=0, label="2 to 5")
    ax.set(xscale="log", xlabel="exponent α", ylim=(len(layers) - 0.5, -0.5), title=f"{kind}s")
    ax.set_yticks(range(len(layers)), [short(layer) for layer in layers])
    ticks = [2, 3, 5, 10, 20, 50]
    ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
    ax.xaxis.set_minor_formatter("")
    return ax


def short(layer: str) -> str:
    """Its name on an axis.

    >>> short("block1.query"), short("layer2")
    ('query 1', 'layer 2')
    """
    kind, _, name = layer.partition(".")
    return f"{name or kind[:-1]} {kind[-1]}"
