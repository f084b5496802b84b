"""Quantised weights as the numbers they stand for, where the format is documented.

A weight is its number times its scale, of which there is one per tensor, channel, group or block. Read are eight-bit
floats and int8, with ``weight_scale``, ``weight_scale_inv`` (a factor, too) or ``scale_weight``, and a
``weight_zero_point``, of compressed-tensors, DeepSeek, FBGEMM and ComfyUI; int8 with ``SCB`` of bitsandbytes; and the
forms of :mod:`capcore.spectra.packed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from capcore.spectra import packed
from capcore.spectra.archives import Guarded
from capcore.spectra.memory import CODES, float8_table
from capcore.spectra.packed import Found, block, numbers, spread, wide
from capcore.spectra.tensors import Checkpoint, CheckpointError, Tensor

SCALE = re.compile(r"([._](weight_|global_)?scales?(_inv|_2|_weight)?|\.SCB|absmax|quant_map|zero_point|qzeros|g_idx)$")


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
            found[weights.name] = replace(weights, values=Guarded(repr(weights.name))(weights.values))
            parts |= {part: weights.name for part in names if part != weights.name}
    for name, tensor in found.items():
        if name in parts:
            found[name] = replace(tensor, aside=f"A part of {parts[name]!r}, which is read with it.", unread="")
        elif SCALE.search(name) and not tensor.unread:
            found[name] = replace(tensor, aside="A scale of quantised weights.")
    return replace(checkpoint, tensors=found)


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
        spread(np.zeros(tensors[part].shape, np.bool_), tensor.shape, part)
    stack = len(tensor.shape) == 3

    def matrix(codes: np.ndarray, i: int | None) -> np.ndarray:
        values = table[codes] if table is not None else codes.astype(np.float32)
        for part in (zero, scale):
            if part:
                factor = spread(numbers(tensors[part]), tensor.shape, part)
                factor = factor[min(i, len(factor) - 1)] if i is not None else factor
                blocks = block(values.shape[0], len(factor))
                for row, each in enumerate(wide(factor, values.shape[1])):
                    rows = values[row * blocks : (row + 1) * blocks]
                    np.subtract(rows, each, out=rows) if part == zero else np.multiply(rows, each * per_127, out=rows)
        return values

    def one(i: int) -> np.ndarray:
        return matrix(tensor.one(i) if tensor.one else tensor.values()[i], i)

    def values() -> np.ndarray:
        return np.stack([one(i) for i in range(tensor.shape[0])]) if stack else matrix(tensor.values(), None)

    made = Tensor(name, "float32", tensor.shape, values, stored=f"{tensor.dtype}, {scale}", one=one if stack else None)
    return made, (scale, *([zero] if zero else []))


SCHEMES = (_eight_bits, packed.gptq_or_awq, packed.packed, packed.four_bit_floats, packed.bitsandbytes)
