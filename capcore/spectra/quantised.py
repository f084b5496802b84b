"""Quantised weights as the numbers they stand for, where the format is documented.

A weight is its number times its scale, of which there is one per tensor, channel, group or block. Read are:

- eight-bit floats and int8 with ``weight_scale``, ``weight_scale_inv`` (a factor, too) or ``scale_weight``, and a
  ``weight_zero_point``: compressed-tensors, DeepSeek, FBGEMM, ComfyUI;
- int8 with ``SCB`` and NF4 or FP4 with ``absmax``: bitsandbytes;
- ``qweight``, ``qzeros``, ``scales`` of 2, 4 or 8 bits: GPTQ, packed along inputs, and AWQ, packed along outputs;
- ``weight_packed`` of 4 or 8 bits, symmetric: compressed-tensors;
- ``_blocks`` and ``_scales``: MXFP4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from capcore.spectra.archives import Guarded
from capcore.spectra.memory import CODES
from capcore.spectra.tensors import Checkpoint, CheckpointError, Tensor, checked_shape

Found: TypeAlias = tuple[Tensor, tuple[str, ...]]
"""Weights, and the names of the tensors that they are made of."""
BLOCK = 128  # rows and columns of a block where shapes do not tell
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""The output that each four bits of a number belong to, lowest first."""
SCALE = re.compile(r"([._](weight_|global_)?scales?(_inv|_2|_weight)?|\.SCB|absmax|quant_map|zero_point|qzeros|g_idx)$")


def float8_table(kind: str) -> np.ndarray:
    """(256,) float32 values of the eight-bit floats of a type, by their bits.

    >>> float8_table("float8_e4m3fn")[[0x38, 0x7E, 0xC0]].tolist(), float8_table("float8_e5m2")[0x7C].item()
    ([1.0, 448.0, -2.0], inf)
    """
    codes = np.arange(256)
    if kind == "float8_e8m0fnu":
        return np.ldexp(np.float32(1), codes - 127).astype(np.float32)
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


def dequantised(checkpoint: Checkpoint, config: Callable[[], Mapping[str, Any]] = dict) -> Checkpoint:
    """The checkpoint with quantised weights read as what they stand for, and their scales set aside.

    config : reads ``quantization_config`` of the model, which tells GPTQ's two conventions for zeros apart.

    >>> from capcore.spectra.memory import of_arrays
    >>> codes = {"fc.weight": np.array([[-127, 0, 64]], np.int8), "fc.weight_scale": np.array([[0.5]])}
    >>> dequantised(of_arrays(codes))["fc.weight"].tolist()
    [[-63.5, 0.0, 32.0]]
    """
    tensors, found = checkpoint.tensors, dict[str, Tensor]()
    if all(tensor.is_real or tensor.dtype in ("int64", "bool") for tensor in tensors.values()):
        return checkpoint
    said = config()
    parts: dict[str, str] = {}
    for name, tensor in tensors.items():
        found[name] = tensor
        try:
            made = next((each for scheme in SCHEMES if (each := scheme(name, tensors, said))), None)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:  # what stands beside it may be anything
            reason = f"Quantised, in a form that is not read ({type(error).__name__}: {error})."
            found[name] = replace(tensor, unread=str(error) if isinstance(error, CheckpointError) else reason)
            continue
        if made:
            weights, names = made
            found[weights.name] = replace(weights, values=_guarded(weights))
            parts |= {part: weights.name for part in names if part != weights.name}
    for name, tensor in found.items():
        if name in parts:
            found[name] = replace(tensor, aside=f"A part of {parts[name]!r}, which is read with it.", unread="")
        elif SCALE.search(name) and not tensor.unread:
            found[name] = replace(tensor, aside="A scale of quantised weights.")
    return replace(checkpoint, tensors=found)


def _guarded(tensor: Tensor) -> Callable[[], np.ndarray]:
    def values() -> np.ndarray:
        with Guarded(repr(tensor.name)):
            return tensor.values()

    return values


