"""Scales of quantised weights: the numbers they stand for, and the weights they belong to."""

from __future__ import annotations

import numpy as np

from capcore.spectra.tensors import CheckpointError, Tensor

BLOCK = 128  # rows and columns of a block where shapes do not tell


def float8_table(kind: str) -> np.ndarray:
    """(256,) float32 values of the eight-bit floats of a type, by their bits.

    >>> float8_table("float8_e4m3fn")[[0x38, 0x7E, 0xC0]].tolist(), float8_table("float8_e5m2")[0x7C].item()
    ([1.0, 448.0, -2.0], inf)
    """
    codes = np.arange(256)
    if kind == "float8_e8m0fnu":
        return np.where(codes < 255, np.ldexp(1.0, codes - 127), np.nan).astype(np.float32)
    n_fraction = 3 if "e4m3" in kind else 2
    bias = 2 ** (6 - n_fraction) - 1 + kind.endswith("fnuz")
    power, fraction = (codes & 127) >> n_fraction, (codes & (2**n_fraction - 1)) / 2**n_fraction
    sizes = np.ldexp(np.where(power > 0, 1 + fraction, fraction), np.maximum(power, 1) - bias)
    values = np.where(codes < 128, sizes, -sizes)
    if kind.endswith("fnuz"):
        values[128] = np.nan
    elif kind == "float8_e4m3fn":
        values[[127, 255]] = np.nan
    else:
        values[[124, 252]], values[[125, 126, 127, 253, 254, 255]] = (np.inf, -np.inf), np.nan
    return values.astype(np.float32)


def spread(scale: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """The scale with an axis for each of the weights', whose lengths are those of the weights, one, or of blocks."""
    if scale.size == 1:
        return scale.reshape((1,) * len(shape))
    if scale.ndim == 1:
        scale = scale.reshape(*([1] * (len(shape) - 2)), -1, 1) if len(scale) != shape[0] or len(shape) == 2 else scale
    scale = scale.reshape(*scale.shape, *([1] * (len(shape) - scale.ndim)))
    fits = [m in (1, n, -(-n // BLOCK)) or (m > 0 and n % m == 0) for m, n in zip(scale.shape, shape, strict=False)]
    if scale.ndim != len(shape) or not all(fits) or (scale.shape[0] != shape[0] and len(shape) == 3 and len(scale) > 1):
        raise CheckpointError(f"Quantised, with {name!r} of shape {scale.shape}, which fits no format that is read.")
    return scale


def wide(scale: np.ndarray, n: int) -> np.ndarray:
    """(rows, n) or (rows, 1): columns of a scale repeated for the weights of a block."""
    m = scale.shape[-1]
    if m in (1, n):
        return scale
    return np.repeat(scale, block(n, m), axis=-1)[..., :n]


def block(n: int, m: int) -> int:
    """Length of the m blocks of an axis of n."""
    return BLOCK if -(-n // BLOCK) == m else n // m


def numbers(tensor: Tensor) -> np.ndarray:
    """float32 values of a scale, eight-bit ones too."""
    values = tensor.values()
    return float8_table(tensor.dtype)[values] if tensor.dtype.startswith("float8") else values.astype(np.float32)
