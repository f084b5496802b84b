"""Spectra whose tails a reader may begin anywhere: trained layers, shuffled ones, and draws from true power laws.

Each comes with many others that chance would give in its place. What these have as many largest eigenvalues as the tail
is stored for every beginning of the tail: the page then needs no spectrum of theirs.

``python -m chapters run tails`` makes them again, in about two minutes on one core.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.exponents import usable
from capcore.spectra.inference import bootstrap_power_law
from capcore.spectra.noise import layer_generator, null_weights
from capcore.spectra.options import DensityOptions
from capcore.spectra.power_law import fit_power_law, fit_power_laws
from chapters.kit.witness import Witness
from chapters.shared.resnets import stored_networks
from chapters.spectra.experiment import Training, training_path

SETTINGS: dict[str, Any] = {
    "layer": "layer2",
    "width": 256,
    "epochs": 60,
    "decay": 1.0,
    "published": ["resnet20", ["layer3.2.conv2.weight", "layer2.1.conv2.weight"]],
    "laws": [2.0, 3.0],
    "n_law": 256,
    "n_others": 200,
    "n_resamples": 400,
    "seed": 0,
    "sources": ["trained", "published", "laws"],
}
QUICK: dict[str, Any] = {"width": 32, "epochs": 1, "n_others": 5, "n_resamples": 5}
WITNESS = Witness(
    ["sources"],
    fixed={"sources": ["published", "laws"]},
    elsewhere={"": 1e-3},
    reason="Values are rounded to four digits.",
)
PACKAGES = ("scikit-learn",)
DIGITS = 8
"""Of stored eigenvalues; everything else is computed from these."""
BAND = (2.5, 97.5)


class Spectrum(NamedTuple):
    """Name and label, eigenvalues (n,) ascending, and what else could be there: (m, n), with what it is."""

    name: str
    label: str
    eigenvalues: np.ndarray
    others: np.ndarray
    what: str


def top_exponents(spectra: np.ndarray) -> np.ndarray:
    """(m, n − 1) exponents of tails of ascending spectra (m, n) that begin at each eigenvalue but the last.

    >>> top_exponents(np.array([[1.0, 2.0, 4.0]])).round(2).tolist()
    [[2.44, 3.89]]
    """
    logs = np.log(spectra)
    n_tail = np.arange(spectra.shape[1], 0, -1)
    sums = logs[:, ::-1].cumsum(axis=1)[:, ::-1] - n_tail * logs
    return 1 + n_tail[:-1] / sums[:, :-1]


def described(spectrum: Spectrum, n_resamples: int, rng: np.random.Generator) -> dict[str, Any]:
    """What the page is given of a spectrum.

    ``eigenvalues`` (n,) ascending. ``low``, ``high`` : (n,) where 95 % of the others have their eigenvalue of this
    rank. ``alpha_low``, ``alpha_high`` : (n − 1,) the same of their exponents, from as many largest eigenvalues as
    there are from here on; ``smaller`` : (n − 1,) how many of them are at most the spectrum's. ``own`` : the range of
    their exponents where each begins at its own x_min, and how many are at most the spectrum's at its own.
    ``interval`` : of the bootstrap, x_min chosen anew.
    """
    values = _rounded(usable(spectrum.eigenvalues).values, DIGITS)
    fit, size = fit_power_law(values), spectrum.others.shape[1]
    resolved = np.maximum(spectrum.others, size * np.finfo(float).eps * spectrum.others.max(axis=1, keepdims=True))
    resolved = resolved[:, size - len(values) :]
    exponents, others = top_exponents(values[None])[0], top_exponents(resolved)
    low, high = np.percentile(resolved, BAND, axis=0)
    alpha_low, alpha_high = np.percentile(others, BAND, axis=0)
    own = np.array([fitted.alpha for fitted in fit_power_laws(list(spectrum.others))])
    interval = bootstrap_power_law(values, rng, n_resamples=n_resamples)
    columns = {"low": low, "high": high, "alpha_low": alpha_low, "alpha_high": alpha_high}
    return {
        "name": spectrum.name,
        "label": spectrum.label,
        "others": spectrum.what,
        "n_others": len(others),
        "eigenvalues": values.tolist(),
        **{name: _rounded(column, 4).tolist() for name, column in columns.items()},
        "smaller": np.sum(others <= exponents, axis=0).tolist(),
        "own": {
            "low": float(np.percentile(own, BAND[0])),
            "high": float(np.percentile(own, BAND[1])),
            "smaller": int(np.sum(own <= fit.alpha)),
        },
        "interval": [interval.low, interval.high],
    }


def eigenvalues_of(weights: np.ndarray) -> np.ndarray:
    """(m, n) ascending eigenvalues of WᵀW/N of matrices (m, rows, columns)."""
    return gram_spectra(weights).eigenvalues[:, ::-1] / max(weights.shape[1:])


def trained(settings: Mapping[str, Any]) -> Iterator[Spectrum]:
    """One layer of a network that learns digits: as it ends, in random order, as it began, and with weight decay."""
    layer, orders = settings["layer"], "random orders of its weights"

    def ends(decay: float) -> list[np.ndarray]:
        training = Training(settings["width"], 2, decay, epochs=settings["epochs"], seed=settings["seed"])
        return [shot.weights[layer] for shot in training_path(training, [0, training.epochs])]

    def shuffled(weights: np.ndarray) -> np.ndarray:
        draws, options = range(settings["n_others"] + 1), {"seed": settings["seed"], "name": layer}
        return eigenvalues_of(np.array([null_weights(weights, "shuffled", draw=i, **options) for i in draws]))

    (start, end), (_, decayed) = ends(0.0), ends(settings["decay"])
    first, *others = shuffled(end)
    yield Spectrum("trained", "digits, trained", eigenvalues_of(end[None])[0], np.array(others), orders)
    yield Spectrum("shuffled", "digits, shuffled", first, np.array(others), "other orders of its weights")
    rest = ("untrained", "digits, untrained", start), ("decay", "digits, weight decay", decayed)
    for name, label, weights in rest:
        yield Spectrum(name, label, eigenvalues_of(weights[None])[0], shuffled(weights)[1:], orders)


def from_files(settings: Mapping[str, Any]) -> Iterator[Spectrum]:
    """Layers of a published network, all slices of a kernel together; beside them Gaussian weights of the same size."""
    rng, (network, layers) = np.random.default_rng([settings["seed"], 0]), settings["published"]
    densities = {density.layer: density for density in stored_networks()[network].densities(DensityOptions("pooled"))}
    for layer in layers:
        density = densities[layer]
        values, size = np.sort(density.eigenvalues), (density.n_matrices, *density.shape)
        deviation = (values.sum() * density.divided_by / np.prod(size)) ** 0.5
        drawn = (rng.normal(scale=deviation, size=size) for _ in range(settings["n_others"]))
        others = np.array([np.sort(eigenvalues_of(weights), axis=None) for weights in drawn])
        label = f"ResNet-20 {layer.removesuffix('.weight')}"
        yield Spectrum(layer, label, values, others, "Gaussian weights of its shape")


def laws(settings: Mapping[str, Any]) -> Iterator[Spectrum]:
    """Draws from power laws from 1 on: of several the one with the middle exponent, beside the others."""
    rng = np.random.default_rng([settings["seed"], 1])
    for alpha in settings["laws"]:
        drawn = np.sort((1 - rng.random((settings["n_others"] + 1, settings["n_law"]))) ** (-1 / (alpha - 1)), axis=1)
        middle = np.argsort(top_exponents(drawn)[:, 0])[len(drawn) // 2]
        others = np.delete(drawn, middle, axis=0)
        label = f"true power law, α = {alpha:g}"
        yield Spectrum(f"law{alpha:g}", label, drawn[middle], others, "other draws from this law")


def run(settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """:func:`described` of every spectrum, in the order of the page."""
    sources = {"trained": trained, "published": from_files, "laws": laws}
    spectra = [spectrum for name in settings["sources"] for spectrum in sources[name](settings)]
    resampling = (settings["seed"], settings["layer"], "bootstrap")  # the generator of a report on that layer
    return {"spectra": [described(one, settings["n_resamples"], layer_generator(*resampling)) for one in spectra]}


def _rounded(values: np.ndarray, digits: int) -> np.ndarray:
    """Values to significant digits.

    >>> _rounded(np.array([0.00123456, 98765.4]), 3).tolist()
    [0.00123, 98800.0]
    """
    return np.array([float(f"{value:.{digits}g}") for value in values])
