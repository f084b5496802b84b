"""A small network that reads digits, as a reader's own would be: data, start, and the images that it leans on."""

import warnings
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

import capcore as cc
from capcore.capacity.allocation import CapacityWarning
from chapters.shared.data import digits


class Reading:
    """Digits, and a start of a network with one hidden layer: ``params``, name → random weights.

    >>> found = Reading(100, 8, 0)
    >>> {name: weights.shape for name, weights in found.params.items()}
    {'hidden': (64, 8), 'bias': (8,), 'out': (8, 10), 'shift': (10,)}
    """

    def __init__(self, n_images: int, width: int, seed: int) -> None:
        data, rng = digits(), np.random.default_rng(seed)
        self.x, self.y = data.x[:n_images].astype(float), data.y[:n_images]
        self.x_test, self.y_test = data.x_test.astype(float), data.y_test
        self.params = {
            "hidden": rng.normal(size=(64, width)) / 8,
            "bias": np.zeros(width),
            "out": rng.normal(size=(width, 10)) / np.sqrt(width),
            "shift": np.zeros(10),
        }


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


def compared(values: Mapping[str, Any], strongest: float) -> dict[str, Any]:
    """What networks of the stored weight decays up to ``strongest`` have in common, over all starts.

    ``totals`` : means of the total at the strongest decay and at the weakest. ``tests`` : least and largest share of
    test images recognised. ``own``, ``spread`` : least correlation of a map of pixels with that of the same start at
    decay 1, and with the pixels' standard deviation.
    """
    which = [i for i, decay in enumerate(values["decays"]) if decay <= strongest]
    usual, starts = values["decays"].index(1.0), values["starts"]
    maps = np.array([[seen["pixels"] for seen in course] for course in starts])
    tests = [course[i]["tests"] for course in starts for i in which]
    spread = Reading(500, 2, 0).x.std(axis=0)  # the images of the stored networks
    return {
        "totals": [float(np.mean([course[i]["total"] for course in starts])) for i in (which[-1], which[0])],
        "tests": [min(tests), max(tests)],
        "own": min(np.corrcoef(each[usual], each[i])[0, 1] for each in maps for i in which),
        "spread": min(np.corrcoef(each[i], spread)[0, 1] for each in maps for i in which),
    }


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
