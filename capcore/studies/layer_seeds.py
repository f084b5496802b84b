"""The chapter's networks from several seeds: exponents at the start and the end, how far weights moved, and chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from capcore.studies.layer_spectra import analysed
from capcore.studies.trained_networks import Snapshot, Training, training_path

Shape = tuple[int, int]
SAME = 0.05
"""Two exponents that differ by no more are called the same: one decimal is shown."""


def outcomes(paths: Mapping[str, Sequence[Snapshot]], seed: int) -> pd.DataFrame:
    """One row per network and layer, from the first and last snapshot of its path.

    Columns: ``network``, ``seed``, ``layer``, ``shape``; ``start`` and ``alpha``, the exponent before and after;
    ``moved`` = ‖W − W₀‖_F / ‖W₀‖_F; ``spikes``; ``test``, the accuracy on test images at the end.
    """
    rows = []
    for network, path in paths.items():
        first, last = path[0], path[-1]
        ends = (analysed(shot.weights, alternatives=()).spectra for shot in (first, last))
        for before, after in zip(*ends, strict=True):
            start, end = first.weights[after.name], last.weights[after.name]
            rows.append(
                {
                    "network": network,
                    "seed": seed,
                    "layer": after.name,
                    "shape": (after.rows, after.columns),
                    "start": before.alpha,
                    "alpha": after.alpha,
                    "moved": float(np.linalg.norm(end - start) / np.linalg.norm(start)),
                    "spikes": after.n_spikes,
                    "test": last.test_accuracy,
                }
            )
    return pd.DataFrame(rows)


def all_outcomes(
    paths: Mapping[str, Sequence[Snapshot]], seed: int, others: Mapping[int, Mapping[str, Training]]
) -> pd.DataFrame:
    """:func:`outcomes` of networks that are there, and of the same from other seeds, which are trained now.

    paths, seed : as for :func:`outcomes`. others : seed → name → training.
    """
    found = [outcomes(paths, seed)]
    for other, trainings in others.items():
        trained = {name: list(training_path(each, [0, each.epochs])) for name, each in trainings.items()}
        found.append(outcomes(trained, other))
    return pd.concat(found, ignore_index=True)


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
