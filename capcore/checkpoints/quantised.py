"""Quantised weights converted to numbers, for documented formats, as the libraries that wrote them do.

A weight is its code times a scale, with one scale per tensor, channel, group or block. A *scheme* looks at one tensor
and its neighbours, and returns the weights with the names of the tensors that they are made from, or None:

- eight bits times a scale: compressed-tensors, DeepSeek, FBGEMM, ComfyUI, bitsandbytes;
- ``qweight``, ``qzeros``, ``scales`` of 2, 4 or 8 bits: GPTQ, packed along inputs, and AWQ, packed along outputs;
- ``weight_packed`` of 2, 4 or 8 bits, with or without ``weight_zero_point``: compressed-tensors;
- four-bit floats: MXFP4, with a power of two per 32 weights, stored as ``_blocks`` and ``_scales`` (GPT-OSS),
  ``weight_packed``, or safetensors' own type F4 beside a ``scale`` of type F8_E8M0 (DeepSeek); NVFP4, with an eight-bit
  float per 16 weights, as compressed-tensors and ModelOpt write it;
- NF4 or FP4 with ``absmax``: bitsandbytes.

Eight-bit floats in a file without any scale are numbers.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from capcore.checkpoints.files import guarded, strict_json
from capcore.checkpoints.foreign import refuse
from capcore.checkpoints.number_types import CODES, FLOAT4, QUANTISED, float8_table, unpacked
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor, checked_shape

Tensors = Mapping[str, Tensor]
Config = Mapping[str, Any]
Made = tuple[Tensor, Sequence[Tensor]]
"""Weights, and the tensors that they are made from."""
SCALE = re.compile(r"([._](weight_|global_)?scales?(_inv|_2|_weight)?|\.SCB|absmax|quant_map|zero_point|qzeros|g_idx)$")
BLOCK = 128  # rows and columns of a block if neither the shapes nor the configuration tell
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""The output to which each group of four bits of a word belongs, lowest bits first."""


def dequantised(checkpoint: Checkpoint, config: Callable[[], Config] = dict) -> Checkpoint:
    """Convert quantised weights to numbers, and set their scales aside.

    config : reads the model's ``quantization_config``, which tells block sizes and which of two conventions for zeros
    GPTQ used.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> codes = {"fc.weight": np.array([[-127, 0, 64]], np.int8), "fc.weight_scale": np.array([[0.5]])}
    >>> dequantised(of_arrays(codes))["fc.weight"].tolist()
    [[-63.5, 0.0, 32.0]]
    """
    tensors = checkpoint.tensors
    whole = [name for name, tensor in tensors.items() if not tensor.is_real and tensor.dtype not in ("int64", "bool")]
    if not whole or checkpoint.format == "onnx":  # its operators already say so
        return checkpoint
    said = config()
    typed = [f"{tensors[name].dtype} {name}" for name in whole]
    refuse([*typed, f"quant_method: {said.get('quant_method')}"], checkpoint.name)
    cast = not said and not any(re.search(r"(?i)^(?!.*norm).*scale|absmax", name) for name in tensors)
    places = {*whole, *(name.rpartition(".")[0] for name in whole)}
    after = {}
    parts: dict[str, str] = {}
    for name, tensor in tensors.items():
        after[name] = tensor
        if cast and tensor.unread == QUANTISED and tensor.dtype in CODES and tensor.dtype != "float8_e8m0fnu":
            after[name] = _cast(tensor)
            continue
        try:
            made = _made(name, tensors, said)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:  # neighbouring tensors may be anything
            reason = f"Quantised, in a form that is not read ({type(error).__name__}: {error})."
            after[name] = replace(tensor, unread=str(error) if isinstance(error, CheckpointError) else reason)
        else:
            if made is not None:
                weights, own = made
                after[weights.name] = weights
                parts |= {part.name: weights.name for part in own if part.name != weights.name}
    for name, tensor in after.items():
        if name in parts:
            after[name] = replace(tensor, aside=f"A part of {parts[name]!r}, which is read with it.", unread="")
        elif SCALE.search(name) and not tensor.unread and name.rpartition(".")[0] in places:
            after[name] = replace(tensor, aside="A scale or an offset of quantised weights.")
    return replace(checkpoint, tensors=after)


def _cast(tensor: Tensor) -> Tensor:
    """Eight-bit floats as the numbers that they are."""

    def values() -> np.ndarray:
        return float8_table(tensor.dtype)[tensor.values()]

    return replace(tensor, dtype="float32", values=values, unread="", stored=tensor.dtype)


