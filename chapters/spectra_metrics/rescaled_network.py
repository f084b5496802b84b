"""A convolutional network with batch normalisation, whose kernels can be rescaled without changing what it computes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from capcore.spectra import SpectraOptions, SpectraReport, analyse_spectra
from capcore.validation import positive_integer


def random_weights(channels: int, kernel: int, n_classes: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Two kernels (channels, channels, kernel, kernel) and a matrix (n_classes, channels), Gaussian, of He's size."""
    channels, kernel = positive_integer(channels, "channels"), positive_integer(kernel, "kernel")
    shape = (channels, channels, kernel, kernel)
    scale = np.sqrt(2 / (channels * kernel**2))
    weights = {f"conv{i}.weight": rng.normal(scale=scale, size=shape) for i in (1, 2)}
    size = (positive_integer(n_classes, "n_classes"), channels)
    return {**weights, "fc.weight": rng.normal(scale=np.sqrt(2 / channels), size=size)}


def outputs(weights: Mapping[str, np.ndarray], inputs: np.ndarray, epsilon: float = 0.0) -> np.ndarray:
    """(m, n_classes) logits for inputs (m, channels, h, w): convolution, batch normalisation and ReLU, twice, then fc.

    Convolutions are circular. epsilon : added to variances, which are those of the batch.

    >>> rng = np.random.default_rng(0)
    >>> weights, inputs = random_weights(3, 3, 2, rng), rng.normal(size=(4, 3, 5, 5))
    >>> np.allclose(outputs(weights, inputs), outputs(rescaled(weights, 10.0), inputs))
    True
    """
    x = inputs
    for name in ("conv1.weight", "conv2.weight"):
        x = _circular(x, weights[name])
        x = (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + epsilon)
        x = np.maximum(x, 0)
    logits: np.ndarray = x.mean((2, 3)) @ weights["fc.weight"].T
    return logits


def rescaled(weights: Mapping[str, np.ndarray], factor: float) -> dict[str, np.ndarray]:
    """The weights with both kernels multiplied by ``factor``; the matrix after them is as it was."""
    return {name: w * factor if name.startswith("conv") else w for name, w in weights.items()}


def report(weights: Mapping[str, np.ndarray]) -> SpectraReport:
    """The spectra of the weights in the paper's arrangement: slices and 1/N, every one however small."""
    return analyse_spectra(dict(weights), SpectraOptions(alternatives=()))


def _circular(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """(m, n_out, h, w): the sum over taps of shifted inputs through the tap's matrix."""
    centre = kernel.shape[2] // 2
    total = np.zeros((x.shape[0], kernel.shape[0], *x.shape[2:]))
    for i in range(kernel.shape[2]):
        for j in range(kernel.shape[3]):
            shifted = np.roll(x, (centre - i, centre - j), (2, 3))
            total += np.einsum("oc,mchw->mohw", kernel[:, :, i, j], shifted)
    return total
