"""Quantised weights converted to numbers, for documented formats.

A weight is its code times a scale, with one scale per tensor, channel, group or block. Three kinds are supported.
Eight-bit floats and int8 from compressed-tensors, DeepSeek, FBGEMM and ComfyUI have a ``weight_scale``,
``weight_scale_inv`` (a factor despite its name) or ``scale_weight``, and possibly a ``weight_zero_point``. int8 from
bitsandbytes has ``SCB``. :mod:`capcore.checkpoints.packed` reads the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from capcore.checkpoints import packed
from capcore.checkpoints.files import Guarded
from capcore.checkpoints.number_types import CODES, float8_table
from capcore.checkpoints.packed import Found, block, numbers, part_of, spread, wide
from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor

SCALE = re.compile(r"([._](weight_|global_)?scales?(_inv|_2|_weight)?|\.SCB|absmax|quant_map|zero_point|qzeros|g_idx)$")


def dequantised(checkpoint: Checkpoint, config: Callable[[], Mapping[str, Any]] = dict) -> Checkpoint:
    """Convert quantised weights to numbers, and set their scales aside.

    config : reads the model's ``quantization_config``, which tells block sizes and which of two conventions for zeros
    GPTQ used.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> codes = {"fc.weight": np.array([[-127, 0, 64]], np.int8), "fc.weight_scale": np.array([[0.5]])}
    >>> dequantised(of_arrays(codes))["fc.weight"].tolist()
    [[-63.5, 0.0, 32.0]]
    """
    tensors, found = checkpoint.tensors, dict[str, Tensor]()
    whole = [name for name, tensor in tensors.items() if not tensor.is_real and tensor.dtype not in ("int64", "bool")]
    if not whole or checkpoint.format == "onnx":  # its operators already say so
        return checkpoint
    said, places = config(), {*whole, *(name.rpartition(".")[0] for name in whole)}
    parts: dict[str, str] = {}
    for name, tensor in tensors.items():
        found[name] = tensor
        try:
            made = next((each for scheme in SCHEMES if (each := scheme(name, tensors, said))), None)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:  # neighbouring tensors may be anything
            reason = f"Quantised, in a form that is not read ({type(error).__name__}: {error})."
            found[name] = replace(tensor, unread=str(error) if isinstance(error, CheckpointError) else reason)
            continue
        if made and made[0].name in tensors.keys() - {name}:
            found[name] = replace(tensor, unread=f"Quantised, beside another {made[0].name!r}: not read.")
        elif made:
            (weights, names), guard = made, Guarded(repr(made[0].name))
            found[weights.name] = replace(
                weights, values=guard(weights.values), one=guard(weights.one) if weights.one else None
            )
            parts |= {part: weights.name for part in names if part != weights.name}
    for name, tensor in found.items():
        if name in parts:
            found[name] = replace(tensor, aside=f"A part of {parts[name]!r}, which is read with it.", unread="")
        elif SCALE.search(name) and not tensor.unread and name.rpartition(".")[0] in places:
            found[name] = replace(tensor, aside="A scale of quantised weights.")
    return replace(checkpoint, tensors=found)


def _eight_bits(name: str, tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> Found | None:
    """Eight-bit floats or int8, times a scale."""
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
    form = spread(np.zeros(part_of(tensors, scale).shape, np.bool_), tensor.shape, scale).shape
    if zero and spread(np.zeros(part_of(tensors, zero, "int uint").shape, np.bool_), tensor.shape, zero).shape != form:
        raise CheckpointError(f"Quantised, with {zero!r} of another shape than {scale!r}: not read.")
    order = tensors.get(f"{stem}weight_format")
    if order is not None and order.values().any():
        raise CheckpointError(f"Quantised, with {stem}weight_format: an order of rows of its own, not read.")
    stack, told = len(tensor.shape) == 3, config.get("weight_block_size") or [128 * scale.endswith("_inv")] * 2
    if form[-2] == tensor.shape[-2]:  # groups of columns
        told = [0, tensor.shape[-1] // form[-1]]
    down, across = (block(n, m, each) for n, m, each in zip(tensor.shape[-2:], form[-2:], told, strict=True))

    def matrix(codes: np.ndarray, i: int | None) -> np.ndarray:
        values = table[codes] if table is not None else codes.astype(np.float32)
        for part in (zero, scale):
            if part:
                factor = spread(numbers(tensors[part], part == scale), tensor.shape, part)
                factor = factor[min(i, len(factor) - 1)] if i is not None else factor
                for row, each in enumerate(wide(factor, values.shape[1], across)):
                    rows = values[row * down : (row + 1) * down]
                    np.subtract(rows, each, out=rows) if part == zero else np.multiply(rows, each * per_127, out=rows)
        return values

    def one(i: int) -> np.ndarray:
        return matrix(tensor.one(i) if tensor.one else tensor.values()[i], i)

    def values() -> np.ndarray:
        return np.stack([one(i) for i in range(tensor.shape[0])]) if stack else matrix(tensor.values(), None)

    made = Tensor(name, "float32", tensor.shape, values, stored=f"{tensor.dtype}, {scale}", one=one if stack else None)
    return made, (scale, *([zero] if zero else []))


SCHEMES = (_eight_bits, packed.gptq_or_awq, packed.packed, packed.four_bit_floats, packed.bitsandbytes)
