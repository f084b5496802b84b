"""The chapter's networks from several seeds, the stored and the live ones: in tables, and beside chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from chapters.spectra.layer_outcomes import outcomes, stored_outcomes, trained_outcomes
from chapters.spectra.trained_networks import Snapshot, Training
from chapters.stored import stored

Shape = tuple[int, int]
SAME = 0.05
"""Two exponents that differ by no more are called the same: one decimal is shown."""


def stored_seeds() -> dict[str, Any]:
    """Settings and values of ``results/layer_seeds.json``, for the functions below.

    Raises ``StaleResultsError`` if the code that made them has changed since.
    """
    return stored("layer_seeds")


def all_outcomes(
    paths: Mapping[str, Sequence[Snapshot]],
    seed: int,
    others: Mapping[int, Mapping[str, Training]],
    content: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """``outcomes`` of networks that are there, and of the same from other seeds.

    paths, seed : as there. others : seed → name → training. content : of :func:`stored_seeds`, from which the
    others are read if it has them; they are trained now otherwise.
    """
    found = [outcomes(paths, seed)]
    for other, trainings in others.items():
        then = None if content is None else stored_outcomes(content, trainings, other)
        found.append(trained_outcomes(trainings, other) if then is None else then)
    return pd.concat(found, ignore_index=True)


def agreement(table: pd.DataFrame, content: Mapping[str, Any], trainings: Mapping[str, Training], seed: int) -> str:
    """On how many layers of a seed the run of now and the stored one agree, as text: exponents, moves and spikes.

    Exponents are to agree within ``SAME``, moves and accuracies within 0.01, spikes exactly. ``table`` : of
    :func:`all_outcomes`.
    """
    then = stored_outcomes(content, trainings, seed)
    if then is None:
        return "none, as this network is not stored"
    live = table[table["seed"] == seed].reset_index(drop=True)
    tolerances = {"start": SAME, "alpha": SAME, "moved": 0.01, "test": 0.01, "spikes": 0}
    same = np.all([(live[name] - then[name]).abs() <= within for name, within in tolerances.items()], axis=0)
    return f"{same.sum()} of {len(same)}"


def layers_of(table: pd.DataFrame) -> dict[str, list[tuple[Shape, float]]]:
    """Network → shape and α of each of its layers, for all seeds."""
    return {
        str(network): list(zip(part["shape"], part["alpha"], strict=True))
        for network, part in table.groupby("network", sort=False)
    }


def below_chance(table: pd.DataFrame, chance: Mapping[Shape, np.ndarray]) -> pd.Series:
    """For each row, whether its α is smaller than that of 97.5 % of random matrices of the shape.

    chance : shape → (B,) exponents of random matrices.
    """
    ends = {shape: np.percentile(values, 2.5) for shape, values in chance.items()}
    return table["alpha"] < table["shape"].map(ends)


def seeds_table(table: pd.DataFrame, below: pd.Series) -> pd.DataFrame:
    """(network, layer) → least and largest value over the seeds, and how often it is below chance; as text."""
    rows = {
        key: {
            "α": between(part["alpha"]),
            "below chance": f"{below[part.index].sum()} of {len(part)}",
            "moved by": between(part["moved"], 2),
            "spikes": between(part["spikes"], 0),
        }
        for key, part in table.groupby(["network", "layer"], sort=False)
    }
    found = pd.DataFrame.from_dict(rows, orient="index")
    found.index = pd.MultiIndex.from_tuples(rows, names=["network", "layer"])
    return found


def compared(table: pd.DataFrame, network: str, other: str) -> dict[str, dict[str, int]]:
    """On how many seeds a network's α is smaller than another's, larger, or the same within ``SAME``.

    Returns layer → ``{"smaller", "larger", "same"}``, and the same for ``"mean"``, the mean over the layers.
    """
    alphas = table.pivot(index="seed", columns=["network", "layer"], values="alpha")
    gaps = alphas[network] - alphas[other]
    gaps["mean"] = gaps.mean(axis=1)
    return {
        str(name): {
            "smaller": int((gap < -SAME).sum()),
            "larger": int((gap > SAME).sum()),
            "same": int((gap.abs() <= SAME).sum()),
        }
        for name, gap in gaps.items()
    }


def counted(below: pd.Series, some: pd.Series) -> str:
    """How many of the rows ``some`` (booleans) are below chance, as text.

    >>> counted(pd.Series([True, True, False]), pd.Series([True, False, True]))
    '1 of 2'
    """
    return f"{(below & some).sum()} of {some.sum()}"


def between(values: Sequence[float] | np.ndarray | pd.Series, decimals: int = 1) -> str:
    """Least and largest value, as text; one number if they look the same.

    >>> between([3.07, 3.19]), between([3.07, 3.11])
    ('3.1 to 3.2', '3.1')
    """
    low, high = (f"{value:.{decimals}f}" for value in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"
