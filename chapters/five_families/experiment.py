"""What the main line says of five processes at one setting each, asked again over their parameters, depths and seeds.

One model at its optimum is one run of a sweep. ``python -m chapters run five_families`` makes it again, in minutes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.processes import FAMILIES
from chapters.shared.profiles import distant, mean_lag, roughness, share
from chapters.shared.survey import case

SETTINGS: dict[str, Any] = {
    "families": {
        "PowerLaw": {"exponent": [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0]},
        "FractionalGaussianNoise": {"hurst": [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]},
        "AR1": {"phi": [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99]},
        "DampedCosine": {"period": [4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0]},
        "RationalQuadratic": {"scale": [0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]},
    },
    "n_layers": [3, 4, 5, 6],
    "channels": [1, 2, 4],
    "seeds": [0, 1, 2, 3, 4],
}
QUICK: dict[str, Any] = {
    "families": {"PowerLaw": {"exponent": [0.5]}, "AR1": {"phi": [0.9]}},
    "n_layers": [3],
    "channels": [1, 2],
    "seeds": [0],
}
COLUMNS = (
    "loss",
    "total",
    "generic",
    "recent",
    "mean_lag",
    "rough_inputs",
    "rough_eigenvectors",
    "attained",
    "converged",
)


def one_model(
    process: str = "PowerLaw",
    parameter: str = "exponent",
    value: float = 0.5,
    n_layers: int = 6,
    channels: int = 2,
    seed: int = 0,
) -> dict[str, Any]:
    """What is asked of one hierarchical model at its optimum: see ``COLUMNS``."""
    found = case(Hierarchical(channels, n_layers, 2), FAMILIES[process](**{parameter: value}), rng=seed)
    profile = found.allocation.per_input
    values = {
        "loss": found.fit.loss,
        "total": found.allocation.total,
        "generic": found.allocation.generic_total,
        "recent": 1 - float(share(profile, distant(len(profile)))),
        "mean_lag": float(mean_lag(profile)),
        "rough_inputs": roughness(profile),
        "rough_eigenvectors": roughness(found.allocation.per_eigenvector),
        "attained": int(found.attained),
        "converged": int(found.fit.converged),
    }
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in values.items()}


def settings_of(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings of all models."""
    for process, rule in settings["families"].items():
        ((parameter, values),) = rule.items()
        for value, n_layers, channels, seed in product(
            values, settings["n_layers"], settings["channels"], settings["seeds"]
        ):
            yield {
                "process": process,
                "parameter": parameter,
                "value": value,
                "n_layers": n_layers,
                "channels": channels,
                "seed": seed,
            }


def run(
    settings: Mapping[str, Any], sweep: Callable[..., Any], progress: bool = False, workers: int = 1
) -> dict[str, Any]:
    """Column → its values over all models, in the order of :func:`settings_of`; ``sweep`` is that of the engine."""
    wanted = list(settings_of(settings))
    with tempfile.TemporaryDirectory() as folder:
        target = f"{one_model.__module__}:{one_model.__name__}"
        table = sweep(target, wanted, folder, workers=workers, progress=progress)
    if (table["error"] != "").any():
        raise RuntimeError(f"found errors in the sweep, expected none: {set(table['error']) - {''}}")
    names = list(wanted[0])
    table = table.set_index(names)[list(COLUMNS)]
    rows = table.loc[[tuple(each[name] for name in names) for each in wanted]]
    return {name: np.asarray(rows[name]).tolist() for name in COLUMNS}
