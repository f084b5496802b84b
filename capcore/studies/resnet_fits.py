"""How good the power laws of the shipped spectra are: p-values, intervals, other laws, and noise of the same shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore import results
from capcore.spectra.alternatives import ALTERNATIVES, compare_tails
from capcore.spectra.analysis_options import SpectraOptions
from capcore.spectra.densities import Density
from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.inference import goodness_of_fit
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.nulls import layer_generator
from capcore.spectra.options import DensityOptions
from capcore.spectra.power_law import fit_power_law
from capcore.studies.stored_network import StoredNetwork
from capcore.studies.stored_runs import stored

COMMAND = "python -m experiments.resnet_fits"
CORE = ("usable", "scan", "exponents", "power_law", "refit", "inference", "alternatives", "tail_models", "nulls")
MODULES = [*(f"capcore.spectra.{name}" for name in CORE), "capcore.studies.resnet_fits"]
ARRANGEMENTS = ("slices", "pooled")
SETTINGS: dict[str, Any] = {"n_simulations": 999, "n_resamples": 200, "level": 0.1, "seed": 0}


def fitted_spectra(network: StoredNetwork, arrangement: str, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """Column → value for every spectrum of a network that has an exponent, by default options.

    ``name``, ``alpha``, ``n_tail``; ``low``, ``high``, the bootstrap interval; ``p_value``, of the goodness of fit; and
    ``lognormal``, ``exponential``, ``truncated power law``: 1 if the power law is preferred to it, −1 if the other is,
    0 if neither; ``noise``, the goodness of fit of one Gaussian draw of the same shape.
    """
    simulated = {name: settings[name] for name in ("n_simulations", "n_resamples", "seed")}
    report = network.report(SpectraOptions(DensityOptions(arrangement), alternatives=(), **simulated))
    pairs = [pair for pair in zip(report.spectra, report.densities, strict=True) if pair[0].ok]
    columns: dict[str, Any] = {
        "name": [row.name for row, _ in pairs],
        "alpha": [row.alpha for row, _ in pairs],
        "n_tail": [row.n_tail for row, _ in pairs],
        "low": [row.alpha_low for row, _ in pairs],
        "high": [row.alpha_high for row, _ in pairs],
        "p_value": [row.p_value for row, _ in pairs],
    }
    signs = np.array([_signs(density, settings["level"]) for _, density in pairs])
    columns |= {name: signs[:, k].tolist() for k, name in enumerate(ALTERNATIVES)}
    columns["noise"] = [_noise(row, network.source.key, settings) for row, _ in pairs]
    return {name: _rounded(values) for name, values in columns.items()}


def run(networks: Mapping[str, StoredNetwork], settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """Key → arrangement → :func:`fitted_spectra`."""
    return {
        key: {arrangement: fitted_spectra(network, arrangement, settings) for arrangement in ARRANGEMENTS}
        for key, network in tqdm(networks.items(), "networks")
    }


def stored_fits(spectra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What :func:`run` found, from ``notebooks/results/resnet_fits.json``.

    Raises :class:`~capcore.results.StaleResultsError` if code or spectra have changed since.
    """
    content, present = stored("resnet_fits"), (spectra or stored("resnet_spectra"))["values"]["arrays_sha256"]
    if content["settings"]["spectra"] != present:
        raise results.StaleResultsError(
            f"resnet_fits.json: made from spectra {content['settings']['spectra'][:12]}…, found {present[:12]}… in "
            f"resnet_spectra.json. Make it again: {content['command']}"
        )
    values: dict[str, Any] = content["values"]
    return values


def gathered(values: Mapping[str, Any], keys: Iterable[str], arrangement: str) -> dict[str, np.ndarray]:
    """Columns of :func:`fitted_spectra` of several networks behind one another, but for the names."""
    parts = [values[key][arrangement] for key in keys]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "name"}


def shares(columns: Mapping[str, np.ndarray], level: float = 0.1) -> dict[str, float]:
    """What the columns say of power laws, as shares of the spectra.

    ``fits`` : not rejected at the level. ``no_other`` : no other law preferred. ``unrefuted`` : both.
    ``over_exponential`` : preferred to an exponential. ``noise_rejected`` : of Gaussian draws. ``inside`` : intervals
    within [2, 5].
    """
    fits = columns["p_value"] > level
    no_other = np.min([columns[name] for name in ALTERNATIVES], axis=0) >= 0
    found = {
        "fits": fits,
        "no_other": no_other,
        "unrefuted": fits & no_other,
        "over_exponential": columns["exponential"] > 0,
        "noise_rejected": columns["noise"] <= level,
        "inside": (columns["low"] >= 2) & (columns["high"] <= 5),
    }
    return {name: float(np.mean(held)) for name, held in found.items()}


def _signs(density: Density, level: float) -> list[int]:
    tests = compare_tails(density.eigenvalues, fit_power_law(density.eigenvalues), level=level)
    return [{"power law": 1, "neither": 0}.get(test.favours, -1) for test in tests]


def _noise(row: SpectrumMetrics, key: str, settings: Mapping[str, Any]) -> float:
    """p-value of a Gaussian draw as large as a spectrum's matrices; α does not depend on the variance."""
    rng = layer_generator(settings["seed"], f"{key}:{row.name}", "gaussian noise")
    eigenvalues = gram_spectra(rng.normal(size=(row.n_matrices, row.rows, row.columns))).eigenvalues.ravel()
    return goodness_of_fit(eigenvalues, rng, n_simulations=settings["n_simulations"]).p_value


def _rounded(values: list[Any]) -> list[Any]:
    return [float(f"{value:.6g}") if isinstance(value, float) else value for value in values]
