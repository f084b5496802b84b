"""How good the power laws of the shipped spectra are: p-values, intervals, other laws, and spectra with a known answer.

The controls are true tails, drawn from the fitted law, and noise.
``python -m chapters run resnet_fits`` makes it again, in about five minutes on one core, without the weights.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.spectra.alternatives import ALTERNATIVES
from capcore.spectra.densities import Density
from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.noise import layer_generator
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.power_law import fit_power_law
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.stored import stored
from chapters.kit.witness import Witness
from chapters.pretrained_spectra.experiment import tail_values, tested
from chapters.shared.resnets import SOURCES, StoredNetwork, stored_networks
from chapters.shared.true_tails import with_law_tail

SETTINGS: dict[str, Any] = {
    "n_simulations": 999,
    "n_resamples": 200,
    "level": 0.1,
    "seed": 0,
    "networks": list(SOURCES),
}
WITNESS = Witness(
    ["networks"],
    fixed={"n_simulations": 1, "n_resamples": 0},
    partial=["p_value", "law p_value", "noise p_value", "low", "high"],
    reason="What is simulated is too long; pieces of pretrained_spectra have it.",
    elsewhere={"": 1e-4},
)
ARRANGEMENTS = ("slices", "pooled")
TESTS = ("p_value", "span", *ALTERNATIVES)
CONTROLS = ("law", "noise")
"""Spectra of which the answer is known: the same body with a tail from the fitted law, and Gaussian weights."""


def fitted_spectra(network: StoredNetwork, arrangement: str, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """Column → value for every spectrum of a network that has an exponent, by default options.

    ``name``, ``alpha``, ``n_tail``; ``low``, ``high``, the bootstrap interval; ``p_value``, of the goodness of fit;
    ``span``, λ_max / x_min; and ``lognormal``, ``exponential``, ``truncated power law``: 1 if the power law is
    preferred to it, −1 if the other is, 0 if neither. The last five again, for one draw of each of :data:`CONTROLS`:
    ``law …``, the same body with a tail from the fitted law, and ``noise …``, Gaussian weights of the same shape.
    """
    simulated = {name: settings[name] for name in ("n_simulations", "n_resamples", "seed")}
    report = network.report(SpectraOptions(DensityOptions(arrangement), alternatives=(), **simulated))
    spectra = zip(report.spectra, report.densities, strict=True)
    rows = [_row(row, density, network.source.key, settings) for row, density in spectra if row.ok]
    return dict(plain({name: [row[name] for row in rows] for name in rows[0]}))


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Key → arrangement → :func:`fitted_spectra`."""
    networks = stored_networks()
    return {
        key: {arrangement: fitted_spectra(networks[key], arrangement, settings) for arrangement in ARRANGEMENTS}
        for key in tqdm(settings["networks"], "networks", disable=not progress)
    }


def stored_fits() -> dict[str, Any]:
    """What :func:`run` found, as it is stored."""
    return dict(stored("resnet_fits")["values"])


def gathered(values: Mapping[str, Any], keys: Iterable[str], arrangement: str) -> dict[str, np.ndarray]:
    """Columns of :func:`fitted_spectra` of several networks behind one another, but for the names."""
    parts = [values[key][arrangement] for key in keys]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "name"}


def control(columns: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The columns of one of :data:`CONTROLS`, under the names that the spectra's own have."""
    return {key.removeprefix(f"{name} "): column for key, column in columns.items() if key.startswith(f"{name} ")}


def shares(columns: Mapping[str, np.ndarray], level: float = 0.1) -> dict[str, float]:
    """What the columns say of power laws, as shares of the spectra.

    ``fits`` : not rejected at the level. ``no_other`` : no other law preferred. ``unrefuted`` : both.
    ``over_exponential`` : preferred to an exponential. ``inside`` : intervals within [2, 5], NaN for
    controls, which have none.
    """
    fits = columns["p_value"] > level
    no_other = np.min([columns[name] for name in ALTERNATIVES], axis=0) >= 0
    held = {
        "fits": fits,
        "no_other": no_other,
        "unrefuted": fits & no_other,
        "over_exponential": columns["exponential"] > 0,
        "inside": (columns["low"] >= 2) & (columns["high"] <= 5) if "low" in columns else np.nan,
    }
    return {name: float(np.mean(values)) for name, values in held.items()}


def _row(row: SpectrumMetrics, density: Density, key: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    fit = fit_power_law(density.eigenvalues)
    tail = tail_values(density.eigenvalues, fit, settings["level"])
    values: dict[str, Any] = {
        "name": row.name,
        "alpha": row.alpha,
        "n_tail": row.n_tail,
        "low": row.alpha_low,
        "high": row.alpha_high,
        "p_value": row.p_value,
        **{column: tail[column] for column in TESTS[1:]},
    }
    for name, purpose in zip(CONTROLS, ("power-law tail", "gaussian noise"), strict=True):
        rng = layer_generator(settings["seed"], f"{key}:{row.name}", purpose)
        if name == "law":
            drawn = with_law_tail(density.eigenvalues, fit, rng)
        else:
            drawn = gram_spectra(rng.normal(size=(row.n_matrices, row.rows, row.columns))).eigenvalues.ravel()
        outcome = tested(drawn, rng, settings)
        values |= {f"{name} {column}": outcome[column] for column in TESTS}
    return values
