"""Quantised weights packed several to a number, mostly of four bits, unpacked as the libraries that wrote them do.

- ``qweight``, ``qzeros``, ``scales`` of 2, 4 or 8 bits: GPTQ, packed along inputs, and AWQ, packed along outputs;
- ``weight_packed`` of 2, 4 or 8 bits, with or without ``weight_zero_point``: compressed-tensors;
- four-bit floats: MXFP4, with a power of two per 32 weights, stored as ``_blocks`` and ``_scales`` (GPT-OSS),
  ``weight_packed``, or safetensors' own type F4 beside a ``scale`` of type F8_E8M0 (DeepSeek); NVFP4, with an eight-bit
  float per 16 weights, as compressed-tensors and ModelOpt write it;
- NF4 or FP4 with ``absmax``: bitsandbytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from capcore.checkpoints.files import strict_json
from capcore.checkpoints.number_types import CODES, FLOAT4, float8_table
from capcore.checkpoints.tensors import CheckpointError, Tensor, checked_shape

Found: TypeAlias = tuple[Tensor, tuple[str, ...]]
"""Weights, and the names of the tensors that they are made from."""
BLOCK = 128  # rows and columns of a block if the shapes do not determine it
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""The output to which each group of four bits of a word belongs, lowest bits first."""