def _made(name: str, tensors: Tensors, said: Config) -> Made | None:
    """The weights that the first scheme that knows this tensor makes of it, and their parts."""
    for scheme in SCHEMES:
        if made := scheme(name, tensors, said):
            weights, parts = made
            if weights.name != name and weights.name in tensors:
                raise CheckpointError(f"Quantised, beside another {weights.name!r}: not read.")
            return replace(weights, values=guarded(repr(weights.name))(weights.values)), parts
    return None


def beside(tensors: Tensors, *names: str) -> list[Tensor]:
    """The tensors of these names that there are."""
    return [tensors[name] for name in names if name in tensors]


def unfit(*parts: Tensor) -> CheckpointError:
    """The error for tensors that together are in no format that is read."""
    shapes = ", ".join(f"{part.name!r} of {part.dtype} and shape {part.shape}" for part in parts)
    return CheckpointError(f"Quantised, with {shapes}: not read.")


def part_of(tensor: Tensor, kinds: str = "float bfloat uint8") -> Tensor:
    """Return a scale or zero point, if its type is one of ``kinds``."""
    if not tensor.dtype.startswith(tuple(kinds.split())) or (tensor.unread and tensor.dtype not in CODES):
        raise unfit(tensor)
    return tensor


def numbers(tensor: Tensor, scale: bool = True) -> np.ndarray:
    """float32 values of a scale or a zero point. Bytes of a scale are exponents of two."""
    values, kind = tensor.values(), "float8_e8m0fnu" if scale and tensor.dtype == "uint8" else tensor.dtype
    return float8_table(kind)[values] if kind.startswith("float8") else values.astype(np.float32)


def aligned(scale: np.ndarray, shape: tuple[int, ...], part: Tensor) -> np.ndarray:
    """Give the scale as many axes as the weights. Each has the weights' length, length one, or one entry per block."""
    if scale.size == 1:
        return scale.reshape((1,) * len(shape))
    if scale.ndim == 1 and len(scale) == shape[-2] and (len(shape) == 2 or len(scale) != shape[0]):
        scale = scale.reshape(*[1] * (len(shape) - 2), -1, 1)
    scale = scale.reshape(*scale.shape, *([1] * (len(shape) - scale.ndim)))
    fits = [0 < m <= n for m, n in zip(scale.shape, shape, strict=False)]
    lone = scale.ndim == len(shape) == 2 and scale.shape[1] == 1 and scale.shape[0] not in (1, shape[0])
    if scale.ndim != len(shape) or not all(fits) or lone or (len(shape) == 3 and len(scale) not in (1, shape[0])):
        raise unfit(part)
    return scale


def spread(scale: np.ndarray, axis: int, group: np.ndarray) -> np.ndarray:
    """Repeat the entries of a scale along an axis, where weight i belongs to group[i]. One entry stays as it is."""
    return scale if scale.shape[axis] in (1, len(group)) else scale.take(group, axis)


def grouped(order: Tensor | None, n: int, n_groups: int) -> np.ndarray:
    """Group of each input: as ``g_idx`` says, or so many inputs after one another."""
    group = np.arange(n) // (n // n_groups)
    stated = group if order is None else order.values()
    if stated.max() < 0:  # -1 stands for no order
        return group
    if stated.shape != (n,) or stated.min() < 0:
        raise ValueError(f"found groups of shape {stated.shape}, expected one for each of {n} inputs")
    return stated


