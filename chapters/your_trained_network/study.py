"""A small network that reads digits, as a reader's own would be: the images that it leans on, and its weight decay."""

import warnings
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

import capcore as cc
from capcore.capacity.allocation import CapacityWarning


def network(params: Any, x: Any) -> Any:
    """(n, 10) logits of images (n, 64), with biases that the chapter's listing does without."""
    hidden = jnp.tanh(x @ params["hidden"] + params["bias"])
    return hidden @ params["out"] + params["shift"]


def extremes(leverage: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the examples with the largest and with the smallest leverage (n,), each in order.

    >>> [each.tolist() for each in extremes(np.array([0.2, 0.9, 0.1, 0.5]), 2)]
    [[1, 3], [2, 0]]
    """
    order = np.argsort(leverage)
    return order[::-1][:count], order[:count]


def three_numbers(params: Any, x: np.ndarray, y: np.ndarray, decay: float) -> list[str]:
    """A table of the totals that one network of tanh units can give, from weights where training stopped, in words."""
    options: dict[str, Any] = {"loss": "cross-entropy", "weight_decay": decay}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CapacityWarning)  # it is what the table is about
        early = cc.allocate_network(network, params, x, y, curvature="full", **options)
        end = cc.networks.polish(network, params, x, y, **options)
        late = cc.allocate_network(network, end.params, x, y, curvature="full", **options)
    rows = [
        ("**Gauss–Newton, at the trained weights**", early.gauss_newton_total, "the trained network: report this one"),
        ("full Hessian, at the trained weights", early.total, "no network: the weights are no optimum"),
        ("full Hessian, after `polish`", late.total, "the polished network, when it is trained again"),
        ("Gauss–Newton, after `polish`", late.gauss_newton_total, "the polished network"),
    ]
    lines = [f"| {name} | {total:.0f} | {whose} |" for name, total, whose in rows]
    return ["\n".join(["| | total | belongs to |", "|---|---|---|", *lines])]


def decided(table: pd.DataFrame, foretold: float, losses: Mapping[float, np.ndarray]) -> list[str]:
    """What networks at several decays, rows of ``table``, say about the choice; and what one network has foretold.

    ``losses`` : decay → (N,) losses left out. Decays tie with the best one within one standard error of the mean
    difference of their losses.
    """
    chosen, best = (float(table[name].idxmin()) for name in ("left out", "tests"))
    least, got = table["tests"].min(), table["tests"].loc[chosen]
    true, said = ((table[name] - table["training"]).to_numpy() for name in ("tests", "left out"))
    ties = [f"{each:.3g}" for each in table.index if _ties(losses[each] - losses[chosen])]
    return [
        f"Leave-one-out is least at decay {chosen:.3g}, with a loss of {got:.3f} on the test images;",
        f"the least of the five is {least:.3f}, at decay {best:.3g}.",
        f"Decays {', '.join(ties)} are within a standard error of it: keep {ties[-1]}." if len(ties) > 1 else "",
        f"Extrapolating from the one network, decay {foretold:.2g} looks best.",
        f"Test images lose more than training images do, between {true.min():.2f} and {true.max():.2f} more;",
        f"leave-one-out predicts {said.min():.2f} to {said.max():.2f}. Eight data sets follow.",
    ]


def _ties(differences: np.ndarray) -> bool:
    """Whether the mean of differences (N,) is no larger than its standard error."""
    return bool(differences.mean() <= differences.std(ddof=1) / np.sqrt(len(differences)))
