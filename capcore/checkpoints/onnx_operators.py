"""What operators of ONNX do with weights: rearrange their axes, take them in groups, convert codes to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from capcore.checkpoints.files import Guarded
from capcore.checkpoints.number_types import unpacked
from capcore.checkpoints.tensors import Tensor

CONVOLUTIONS = ("Conv", "FusedConv", "ConvTranspose", "DeformConv", "ConvInteger", "QLinearConv")
RECURRENT = ("LSTM", "GRU", "RNN")
WEIGHTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("MatMul", "Gemm", "MatMulInteger", "FusedMatMul", "FusedGemm"), (0, 1)),
    **dict.fromkeys((*CONVOLUTIONS, "MatMulNBits", "Attention", "QAttention", "DynamicQuantizeMatMul"), (1,)),
    **dict.fromkeys(RECURRENT, (1, 2)), "QLinearConv": (3,), "QLinearMatMul": (0, 3), "Einsum": (0, 1, 2, 3),
    "Gather": (0,),
}  # fmt: skip
"""Operator → which of its inputs are weights. The third input of Gemm and of Conv is a bias, so it is not listed."""
QUANTISED = {
    "DequantizeLinear": 0, "QLinearConv": 3, "QLinearMatMul": 3, "MatMulNBits": 1, "ConvInteger": 1, "MatMulInteger": 1,
}  # fmt: skip
"""Operator → which of its inputs holds quantised weights."""
SAME = ("Identity", "Cast", "DequantizeLinear", "QuantizeLinear", "Squeeze", "Unsqueeze")
"""Operators whose output has the same entries as their first input in the same order, up to axes of length one."""
KEPT = (*SAME, "Transpose", "Reshape", "Flatten")
"""Operators that keep all entries of their first input, but may rearrange them."""


def rearranged(node: Any, tensor: Tensor, target: Tensor | None) -> Tensor | None:
    """The tensor after an operator that rearranges axes; None if that depends on a run.

    target : second input of ``Reshape``.
    """
    said, shape = {attribute.name: attribute for attribute in node.attribute}, tensor.shape
    if node.op_type == "Transpose":
        axes = tuple(said["perm"].ints) if "perm" in said else tuple(range(len(shape)))[::-1]
        if sorted(axes) != list(range(len(shape))):
            return None
        return _moved(tensor, tuple(shape[i] for i in axes), partial(np.transpose, axes=axes))
    if node.op_type == "Flatten":
        axis = said["axis"].i if "axis" in said else 1
        sides = [prod(shape[:axis]), prod(shape[axis:])]
    elif target is None or target.dtype != "int64" or target.size > 8 or "allowzero" in said:
        return None
    else:
        sides = [shape[i] if n == 0 and i < len(shape) else int(n) for i, n in enumerate(target.read().ravel())]
    if sides.count(-1) == 1 and (known := -prod(sides)) > 0:
        sides[sides.index(-1)] = prod(shape) // known
    if min(sides, default=0) < 1 or prod(sides) != prod(shape):
        return None
    return _moved(tensor, tuple(sides), lambda values: values.reshape(sides))


def _moved(tensor: Tensor, shape: tuple[int, ...], move: Callable[[np.ndarray], np.ndarray]) -> Tensor:
    return replace(tensor, shape=shape, values=lambda: move(tensor.values()), one=None)


def as_taken(tensor: Tensor, node: Any) -> list[Tensor]:
    """Weights as an operator uses them: its groups, a stack of matrices, or a matrix for each direction."""
    shape, kind = tensor.shape, node.op_type
    if not tensor.is_real:
        return [tensor]
    if kind in CONVOLUTIONS:
        groups = next((attribute.i for attribute in node.attribute if attribute.name == "group"), 1)
        if len(shape) < 3 or groups < 1 or shape[0] % groups:
            return [replace(tensor, unread=f"Taken by {kind} in {groups} groups, which its shape does not have.")]
        return [replace(tensor, groups=groups, transposed=kind == "ConvTranspose")]
    if len(shape) < 3:
        return [tensor]
    if kind in RECURRENT and len(shape) == 3 and shape[0] in (1, 2):  # (directions, gates · hidden, in)
        names = [tensor.name, f"{tensor.name}.reverse"][: shape[0]]
        read = [partial(tensor.codes, i) for i in range(shape[0])]
        return [replace(tensor, name=names[i], shape=shape[1:], values=read[i], one=None) for i in range(shape[0])]
    matrices = prod(shape[:-2])
    if kind in ("Gather", "Einsum") and matrices > 1:
        reason = f"Taken by {kind}, of {len(shape)} axes: which of them are rows is not followed."
        return [replace(tensor, unread=reason)]
    form = (matrices, *shape[-2:]) if matrices > 1 else shape[-2:]
    stack = _moved(tensor, form, lambda values: values.reshape(form))
    return [replace(stack, kind="stack" if matrices > 1 else "")]


def quantised_inputs(node: Any) -> tuple[int, str, str, str] | None:
    """Which input holds quantised weights, and the names of these, their scale and zero point.

    The scale of ``ConvInteger`` and ``MatMulInteger`` has the name that onnxruntime's quantiser gives it.
    """
    i, names = QUANTISED.get(node.op_type), [*node.input, *[""] * 8]
    if i is None or i >= len(node.input):
        return None
    if node.op_type.endswith("Integer"):
        return i, names[1], f"{names[1].removesuffix('_quantized')}_scale", names[3]
    return i, names[i], names[i + 1], names[i + 2]


def dequantised(node: Any, codes: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor | None:
    """Weights (code − zero) × scale, with one scale per tensor, per index of an axis, or per block of an axis.

    None if the parts do not fit, or if the zero point is not known.
    """
    said, shape = {attribute.name: attribute.i for attribute in node.attribute}, codes.shape
    parts = quantised_inputs(node)
    if parts is None or codes.unread or scale.unread or (zero is None and parts[3]):
        return None
    if node.op_type == "MatMulNBits":
        return _in_blocks(node, said, codes, scale, zero)
    axis = said.get("axis", 1) if node.op_type == "DequantizeLinear" else 0 if "Conv" in node.op_type else -1
    length = max(said.get("block_size", 1), 1)
    if len(shape) < 2 or not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    blocks = (*shape[:axis], -(-shape[axis] // length), *shape[axis + 1 :]) if length > 1 else (shape[axis],)
    if scale.size != 1 and scale.shape != blocks:
        return None

    def spread(part: Tensor) -> np.ndarray:
        values = part.values().astype(np.float32)
        if values.size == 1 or values.ndim == 1:
            return values.reshape([values.size if i == axis else 1 for i in range(len(shape))])
        return values.take(np.arange(shape[axis]) // length, axis)

    def values() -> np.ndarray:
        numbers = codes.values().astype(np.float32)
        return (numbers - spread(zero) if zero else numbers) * spread(scale)

    return _numbers(codes, scale, shape, values)


def _in_blocks(node: Any, said: Mapping[str, int], codes: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor | None:
    """onnxruntime's ``MatMulNBits``: packed along inputs with the lowest bits first, with a scale for each block."""
    rows, columns, bits, length = (
        said.get(name, n) for name, n in {"N": 0, "K": 0, "bits": 4, "block_size": 1}.items()
    )
    blocks = -(-columns // max(length, 1))
    odd = codes.dtype != "uint8" or bits not in (2, 4, 8) or any(node.input[4:5]) or said.get("weight_prepacked")
    if odd or codes.size * 8 != rows * blocks * length * bits or scale.size != rows * blocks:
        return None
    group = np.arange(columns) // length

    def integers(tensor: Tensor) -> np.ndarray:
        raw = tensor.values().reshape(rows, -1)
        return unpacked(raw, bits, 1) if tensor.dtype == "uint8" else raw

    def values() -> np.ndarray:
        zeros = integers(zero)[:, :blocks] if zero else np.full((rows, blocks), 2 ** (bits - 1))
        numbers = integers(codes)[:, :columns].astype(np.float32) - zeros.astype(np.float32)[:, group]
        return numbers * scale.values().astype(np.float32).reshape(rows, blocks)[:, group]

    return _numbers(codes, scale, (rows, columns), values)


def _numbers(codes: Tensor, scale: Tensor, shape: tuple[int, ...], values: Callable[[], np.ndarray]) -> Tensor:
    guarded = Guarded(repr(codes.name))(values)
    return Tensor(codes.name, "float32", shape, guarded, stored=f"{codes.dtype}, {scale.name}")
