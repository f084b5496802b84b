"""Quantised weights converted to numbers, for documented formats.

A weight is its code times a scale, with one scale per tensor, channel, group or block. A *scheme* looks at one tensor
and its neighbours, and returns the weights with the names of the tensors that they are made from, or None.
:mod:`capcore.checkpoints.packed` has the schemes that pack several weights to a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from capcore.checkpoints.files import Guarded
from capcore.checkpoints.number_types import CODES, float8_table
from capcore.checkpoints.packed import SCHEMES, Made, aligned, numbers, part_of, spread, unfit
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor

SCALE = re.compile(r"([._](weight_|global_)?scales?(_inv|_2|_weight)?|\.SCB|absmax|quant_map|zero_point|qzeros|g_idx)$")
BLOCK = 128  # rows and columns of a block if the shapes do not determine it


def dequantised(checkpoint: Checkpoint, config: Callable[[], Mapping[str, Any]] = dict) -> Checkpoint:
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
    said, places = config(), {*whole, *(name.rpartition(".")[0] for name in whole)}
    after: dict[str, Tensor] = {}
    parts: dict[str, str] = {}
    for name, tensor in tensors.items():
        after[name] = tensor
        try:
            weights, names = _made(name, tensors, said)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:  # neighbouring tensors may be anything
            reason = f"Quantised, in a form that is not read ({type(error).__name__}: {error})."
            after[name] = replace(tensor, unread=str(error) if isinstance(error, CheckpointError) else reason)
        else:
            if weights is not None:
                after[weights.name] = weights
                parts |= {part: weights.name for part in names if part != weights.name}
    for name, tensor in after.items():
        if name in parts:
            after[name] = replace(tensor, aside=f"A part of {parts[name]!r}, which is read with it.", unread="")
        elif SCALE.search(name) and not tensor.unread and name.rpartition(".")[0] in places:
            after[name] = replace(tensor, aside="A scale of quantised weights.")
    return replace(checkpoint, tensors=after)


def _made(name: str, tensors: Mapping[str, Tensor], said: Mapping[str, Any]) -> tuple[Tensor | None, tuple[str, ...]]:
    """The weights that the first scheme that knows this tensor makes of it, and the names of their parts."""
    for scheme in (eight_bits, *SCHEMES):
        if made := scheme(name, tensors, said):
            weights, names = made
            if weights.name != name and weights.name in tensors:
                raise CheckpointError(f"Quantised, beside another {weights.name!r}: not read.")
            guard = Guarded(repr(weights.name))
            one = guard(weights.one) if weights.one else None
            return replace(weights, values=guard(weights.values), one=one), names
    return None, ()


def eight_bits(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Made | None:
    """Eight-bit floats or int8 times a scale, less a zero point: compressed-tensors, DeepSeek (whose
    ``weight_scale_inv`` is a factor despite its name), FBGEMM, ComfyUI (``scale_weight``) and bitsandbytes (``SCB``).
    """
    tensor, stem = tensors[name], name.removesuffix("weight")
    if (tensor.dtype not in CODES and tensor.dtype != "int8") or len(tensor.shape) not in (2, 3):
        return None
    names = [f"{name}_scale", f"{name}_scale_inv", f"{stem}scale_weight", f"{stem}SCB"]
    scale = next((tensors[other] for other in names if other in tensors), None)
    if scale is None:
        return None
    parts = [part_of(scale, "float bfloat uint8")]
    if f"{name}_zero_point" in tensors:
        parts.append(part_of(tensors[f"{name}_zero_point"], "int uint"))
    forms = {aligned(np.zeros(part.shape, np.bool_), tensor.shape, part).shape for part in parts}
    order = tensors.get(f"{stem}weight_format")
    if len(forms) > 1 or (order is not None and order.values().any()):  # rows may have an order of their own
        raise unfit(tensor, *parts, *([order] if order else []))
    (form,) = forms
    stated = config.get("weight_block_size") or [BLOCK * scale.name.endswith("_inv")] * 2
    if form[-2] == tensor.shape[-2]:  # groups of columns
        stated = [0, tensor.shape[-1] // form[-1]]
    lengths = [block(n, m, length) for n, m, length in zip(tensor.shape[-2:], form[-2:], stated, strict=True)]
    unit = np.float32(1 / 127 if scale.name.endswith("SCB") else 1)

    def matrix(i: int | None) -> np.ndarray:
        codes = tensor.codes(i)
        values = float8_table(tensor.dtype)[codes] if tensor.dtype in CODES else codes.astype(np.float32)
        for part, apply in reversed([*zip(parts, (np.multiply, np.subtract), strict=False)]):
            factor = aligned(numbers(part, part is scale), tensor.shape, part)
            factor = factor if i is None else factor[min(i, len(factor) - 1)]
            factor = factor * unit if part is scale else factor
            for axis, length in enumerate(lengths):
                factor = spread(factor, axis, np.arange(values.shape[axis]) // length)
            apply(values, factor, out=values)
        return values

    def values() -> np.ndarray:
        return matrix(None) if len(tensor.shape) == 2 else np.stack([matrix(i) for i in range(tensor.shape[0])])

    stored, one = f"{tensor.dtype}, {scale.name}", matrix if len(tensor.shape) == 3 else None
    return Tensor(name, "float32", tensor.shape, values, stored=stored, one=one), tuple(part.name for part in parts)


def block(n: int, m: int, stated: int = 0) -> int:
    """Block length if n weights form m blocks: the stated one if it fits, else a power of two, or 128 with a remainder.

    >>> block(576, 5), block(512, 4), block(192, 2, 96)
    (128, 128, 96)
    """
    power = n // m if n % m == 0 and n // m & (n // m - 1) == 0 else 0
    for length in (stated, n if m == 1 else 0, power, BLOCK if n % m else 0):
        if length > 0 and -(-n // length) == m:
            return length
    raise CheckpointError(f"Quantised, in {m} blocks of {n} weights of unknown length: not read.")
