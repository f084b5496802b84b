"""What the benchmarks of weight spectra work on, and how the peers are called: quietly, and with what they expect."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.measure import peer
from capcore.checkpoints import read_checkpoint
from capcore.spectra.weightwatcher import LayerMatrices, layer_matrices, singular_values

T = TypeVar("T")
Source = Mapping[str, np.ndarray] | Path
Fits = list[tuple[float, float, float]]
SUPPLIED = Path(__file__).resolve().parents[2] / "shared" / "data" / "checkpoints"


def resnet_weights(depth: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights by name with the shapes of a residual network for CIFAR-10, single precision.

    Gaussian noise of He's scale, and a matrix of lower rank per tap whose singular values have a Pareto tail.
    """
    rng = np.random.default_rng([seed, depth])
    shapes: dict[str, tuple[int, ...]] = {"conv1": (16, 3, 3, 3)}
    previous = 16
    for stage, width in enumerate((16, 32, 64), 1):
        for block in range((depth - 2) // 6):
            for number, n_in in ((1, previous), (2, width)):
                shapes[f"layer{stage}.{block}.conv{number}"] = (width, n_in, 3, 3)
            previous = width
    shapes["linear"] = (10, 64)
    return {f"{name}.weight": _weights(shape, rng) for name, shape in shapes.items()}


def _weights(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    rows, columns, *kernel = shape
    taps, rank = int(np.prod(kernel)), max(1, min(rows, columns) // 2)
    left, right = rng.standard_normal((taps, rows, rank)), rng.standard_normal((taps, rank, columns))
    signal = left * (rng.pareto(2.0, (taps, 1, rank)) + 1) / rank @ right
    weights = np.sqrt(2 / (columns * taps)) * (rng.standard_normal((taps, rows, columns)) + signal)
    return np.moveaxis(weights, 0, -1).reshape(shape).astype(np.float32)


def supplied() -> dict[str, Path]:
    """The trained networks beside the project by their short names; none where they are not there."""
    return {path.stem.partition("-")[0]: path for path in sorted(SUPPLIED.glob("*/*.safetensors"))}


def layers(source: Source) -> list[LayerMatrices]:
    """The layers that WeightWatcher takes, pooled."""
    weights = source if isinstance(source, Mapping) else {name: t.read() for name, t in tensors(source).items()}
    found = (layer_matrices(each) for name, each in weights.items() if name.endswith(".weight"))
    return [layer for layer in found if layer is not None]


def tensors(path: Path) -> Mapping[str, Any]:
    return read_checkpoint(path).tensors


def spectra(source: Source) -> list[np.ndarray]:
    """Eigenvalues (n,) of each layer as WeightWatcher fits them: ascending, above its threshold.

    Without those of fewer than twenty, for which its formula is another.
    """
    found = (np.sort(singular_values(layer, True) ** 2, axis=None) for layer in layers(source))
    return [values[values > 1e-5] for values in found if np.count_nonzero(values > 1e-5) >= 20]


def exhaustive_fits(spectra: Sequence[np.ndarray]) -> Fits:
    """(α, x_min, D) of each by the scan as Clauset et al. have it: every x_min, and its distance in full."""
    found: Fits = []
    for values in spectra:
        logs, n = np.log(values), len(values)
        tries = []
        for i in range(n - 1):
            alpha = 1 + (n - i) / (logs[i:] - logs[i]).sum()
            distance = np.abs(1 - (values[i:] / values[i]) ** (1 - alpha) - np.arange(n - i) / (n - i)).max()
            tries.append((float(distance), i, float(alpha)))
        distance, i, alpha = min(tries)
        found.append((alpha, float(values[i]), distance))
    return found


def reference_fits(spectra: Sequence[np.ndarray]) -> Fits:
    """The same of WeightWatcher's own fit."""
    pl_fit = peer("weightwatcher.WW_powerlaw").pl_fit
    return [(float(fit.alpha), float(fit.xmin), float(fit.D)) for fit in map(pl_fit, spectra)]


def package_fits(spectra: Sequence[np.ndarray]) -> Fits:
    """The same of the powerlaw package, whose release 2 leaves out tails with α above 3 unless told otherwise."""
    fits = [peer("powerlaw").Fit(values, parameter_ranges={"alpha": [0, None]}, verbose=False) for values in spectra]
    return [(float(fit.power_law.alpha), float(fit.xmin), float(fit.power_law.D)) for fit in fits]


class Terse(dict[str, Any]):
    """Weights that do not print themselves, as WeightWatcher has them do for its log."""

    def __repr__(self) -> str:
        return "weights"


def analyze(source: Source, kind: type[dict[str, Any]] = dict, **options: Any) -> Any:
    """WeightWatcher's table of a network, by default of its default run, from the file or from memory."""
    if isinstance(source, Path):
        state = kind(peer("safetensors.torch").load_file(source))
    else:
        state = kind({name: peer("torch").from_numpy(weights) for name, weights in source.items()})
    return (
        peer("weightwatcher").WeightWatcher(log_level=logging.CRITICAL).analyze(model=state, savefig=False, **options)
    )


def quietly(function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """What a function returns, without what it prints and warns of."""
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)