def _eight_bits(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """Eight-bit floats or int8 times a scale."""
    tensor, stem = tensors[name], name.removesuffix("weight")
    if (tensor.dtype not in CODES and tensor.dtype != "int8") or len(tensor.shape) not in (2, 3):
        return None
    names = [f"{name}_scale", f"{name}_scale_inv", f"{stem}scale_weight", f"{stem}SCB"]
    scale = next((each for each in names if each in tensors), None)
    if scale is None:
        return None
    table = float8_table(tensor.dtype) if tensor.dtype in CODES else None
    per_127 = np.float32(1 / 127) if scale.endswith("SCB") else np.float32(1)
    zero = f"{name}_zero_point" if f"{name}_zero_point" in tensors else None
    for part in (scale, zero) if zero else (scale,):
        _spread(np.zeros(tensors[part].shape, np.bool_), tensor.shape, part)
    stack = len(tensor.shape) == 3

    def matrix(codes: np.ndarray, i: int | None) -> np.ndarray:
        values = table[codes] if table is not None else codes.astype(np.float32)
        for part in (zero, scale):
            if part:
                factor = _spread(_numbers(tensors[part]), tensor.shape, part)
                factor = factor[min(i, len(factor) - 1)] if i is not None else factor
                blocks = _block(values.shape[0], len(factor))
                for row, each in enumerate(_wide(factor, values.shape[1])):
                    rows = values[row * blocks : (row + 1) * blocks]
                    np.subtract(rows, each, out=rows) if part == zero else np.multiply(rows, each * per_127, out=rows)
        return values

    def one(i: int) -> np.ndarray:
        return matrix(tensor.one(i) if tensor.one else tensor.values()[i], i)

    def values() -> np.ndarray:
        return np.stack([one(i) for i in range(tensor.shape[0])]) if stack else matrix(tensor.values(), None)

    made = Tensor(name, "float32", tensor.shape, values, stored=f"{tensor.dtype}, {scale}", one=one if stack else None)
    return made, (scale, *([zero] if zero else []))


def _spread(scale: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
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


def _wide(scale: np.ndarray, n: int) -> np.ndarray:
    """(rows, n) or (rows, 1): columns of a scale repeated for the weights of a block."""
    m = scale.shape[-1]
    if m in (1, n):
        return scale
    return np.repeat(scale, _block(n, m), axis=-1)[..., :n]


def _block(n: int, m: int) -> int:
    """Length of the m blocks of an axis of n."""
    return BLOCK if -(-n // BLOCK) == m else n // m


def _numbers(tensor: Tensor) -> np.ndarray:
    """float32 values of a scale, eight-bit ones too."""
    values = tensor.values()
    return float8_table(tensor.dtype)[values] if tensor.dtype.startswith("float8") else values.astype(np.float32)


def _unpacked(words: np.ndarray, bits: int, axis: int) -> np.ndarray:
    """Whole numbers of so many bits from 32-bit words, lowest first, along an axis that grows."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    words = np.moveaxis(words.view(np.uint32), axis, -1)
    found = ((words[..., None] >> shifts) & np.uint32(2**bits - 1)).astype(np.uint8)
    return np.moveaxis(found.reshape(*words.shape[:-1], -1), -1, axis)


def _bits(per_word: float, name: str) -> int:
    if per_word not in (4, 8, 16):
        raise CheckpointError(f"Quantised and packed as {per_word:g} weights in 32 bits of {name!r}: not read.")
    return int(32 // per_word)


def _gptq_or_awq(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    stem = name.removesuffix("qweight")
    names = (name, f"{stem}qzeros", f"{stem}scales")
    if name == stem or not all(each in tensors for each in names) or len(tensors[name].shape) != 2:
        return None
    words, zeros, scales = (tensors[each] for each in names)
    n_groups, n_out = scales.shape
    if not (zeros.shape[0] == n_groups and zeros.shape[1] and words.dtype == zeros.dtype == "int32"):
        raise CheckpointError(f"Quantised, with qzeros of {zeros.shape} and scales of {scales.shape}: not read.")
    bits = _bits(n_out / zeros.shape[1], name)
    awq = words.shape[1] != n_out
    n_in = words.shape[0] * (1 if awq else 32 // bits)
    if (awq and words.shape[1] * (32 // bits) != n_out) or n_in % n_groups or (awq and bits != 4):
        raise CheckpointError(f"Quantised, with qweight of {words.shape} and scales of {scales.shape}: not read.")
    order = f"{stem}g_idx" if f"{stem}g_idx" in tensors and not awq else None
    one = 0 if awq or config.get("checkpoint_format") == "gptq_v2" else 1

    def values() -> np.ndarray:
        codes, offsets = _unpacked(words.values(), bits, 1 if awq else 0), _unpacked(zeros.values(), bits, 1)
        if awq:
            codes, offsets = (each.reshape(len(each), -1, 8)[..., np.argsort(AWQ_ORDER)].reshape(len(each), -1)
                              for each in (codes, offsets))  # fmt: skip
        group = tensors[order].values() if order else np.arange(n_in) // (n_in // n_groups)
        if len(group) != n_in or group.min() < 0 or group.max() >= n_groups:
            raise CheckpointError(f"{order!r}: found groups beyond {n_groups}, expected one for each input.")
        steps = scales.values().astype(np.float32)
        found = codes.astype(np.float32)
        for g in range(n_groups):  # in place: no second copy
            rows = np.flatnonzero(group == g)
            found[rows] = (found[rows] - (offsets[g].astype(np.float32) + one)) * steps[g]
        return found.T

    kind = "AWQ" if awq else "GPTQ"
    made = Tensor(f"{stem}weight", "float32", (n_out, n_in), values, stored=f"{kind}, {bits} bits, {n_groups} groups")
    return made, (*names, *([order] if order else []))


def _packed(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """``weight_packed`` of compressed-tensors: unsigned, less by half of the range, times a scale per group."""
    stem = name.removesuffix("_packed")
    names = (name, f"{stem}_scale", f"{stem}_shape")
    if name == stem or not all(each in tensors for each in names) or tensors[name].dtype != "int32":
        return None
    words, scale = tensors[name], tensors[f"{stem}_scale"]
    n_out, n_in = (int(each) for each in tensors[f"{stem}_shape"].values().ravel())
    if f"{stem}_zero_point" in tensors or len(words.shape) != 2 or words.shape[0] != n_out or not words.shape[1]:
        raise CheckpointError("Quantised, with zero points of its own or of another shape than it states: not read.")
    bits = _bits(float(2 ** np.ceil(np.log2(max(n_in / words.shape[1], 1)))), name)
    _spread(np.zeros(scale.shape, np.bool_), (n_out, n_in), f"{stem}_scale")

    def values() -> np.ndarray:
        found = _unpacked(words.values(), bits, 1)[:, :n_in].astype(np.float32)
        found -= 2 ** (bits - 1)
        found *= _wide(_spread(_numbers(scale), (n_out, n_in), f"{stem}_scale"), n_in)
        return found

    return Tensor(stem, "float32", (n_out, n_in), values, stored=f"{bits} bits, {stem}_scale"), names


def _mxfp4(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """(…, blocks, 16) bytes, the first weight of a pair in the lower half, times 2^(scale - 127)."""
    stem = name.removesuffix("_blocks")
    codes, scales = tensors[name], tensors.get(f"{stem}_scales")
    if name == stem or scales is None or codes.dtype != "uint8" or codes.shape != (*scales.shape, 16):
        return None
    shape = (*scales.shape[:-1], scales.shape[-1] * 32)

    def made(raw: np.ndarray, powers: np.ndarray) -> np.ndarray:
        found = np.empty((*raw.shape[:-1], 32), np.float32)
        found[..., ::2], found[..., 1::2] = FP4[raw & 15], FP4[raw >> 4]
        np.ldexp(found, powers.astype(np.int32)[..., None] - 127, out=found)
        return found.reshape(*raw.shape[:-2], -1)

    def one(i: int) -> np.ndarray:
        return made(codes.read_one(i), scales.read_one(i))

    return Tensor(
        stem, "float32", shape, lambda: made(codes.values(), scales.values()), stored=f"MXFP4, {stem}_scales", one=one
    ), (name, f"{stem}_scales")


def _bitsandbytes(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """NF4 or FP4: a place in a table of 16 per weight, the first of a pair in the upper half, times a scale per block;
    scales may be bytes themselves: places in a table, times a scale of their own, plus an offset."""
    state = next(
        (each for kind in ("nf4", "fp4") if (each := f"{name}.quant_state.bitsandbytes__{kind}") in tensors), ""
    )
    if not state or tensors[name].dtype != "uint8":
        return None
    said = json.loads(tensors[state].values().tobytes())
    shape, block = checked_shape(said["shape"], state), int(said["blocksize"])
    names = [f"{name}.{each}" for each in ("absmax", "quant_map", "nested_absmax", "nested_quant_map")]
    absmax, table, nested, nested_table = (tensors.get(each) for each in names)
    size = int(np.prod(shape, dtype=object))
    if absmax is None or table is None or table.size != 16 or -(-size // 2) != tensors[name].size:
        raise CheckpointError(f"Quantised, with a state that does not describe {name!r}: not read.")
    if -(-size // block) != absmax.size or (absmax.dtype == "uint8") != (nested is not None):
        raise CheckpointError(f"Quantised, with {absmax.size} scales for {size} weights of {name!r}: not read.")

    def values() -> np.ndarray:
        scales = absmax.values().ravel()
        if nested is not None and nested_table is not None:
            own = np.repeat(nested.values().ravel(), said["nested_blocksize"])[: scales.size]
            scales = nested_table.values().ravel()[scales] * own + np.float32(said["nested_offset"])
        raw = tensors[name].values().ravel()
        found = table.values().astype(np.float32)[np.stack([raw >> 4, raw & 15], axis=-1)].ravel()[:size]
        for i, scale in enumerate(scales):
            found[i * block : (i + 1) * block] *= scale
        return found.reshape(shape)

    stored = f"{state.rsplit('__')[-1].upper()}, blocks of {block}"
    return Tensor(name, "float32", shape, values, stored=stored), (state, *(each for each in names if each in tensors))


SCHEMES = (_eight_bits, _gptq_or_awq, _packed, _mxfp4, _bitsandbytes)
