"""A small network that reads digits, as a reader's own would be: the images that it leans on, and its weight decay."""

from collections.abc import Mapping

import numpy as np
import pandas as pd


def extremes(leverage: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the examples with the largest and with the smallest leverage (n,), each in order.

    >>> [each.tolist() for each in extremes(np.array([0.2, 0.9, 0.1, 0.5]), 2)]
    [[1, 3], [2, 0]]
    """
    order = np.argsort(leverage)
    return order[::-1][:count], order[:count]


def decided(table: pd.DataFrame, foretold: float, losses: Mapping[float, np.ndarray]) -> list[str]:
    """What networks at several decays, rows of ``table``, say about the choice; and what one network has foretold.

    ``losses`` : decay → (N,) losses left out. Decays tie with the best one within one standard error of the mean
    difference of their losses.
    """
    chosen, best = (float(table[name].idxmin()) for name in ("left out", "tests"))
    least, got = table["tests"].min(), table["tests"].loc[chosen]
    ties = [f"{each:.3g}" for each in table.index if _ties(losses[each] - losses[chosen])]
    return [
        f"Leave-one-out is least at decay {chosen:.3g}, with a loss of {got:.3f} on the test images;",
        f"the least of the five is {least:.3f}, at decay {best:.3g}.",
        f"Decays {', '.join(ties)} are within a standard error of it: keep {ties[-1]}." if len(ties) > 1 else "",
        f"Extrapolating from the one network, decay {foretold:.2g} looks best.",
    ]


def _ties(differences: np.ndarray) -> bool:
    """Whether the mean of differences (N,) is no larger than its standard error."""
    return bool(differences.mean() <= differences.std(ddof=1) / np.sqrt(len(differences)))