def spread(scale: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Give the scale as many axes as the weights. Each has the weights' length, length one, or one entry per block."""
    if scale.size == 1:
        return scale.reshape((1,) * len(shape))
    if scale.ndim == 1 and len(scale) == shape[-2] and (len(shape) == 2 or len(scale) != shape[0]):
        scale = scale.reshape(*[1] * (len(shape) - 2), -1, 1)
    scale = scale.reshape(*scale.shape, *([1] * (len(shape) - scale.ndim)))
    fits = [0 < m <= n for m, n in zip(scale.shape, shape, strict=False)]
    lone = scale.ndim == len(shape) == 2 and scale.shape[1] == 1 and scale.shape[0] not in (1, shape[0])
    if scale.ndim != len(shape) or not all(fits) or lone or (len(shape) == 3 and len(scale) not in (1, shape[0])):
        raise CheckpointError(f"Quantised, with {name!r} of shape {scale.shape}, which fits no format that is read.")
    return scale


def wide(scale: np.ndarray, n: int, length: int) -> np.ndarray:
    """Repeat each column of a scale for the ``length`` weights of its block: (rows, n), or (rows, 1) unchanged."""
    return scale if scale.shape[-1] in (1, n) else scale[..., np.arange(n) // length]


def block(n: int, m: int, told: int = 0) -> int:
    """Block length if n weights form m blocks: the given one if it fits, else a power of two, or 128 with a remainder.

    >>> block(576, 5), block(512, 4), block(192, 2, 96)
    (128, 128, 96)
    """
    power = n // m if n % m == 0 and n // m & (n // m - 1) == 0 else 0
    for length in (told, n if m == 1 else 0, power, BLOCK if n % m else 0):
        if length > 0 and -(-n // length) == m:
            return length
    raise CheckpointError(f"Quantised, in {m} blocks of {n} weights of unknown length: not read.")


def numbers(tensor: Tensor, scale: bool = True) -> np.ndarray:
    """float32 values of a scale or a zero point. Bytes of a scale are exponents of two."""
    values, kind = tensor.values(), "float8_e8m0fnu" if scale and tensor.dtype == "uint8" else tensor.dtype
    return float8_table(kind)[values] if kind.startswith("float8") else values.astype(np.float32)


def part_of(tensors: Mapping[str, Tensor], name: str, kinds: str = "float bfloat uint8") -> Tensor:
    """Return a scale or zero point, if its type is one of ``kinds``."""
    found = tensors[name]
    if not found.dtype.startswith(tuple(kinds.split())) or (found.unread and found.dtype not in CODES):
        raise CheckpointError(f"Quantised, with {name!r} of type {found.dtype}: not read.")
    return found


def unpacked(words: np.ndarray, bits: int, axis: int) -> np.ndarray:
    """Unpack integers of ``bits`` bits from 32-bit words, lowest bits first. The given axis grows."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    words = np.moveaxis(words.view(np.uint32), axis, -1)
    found = ((words[..., None] >> shifts) & np.uint32(2**bits - 1)).astype(np.uint8)
    return np.moveaxis(found.reshape(*words.shape[:-1], -1), -1, axis)


def _bits(per_word: float, name: str) -> int:
    if per_word not in (4, 8, 16):
        raise CheckpointError(f"Quantised and packed as {per_word:g} weights in 32 bits of {name!r}: not read.")
    return int(32 // per_word)


def gptq_or_awq(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """GPTQ and AWQ: (code − zero) × scale, one scale per group of inputs. GPTQ's first version stores zero − 1."""
    stem = name.removesuffix("qweight")
    names = (name, f"{stem}qzeros", f"{stem}scales")
    if name == stem or not all(each in tensors for each in names) or len(tensors[name].shape) != 2:
        return None
    words, zeros, scales = (tensors[each] for each in names)
    n_groups, n_out = part_of(tensors, names[2]).shape
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
        codes, offsets = unpacked(words.values(), bits, 1 if awq else 0), unpacked(zeros.values(), bits, 1)
        if awq:
            codes, offsets = (each.reshape(len(each), -1, 8)[..., np.argsort(AWQ_ORDER)].reshape(len(each), -1)
                              for each in (codes, offsets))  # fmt: skip
        group = tensors[order].values() if order else np.arange(n_in) // (n_in // n_groups)
        if len(group) != n_in or group.dtype.kind not in "iu" or group.min() < 0 or group.max() >= n_groups:
            raise CheckpointError(f"{order!r}: found groups beyond {n_groups}, expected one for each input.")
        offsets = (offsets + one) & (2**bits - 1)  # a zero of 0 is stored as the largest code
        steps, found = numbers(scales), codes.astype(np.float32)
        for rows in np.array_split(np.arange(n_in), -(-n_in // 1024)):  # in pieces, to avoid a second copy
            found[rows] = (found[rows] - offsets[group[rows]]) * steps[group[rows]]
        return found.T

    kind = "AWQ" if awq else "GPTQ"
    made = Tensor(f"{stem}weight", "float32", (n_out, n_in), values, stored=f"{kind}, {bits} bits, {n_groups} groups")
    return made, (*names, *([order] if order else []))


def packed(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """compressed-tensors: (code − zero) × scale, one scale per group of inputs. The default zero is mid-range."""
    stem = name.removesuffix("_packed")
    names = (name, f"{stem}_scale", f"{stem}_shape")
    if name == stem or not all(each in tensors for each in names) or tensors[name].dtype != "int32":
        return None
    words, scale = tensors[name], part_of(tensors, f"{stem}_scale", "float bfloat")
    zero, order = (each if each in tensors else "" for each in (f"{stem}_zero_point", f"{stem}_g_idx"))
    n_out, n_in = (int(each) for each in tensors[f"{stem}_shape"].values().ravel())
    bits = [each for each in range(1, 9) if words.shape == (n_out, -(-n_in * each // 32))]
    if bits not in ([2], [4], [8]):
        raise CheckpointError(f"Quantised, with words of {words.shape} for weights of {(n_out, n_in)}: not read.")
    (n_bits,), n_groups = bits, spread(np.zeros(scale.shape, np.bool_), (n_out, n_in), scale.name).shape[1]
    if n_in % n_groups or (zero and tensors[zero].shape != (-(-n_out * n_bits // 32), n_groups)):
        raise CheckpointError(f"Quantised, with {n_groups} groups of {n_in} weights, or other zero points: not read.")

    def values() -> np.ndarray:
        found = unpacked(words.values(), n_bits, 1)[:, :n_in].astype(np.float32)
        zeros = unpacked(tensors[zero].values(), n_bits, 0)[:n_out] if zero else np.full((1, 1), 2 ** (n_bits - 1))
        groups = tensors[order].values() if order else np.array([-1])
        groups = np.arange(n_in) // (n_in // n_groups) if groups.max() < 0 else groups
        if groups.shape != (n_in,) or groups.min() < 0:
            raise CheckpointError(f"{order!r}: found {groups.shape} groups, expected one for each of {n_in} inputs.")
        for apply, each in ((np.subtract, zeros), (np.multiply, spread(numbers(scale), (n_out, n_in), scale.name))):
            apply(found, each if each.shape[1] == 1 else each[:, groups], out=found)
        return found

    made = Tensor(stem, "float32", (n_out, n_in), values, stored=f"{n_bits} bits, {stem}_scale")
    return made, tuple(each for each in (*names, zero, order) if each)


def four_bit_floats(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """MXFP4 and NVFP4: bytes of shape (…, n/2) or (…, blocks, 16), times a scale of shape (…, blocks).

    The lower half of a byte is the first weight of a pair. Scales that are eight-bit floats have a scale of their own
    for the whole matrix, which either multiplies or divides.
    """
    stem = name.removesuffix("_blocks").removesuffix("_packed")
    codes, own_type = tensors[name], tensors[name].dtype == FLOAT4
    names = [f"{stem}_scales" if name.endswith("_blocks") else f"{stem}_scale"]
    names += [f"{stem.removesuffix('weight')}scale", f"{stem}_scales"] if own_type else []
    scale = next((each for each in names if each in tensors), "")
    if (codes.dtype != "uint8" and not own_type) or not scale:
        return None
    powers = tensors[scale].dtype in ("uint8", "float8_e8m0fnu")
    shape, kind, per = tensors[scale].shape, "MXFP4" if powers else "NVFP4", 32 if powers else 16
    length = shape[-1] * per // (1 if own_type else 2)  # of the last axis, which counts numbers or bytes
    expected = (*shape, per // 2) if name.endswith("_blocks") else (*shape[:-1], length)
    own_order = f"{stem.removesuffix('weight')}comfy_quant" in tensors  # ComfyUI's kernels reorder the scales
    if codes.shape != expected or own_order or not (powers or tensors[scale].dtype == "float8_e4m3fn"):
        raise CheckpointError(f"Quantised, with {scale!r} of {tensors[scale].dtype} and shape {shape}: not read.")
    table = float8_table("float8_e8m0fnu" if powers else "float8_e4m3fn")
    factor, divisor = (each if each in tensors else "" for each in (f"{stem}_scale_2", f"{stem}_global_scale"))
    own = [part_of(tensors, each, "float bfloat").size for each in (factor, divisor) if each]
    if len(own) != (not powers) or any(each not in (1, shape[0] if len(shape) > 2 else 1) for each in own):
        raise CheckpointError(f"Quantised, with {own} scales of {scale!r} itself: not read.")

    def made(raw: np.ndarray, scales: np.ndarray, i: Any = slice(None)) -> np.ndarray:
        found = np.empty((*scales.shape, per), np.float32)
        raw = raw.reshape(*scales.shape, per // 2)
        found[..., ::2], found[..., 1::2] = FP4[raw & 15], FP4[raw >> 4]
        found *= table[scales][..., None]
        for part, apply in ((factor, np.multiply), (divisor, np.divide)):
            if part:
                own = tensors[part].values().astype(np.float32).ravel()
                own = own if own.size == 1 else own.reshape(-1, *[1] * (len(shape) - 1))[i]
                apply(found, own[..., None], out=found)
        return found.reshape(*scales.shape[:-1], -1)

    def one(i: int) -> np.ndarray:
        raw, scales = (each.one(i) if each.one else each.values()[i] for each in (codes, tensors[scale]))
        return made(raw, scales, i)

    def values() -> np.ndarray:
        return made(codes.values(), tensors[scale].values())

    weights = Tensor(
        stem, "float32", (*shape[:-1], shape[-1] * per), values, stored=f"{kind}, {scale}",
        one=one if len(shape) > 2 else None,
    )  # fmt: skip
    return weights, tuple(each for each in (name, scale, factor, divisor) if each)


def bitsandbytes(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """NF4 or FP4: each weight is an index into a table of 16 values, times a scale per block.

    The upper half of a byte is the first weight of a pair. Scales may themselves be indices into a table, times a
    second scale, plus an offset.
    """
    state = next(
        (each for kind in ("nf4", "fp4") if (each := f"{name}.quant_state.bitsandbytes__{kind}") in tensors), ""
    )
    if not state or tensors[name].dtype != "uint8":
        return None
    said = strict_json(tensors[state].values().tobytes(), state)
    shape, block = checked_shape(said["shape"], state), int(said["blocksize"])
    names = [f"{name}.{each}" for each in ("absmax", "quant_map", "nested_absmax", "nested_quant_map")]
    absmax, table, nested, nested_table = (tensors.get(each) for each in names)
    size = int(np.prod(shape, dtype=object))
    if absmax is None or table is None or table.size != 16 or -(-size // 2) != tensors[name].size:
        raise CheckpointError(f"Quantised, with a state that does not describe {name!r}: not read.")
    part_of(tensors, names[0]), part_of(tensors, names[1], "float bfloat")
    given = [each is not None for each in (nested, nested_table)]
    if -(-size // block) != absmax.size or given != [absmax.dtype == "uint8"] * 2:
        raise CheckpointError(f"Quantised, with {absmax.size} scales for {size} weights of {name!r}: not read.")

    def values() -> np.ndarray:
        scales = absmax.values().ravel()
        if nested is not None and nested_table is not None:
            own = nested.values().ravel()[np.arange(scales.size) // said["nested_blocksize"]]
            scales = nested_table.values().ravel()[scales] * own + np.float32(said["nested_offset"])
        raw = tensors[name].values().ravel()
        found = table.values().astype(np.float32)[np.stack([raw >> 4, raw & 15], axis=-1)].ravel()[:size]
        for i, scale in enumerate(scales):
            found[i * block : (i + 1) * block] *= scale
        return found.reshape(shape)

    stored = f"{state.rsplit('__')[-1].upper()}, blocks of {block}"
    return Tensor(name, "float32", shape, values, stored=stored), (state, *(each for each in names if each in tensors))
