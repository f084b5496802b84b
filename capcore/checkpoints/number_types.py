"""Number types that NumPy lacks: bfloat16, and floats of eight and four bits."""

import numpy as np

CODES = {f"float8_{kind}": "uint8" for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")}
"""PyTorch types that NumPy lacks → the NumPy type that holds their bits."""

FLOAT4 = "float4"
"""Four-bit floats (sign, two bits of exponent, one of fraction). Their values are bytes (…, n/2), lower half first."""
QUANTISED = "Quantised weights whose scales are not known: analyse the file they were made of."


def float8_table(kind: str) -> np.ndarray:
    """All 256 values of an eight-bit float type as float32, indexed by their bits.

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


def bfloat16(words: np.ndarray) -> np.ndarray:
    """Convert bfloat16, given as 16-bit words, to float32. This is exact: the word is the upper half of a float32.

    >>> bfloat16(np.array([0x3FC0], np.uint16)).tolist()
    [1.5]
    """
    wide = words.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def is_bfloat16(dtype: np.dtype) -> bool:
    """Whether a type is bfloat16 as NumPy and HDF5 store it: two bytes of no type (``|V2``).

    Neither format has a name for it. It can be no other type, since JAX has no other of two bytes that NumPy lacks.
    """
    return dtype.kind == "V" and dtype.itemsize == 2 and dtype.names is None


def unpacked(words: np.ndarray, bits: int, axis: int) -> np.ndarray:
    """Unpack integers of ``bits`` bits from unsigned words, lowest bits first. The given axis grows.

    >>> unpacked(np.array([0x21, 0x43], np.uint8), 4, 0).tolist()
    [1, 2, 3, 4]
    """
    shifts = np.arange(0, 8 * words.itemsize, bits, dtype=words.dtype)
    words = np.moveaxis(words, axis, -1)
    integers = ((words[..., None] >> shifts) & words.dtype.type(2**bits - 1)).astype(np.uint8)
    return np.moveaxis(integers.reshape(*words.shape[:-1], -1), -1, axis)
