"""Which tensors are weights, when a file stores the parts a weight is computed from, or the same weight twice.

Three parametrizations of PyTorch are supported: weight norm, g·v/‖v‖ (Salimans and Kingma 2016); spectral norm, W/σ
with σ = uᵀWv (Miyato et al. 2018); and pruning, W times a mask. They are recognised by the names that
``torch.nn.utils`` and ``torch.nn.utils.parametrizations`` give their parts. If a parametrization is unknown or a part
is missing, the parts are listed as unread, and none is mistaken for the weight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor

COMPUTED = "computed from "
"""How ``stored`` begins if the file itself has no tensor of that name."""
_OLD = re.compile(r"(?P<name>(.*\.)?[^.]*weight[^.]*)_(?P<part>g|v|u|orig|bar|mask)$")
_NEW = re.compile(r"(?P<module>(.*\.)?)parametrizations\.(?P<name>[^.]+)\.(?P<part>.+)$")
_PARTS = {"original0": "g", "original1": "v", "original": "orig", "0._u": "u", "0._v": "v", "bar": "orig"}
"""Names of parts → the names used by ``torch.nn.utils.weight_norm``, ``spectral_norm`` and ``prune``."""
_HEAD = re.compile(r"(^|\.)(lm_head|embed_out|output)\.weight$")

_TABLE = re.compile(r"(^|\.)(embed_tokens|wte|embed_in|word_embeddings|tok_embeddings|token_embd)\.weight$")


def computed(checkpoint: Checkpoint) -> Checkpoint:
    """Compute weights from their parts, under the name that the layer gives them, and set the parts aside.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> parts = {"fc.weight_g": np.array([[10.0], [2.0]]), "fc.weight_v": np.array([[3.0, 4.0], [0.0, 1.0]])}
    >>> computed(of_arrays(parts))["fc.weight"].tolist()
    [[6.0, 8.0], [0.0, 2.0]]
    """
    tensors = checkpoint.tensors
    if checkpoint.format == "onnx":  # its graph already says so
        return checkpoint
    groups: dict[tuple[str, bool], dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        new, old = _NEW.match(name), _OLD.match(name)
        if new:
            key = new["module"] + new["name"], True
            groups.setdefault(key, {})[_PARTS.get(new["part"], new["part"])] = tensor
        elif old:
            groups.setdefault((old["name"], False), {})[_PARTS.get(old["part"], old["part"])] = tensor
    changed: dict[str, list[Tensor]] = {}
    for (name, new_form), parts in groups.items():
        if not new_form and not _belong_together(name, parts, tensors):
            continue
        weight: list[Tensor] = []
        aside, unread = f"Beside {name!r}, which is analysed as it is.", ""
        if name not in tensors:
            try:
                weight, aside = [_weight(name, parts, new_form)], f"A part of {name!r}, which is computed from it."
            except CheckpointError as error:
                aside, unread = "", str(error)
        for i, part in enumerate(parts.values()):
            found = replace(part, aside=aside, unread=unread or part.unread)
            changed[part.name] = [*weight, found] if i == 0 else [found]
    if not changed:
        return checkpoint
    after = [each for name, tensor in tensors.items() for each in changed.get(name, [tensor])]
    return replace(checkpoint, tensors={each.name: each for each in after})


def _belong_together(name: str, parts: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> bool:
    """Whether tensors with these endings are parts of a weight. The check is needed because matrices of queries, keys,
    values and gates, and low-rank factors, have such names, too."""
    if "orig" in parts or {"g", "v"} <= {*parts}:
        return True
    if {*parts} == {"g"}:
        return len(parts["g"].shape) > 1 and sum(length > 1 for length in parts["g"].shape) < 2
    return {*parts} == {"v"} and not {f"{name}_q", f"{name}_k"} & {*tensors}


def _weight(name: str, parts: Mapping[str, Tensor], new_form: bool) -> Tensor:
    """Compute the weight from its parts. Raises ``CheckpointError`` if some are missing, unknown, or do not fit."""
    forms: Mapping[frozenset[str], Callable[..., Callable[[], np.ndarray]]] = {
        frozenset("gv"): _weight_norm,
        frozenset(("orig", "u", "v")): _spectral_norm,
        frozenset(("orig", "mask")): _pruned,
    }
    form = forms.get(frozenset(parts))
    if form is None and new_form:
        raise CheckpointError(
            f"A part of {name!r}, whose parametrization is not known: only its code can compute the weights. Save "
            "them after torch.nn.utils.parametrize.remove_parametrizations."
        )
    if form is None:
        raise CheckpointError(f"A part of {name!r} without the others that it is computed from: not read.")
    first = parts["v"] if form is _weight_norm else parts["orig"]
    if any(part.unread for part in parts.values()) or not first.is_real:
        raise CheckpointError(f"A part of {name!r}, which is computed from several that are not all read.")
    kind = "float64" if "float64" in [part.dtype for part in parts.values()] else "float32"
    values, told = form(name, kind, **parts), ", ".join(part.name for part in parts.values())
    return Tensor(name, kind, first.shape, values, stored=f"{COMPUTED}{told}")


def _misfit(name: str, one: Tensor, other: Tensor) -> CheckpointError:
    return CheckpointError(
        f"A part of {name!r}, with {one.name!r} of shape {one.shape} and {other.name!r} of {other.shape}: not read."
    )


def _weight_norm(name: str, kind: str, g: Tensor, v: Tensor) -> Callable[[], np.ndarray]:
    """Weight norm, g·v/‖v‖, with the norm over all axes except that of g."""
    full = g.shape or (1,) * len(v.shape)
    fits = len(full) == len(v.shape) and all(m in (1, n) for m, n in zip(full, v.shape, strict=True))
    if not fits or sum(m > 1 for m in full) > 1:
        raise _misfit(name, g, v)

    def values() -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):  # ‖v‖ = 0 is NaN, as in PyTorch
            direction = v.read().astype(kind)
            direction /= np.abs(direction).max(initial=0)  # avoids overflow and underflow of the squares
            axes = tuple(i for i, m in enumerate(full) if m == 1)
            norms = np.sqrt(np.sum(direction**2, axis=axes, keepdims=True, dtype=float))
            direction *= (g.read().reshape(full) / norms).astype(kind)
        return direction

    return values


def _spectral_norm(name: str, kind: str, orig: Tensor, u: Tensor, v: Tensor) -> Callable[[], np.ndarray]:
    """Spectral norm, W/(uᵀWv), with W unfolded along its outputs: the first axis, or the second for transposed
    convolutions.

    If the shapes fit both axes, u and v decide: they are singular vectors of only one unfolding, and uᵀWv is larger
    there.
    """
    shape = orig.shape
    fitting = [i for i in range(min(2, len(shape))) if u.shape == (shape[i],) and v.shape == (orig.size // shape[i],)]
    if not fitting:
        raise _misfit(name, u, orig)

    def values() -> np.ndarray:
        weights = orig.read().astype(kind)
        left, right = u.read().astype(kind), v.read().astype(kind)
        sigmas = [left @ (np.moveaxis(weights, i, 0).reshape(shape[i], -1) @ right) for i in fitting]
        weights /= max(sigmas, key=abs)
        return weights

    return values


def _pruned(name: str, kind: str, orig: Tensor, mask: Tensor) -> Callable[[], np.ndarray]:
    if orig.shape != mask.shape:
        raise _misfit(name, orig, mask)
    return lambda: orig.read().astype(kind) * mask.read().astype(kind)


def tied_by_value(checkpoint: Checkpoint) -> Checkpoint:
    """Set the last layer of a language model aside if it is a second copy of the embedding."""
    tensors = checkpoint.tensors
    heads, tables = ([name for name in tensors if pattern.search(name)] for pattern in (_HEAD, _TABLE))
    if len(heads) != 1 or len(tables) != 1:
        return checkpoint
    head, table = tensors[heads[0]], tensors[tables[0]]
    if (head.shape, head.dtype) != (table.shape, table.dtype) or not head.is_real or head.aside or len(head.shape) != 2:
        return checkpoint
    places = np.linspace(0, head.shape[0] - 1, 64 if head.one else 0).astype(int)
    for i in places:
        if not np.array_equal(head.read_one(i), table.read_one(i)):
            return checkpoint
    if not np.array_equal(head.read(), table.read()):
        return checkpoint
    aside = f"The same weights as {table.name!r}, stored twice."
    return replace(checkpoint, tensors={**tensors, head.name: replace(head, aside=aside)})