def eight_bits(name: str, tensors: Tensors, config: Config) -> Made | None:
    """Eight-bit floats or int8 times a scale, less a zero point: compressed-tensors, DeepSeek (whose
    ``weight_scale_inv`` is a factor despite its name), FBGEMM, ComfyUI (``scale_weight``) and bitsandbytes (``SCB``).
    """
    tensor, stem = tensors[name], name.removesuffix("weight")
    if (tensor.dtype not in CODES and tensor.dtype != "int8") or len(tensor.shape) not in (2, 3):
        return None
    names = [f"{name}_scale", f"{name}_scale_inv", f"{stem}scale_weight", f"{stem}SCB"]
    scale = next(iter(beside(tensors, *names)), None)
    if scale is None:
        return None
    parts = [part_of(scale), *(part_of(zero, "int uint") for zero in beside(tensors, f"{name}_zero_point"))]
    forms = {aligned(np.zeros(part.shape, np.bool_), tensor.shape, part).shape for part in parts}
    order = beside(tensors, f"{stem}weight_format")
    if len(forms) > 1 or any(part.values().any() for part in order):  # rows may have an order of their own
        raise unfit(tensor, *parts, *order)
    (form,) = forms
    stated = config.get("weight_block_size") or [BLOCK * scale.name.endswith("_inv")] * 2
    if form[-2] == tensor.shape[-2]:  # groups of columns
        stated = [0, tensor.shape[-1] // form[-1]]
    lengths = [block(n, m, length) for n, m, length in zip(tensor.shape[-2:], form[-2:], stated, strict=True)]
    unit = np.float32(1 / 127 if scale.name.endswith("SCB") else 1)

    def factors(part: Tensor) -> np.ndarray:
        factor = aligned(numbers(part, part is scale), tensor.shape, part)
        for axis, length in zip((-2, -1), lengths, strict=True):
            factor = spread(factor, axis, np.arange(tensor.shape[axis]) // length)
        return factor

    def values() -> np.ndarray:
        codes = tensor.values()
        weights = float8_table(tensor.dtype)[codes] if tensor.dtype in CODES else codes.astype(np.float32)
        for zero in parts[1:]:
            weights -= factors(zero)
        weights *= factors(scale) * unit
        return weights

    return Tensor(name, "float32", tensor.shape, values, stored=f"{tensor.dtype}, {scale.name}"), parts


def block(n: int, m: int, stated: int = 0) -> int:
    """Block length if n weights form m blocks: the stated one if it fits, else all, one, or 128.

    >>> block(576, 5), block(512, 512), block(192, 2, 96)
    (128, 1, 96)
    """
    for length in (stated, n, 1, BLOCK):
        if length > 0 and -(-n // length) == m:
            return length
    raise CheckpointError(f"Quantised, in {m} blocks of {n} weights of unknown length: not read.")


def gptq_or_awq(name: str, tensors: Tensors, config: Config) -> Made | None:
    """GPTQ and AWQ: (code − zero) × scale, one scale per group of inputs. GPTQ's first version stores zero − 1."""
    stem = name.removesuffix("qweight")
    parts = beside(tensors, name, f"{stem}qzeros", f"{stem}scales")
    if name == stem or len(parts) < 3:
        return None
    words, zeros, scales = parts
    n_groups, n_out = part_of(scales).shape
    bits, awq = 32 * zeros.shape[1] / n_out, words.shape[1] != n_out
    n_in = words.shape[0] if awq else words.shape[0] * 32 / bits
    if bits not in ((4,) if awq else (2, 4, 8)) or n_in % n_groups or not words.dtype == zeros.dtype == "int32":
        raise unfit(words, zeros, scales)
    order = None if awq else tensors.get(f"{stem}g_idx")
    one = 0 if awq or config.get("checkpoint_format") == "gptq_v2" else 1

    def integers(part: Tensor, axis: int) -> np.ndarray:
        plain = unpacked(part.values().view(np.uint32), int(bits), axis)
        return plain.reshape(len(plain), -1, 8)[..., np.argsort(AWQ_ORDER)].reshape(plain.shape) if awq else plain

    def values() -> np.ndarray:
        group = grouped(order, int(n_in), n_groups)
        offsets = (integers(zeros, 1) + one) & (2 ** int(bits) - 1)  # a zero of 0 is stored as the largest code
        codes = integers(words, 1 if awq else 0).astype(np.float32)
        return ((codes - offsets[group]) * numbers(scales)[group]).T

    stored = f"{'AWQ' if awq else 'GPTQ'}, {bits:g} bits, {n_groups} groups"
    made = Tensor(f"{stem}weight", "float32", (n_out, int(n_in)), values, stored=stored)
    return made, [*parts, *([order] if order else [])]


def compressed_tensors(name: str, tensors: Tensors, config: Config) -> Made | None:
    """compressed-tensors: (code − zero) × scale, one scale per group of inputs. The default zero is mid-range."""
    stem = name.removesuffix("_packed")
    parts = beside(tensors, name, f"{stem}_scale", f"{stem}_shape")
    if name == stem or len(parts) < 3 or tensors[name].dtype != "int32":
        return None
    words, scale, stated = parts
    zero, order = tensors.get(f"{stem}_zero_point"), tensors.get(f"{stem}_g_idx")
    n_out, n_in = (int(n) for n in stated.values().ravel())
    fitting = [bits for bits in range(1, 9) if words.shape == (n_out, -(-n_in * bits // 32))]
    n_groups = aligned(np.zeros(part_of(scale, "float bfloat").shape, np.bool_), (n_out, n_in), scale).shape[1]
    if fitting not in ([2], [4], [8]) or n_in % n_groups:
        raise unfit(words, scale, Tensor(stem, "weights", (n_out, n_in)))
    (bits,) = fitting

    def values() -> np.ndarray:
        group = grouped(order, n_in, n_groups)
        codes = unpacked(words.values().view(np.uint32), bits, 1)[:, :n_in].astype(np.float32)
        zeros = np.full((1, 1), 2 ** (bits - 1), np.uint8)
        if zero:
            zeros = spread(unpacked(zero.values().view(np.uint32), bits, 0)[:n_out], 1, group)
        return (codes - zeros) * spread(aligned(numbers(scale), (n_out, n_in), scale), 1, group)

    made = Tensor(stem, "float32", (n_out, n_in), values, stored=f"{bits} bits, {stem}_scale")
    return made, [*parts, *filter(None, (zero, order))]


def four_bit_floats(name: str, tensors: Tensors, config: Config) -> Made | None:
    """MXFP4 and NVFP4: bytes of shape (…, n/2) or (…, blocks, 16), times a scale of shape (…, blocks).

    The lower half of a byte is the first weight of a pair. Scales that are eight-bit floats have a scale of their own
    for the whole matrix, which either multiplies or divides.
    """
    stem = name.removesuffix("_blocks").removesuffix("_packed")
    bare, codes = stem.removesuffix("weight"), tensors[name]
    names = [f"{stem}_scales" if name.endswith("_blocks") else f"{stem}_scale"]
    names += [f"{bare}scale", f"{stem}_scales"] if codes.dtype == FLOAT4 else []
    scale = next(iter(beside(tensors, *names)), None)
    if codes.dtype not in ("uint8", FLOAT4) or scale is None:
        return None
    powers, shape = scale.dtype in ("uint8", "float8_e8m0fnu"), scale.shape
    kind, per = ("MXFP4", 32) if powers else ("NVFP4", 16)
    length = shape[-1] * per // (1 if codes.dtype == FLOAT4 else 2)  # of the last axis, which counts numbers or bytes
    expected = (*shape, per // 2) if name.endswith("_blocks") else (*shape[:-1], length)
    own = [part_of(part, "float bfloat") for part in beside(tensors, f"{stem}_scale_2", f"{stem}_global_scale")]
    odd = codes.shape != expected or not (powers or scale.dtype == "float8_e4m3fn") or len(own) != (not powers)
    odd = odd or any(part.size not in (1, shape[0] if len(shape) > 2 else 1) for part in own)
    if odd or f"{bare}comfy_quant" in tensors:  # ComfyUI's kernels reorder the scales
        raise unfit(codes, scale, *own)
    table = float8_table("float8_e8m0fnu" if powers else "float8_e4m3fn")

    def weights() -> np.ndarray:
        scales = table[scale.values()]
        raw = codes.values().reshape(*scales.shape, per // 2)
        values = FP4[np.stack([raw & 15, raw >> 4], axis=-1)].reshape(*scales.shape, per)
        values *= scales[..., None]
        for part in own:
            factor = part.values().astype(np.float32).reshape(-1, *[1] * len(shape))
            (np.divide if part.name.endswith("_global_scale") else np.multiply)(values, factor, out=values)
        return values.reshape(*scales.shape[:-1], -1)

    made = Tensor(stem, "float32", (*shape[:-1], shape[-1] * per), weights, stored=f"{kind}, {scale.name}")
    return made, [codes, scale, *own]


def bitsandbytes(name: str, tensors: Tensors, config: Config) -> Made | None:
    """NF4 or FP4: each weight is an index into a table of 16 values, times a scale per block.

    The upper half of a byte is the first weight of a pair. Scales may themselves be indices into a table, times a
    second scale, plus an offset.
    """
    kinds = {kind: f"{name}.quant_state.bitsandbytes__{kind.lower()}" for kind in ("NF4", "FP4")}
    kind = next((kind for kind, state in kinds.items() if state in tensors), "")
    if not kind or tensors[name].dtype != "uint8":
        return None
    said = strict_json(tensors[kinds[kind]].values().tobytes(), kinds[kind])
    shape, block = checked_shape(said["shape"], kinds[kind]), int(said["blocksize"])
    names = ("absmax", "quant_map", "nested_absmax", "nested_quant_map")
    parts = beside(tensors, *(f"{name}.{part}" for part in names))
    codes, size = tensors[name], math.prod(shape)
    absmax, table, *nested = parts
    odd = table.size != 16 or -(-size // 2) != codes.size or -(-size // block) != part_of(absmax).size
    if odd or len(nested) != 2 * (absmax.dtype == "uint8") or not part_of(table).dtype.startswith(("float", "bfloat")):
        raise unfit(codes, *parts)

    def values() -> np.ndarray:
        scales = absmax.values().ravel()
        if nested:
            own = nested[0].values().ravel()[np.arange(scales.size) // said["nested_blocksize"]]
            scales = nested[1].values().ravel()[scales] * own + np.float32(said["nested_offset"])
        raw = codes.values().ravel()
        weights = table.values().astype(np.float32)[np.stack([raw >> 4, raw & 15], axis=-1)].ravel()[:size]
        weights *= np.repeat(scales, min(block, size))[:size]
        return weights.reshape(shape)

    return Tensor(name, "float32", shape, values, stored=f"{kind}, blocks of {block}"), [tensors[kinds[kind]], *parts]


SCHEMES = (eight_bits, gptq_or_awq, compressed_tensors, four_bit_floats, bitsandbytes)
