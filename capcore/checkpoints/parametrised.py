"""Which tensors are weights, when a file stores the parts a weight is computed from, or the same weight twice.

Three parametrizations of PyTorch are supported: weight norm, g·v/‖v‖ (Salimans and Kingma 2016); spectral norm, W/σ
with σ = uᵀWv (Miyato et al. 2018); and pruning, W times a mask. They are recognised by the names that
``torch.nn.utils`` and ``torch.nn.utils.parametrizations`` give their parts. If a parametrization is unknown or a part
is missing, the parts are listed as unread. Matrices of queries, values and gates, which end alike, are left alone.

Keras and Flax store the matrices of attention by head: those of queries, keys and values as (d, heads, head_dim), that
of the output as (heads, head_dim, d). They are recognised by their names, and read as matrices.
"""

import math
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
_HEADS = re.compile(
    r"(?<![^./_])(?P<part>query|key|value|out|attention_output|output(?=_dense))(?P<end>(_dense)?[./](kernel(:0)?|vars/0))$"
)
"""Names of the matrices of attention in Keras and Flax."""
_HEAD = re.compile(r"(^|\.)(lm_head|embed_out|output)\.weight$")

_TABLE = re.compile(r"(^|\.)(embed_tokens|wte|embed_in|word_embeddings|tok_embeddings|token_embd)\.weight$")


def computed(checkpoint: Checkpoint) -> Checkpoint:
    """Compute weights from their parts, under the name that the layer gives them, and set the parts aside.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> parts = {"fc.weight_g": np.array([[10.0], [2.0]]), "fc.weight_v": np.array([[3.0, 4.0], [0.0, 1.0]])}
    >>> computed(of_arrays(parts))["fc.weight"].tolist()
    [[6.0, 8.0], [0.0, 2.0]]
    """
    if checkpoint.format == "onnx":  # its graph already says so
        return checkpoint
    tensors = {name: _whole(tensor, checkpoint) for name, tensor in checkpoint.tensors.items()}
    groups: dict[tuple[str, bool], dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        new = _NEW.match(name)
        if match := new or _OLD.match(name):
            key = match["module"] + match["name"] if new else match["name"], bool(new)
            groups.setdefault(key, {})[_PARTS.get(match["part"], match["part"])] = tensor
    changed = {}
    for (name, known), parts in groups.items():
        lone = {*parts} <= {"g", "v"} and sum(other[:-1] == f"{name}_" for other in tensors) == 1
        if not (known or lone or "orig" in parts or {"g", "v"} <= {*parts}):
            continue
        weight = []
        aside, unread = f"Beside {name!r}, which is analysed as it is.", ""
        if name not in tensors:
            try:
                weight, aside = [_weight(name, parts)], f"A part of {name!r}, which is computed from it."
            except CheckpointError as error:
                aside, unread = "", str(error)
        for part in parts.values():
            changed[part.name] = [*weight, replace(part, aside=aside, unread=unread or part.unread)]
            weight = []
    after = [tensor for name in tensors for tensor in changed.get(name, [tensors[name]])]
    return replace(checkpoint, tensors={tensor.name: tensor for tensor in after})


def _whole(tensor: Tensor, checkpoint: Checkpoint) -> Tensor:
    """The tensor, or the matrix (in, out) that it holds by head; (out, in) in HDF5, where its axes are turned before.

    A layer called ``out`` may also be a convolution, if there are no queries of as many heads beside it.
    """
    match, turned = _HEADS.search(tensor.name), checkpoint.format == "hdf5"
    if match is None or len(tensor.shape) != 3 or not tensor.size:
        return tensor
    shape = tensor.shape[::-1] if turned else tensor.shape
    queries = checkpoint.tensors.get(f"{tensor.name[: match.start()]}query{match['end']}")
    if match["part"] == "out" and (queries is None or len(queries.shape) != 3 or queries.shape[1] != shape[0]):
        return tensor
    n_in = shape[0] if match["part"] in ("query", "key", "value") else shape[0] * shape[1]

    def values() -> np.ndarray:
        stored = tensor.values()
        return stored.T.reshape(n_in, -1).T if turned else stored.reshape(n_in, -1)

    matrix = (n_in, tensor.size // n_in)
    stored = f"{' × '.join(map(str, shape))}, by head"
    return replace(tensor, shape=matrix[::-1] if turned else matrix, values=values, stored=stored)


def _weight(name: str, parts: Mapping[str, Tensor]) -> Tensor:
    """Compute the weight from its parts. Raises ``CheckpointError`` if some are missing, unknown, or do not fit."""
    form = _FORMS.get(frozenset(parts))
    if form is None:
        advice = "Save it after torch.nn.utils.parametrize.remove_parametrizations."
        raise CheckpointError(f"A part of {name!r} without the others, or of an unknown parametrization. {advice}")
    fits, compute = form
    first = parts["orig" if "orig" in parts else "v"]
    if any(part.unread for part in parts.values()) or not first.is_real:
        raise CheckpointError(f"A part of {name!r}, which is computed from several that are not all read.")
    if not fits(**{key: part.shape for key, part in parts.items()}):
        shapes = " and ".join(f"{part.name!r} of shape {part.shape}" for part in parts.values())
        raise CheckpointError(f"A part of {name!r}, with {shapes}: not read.")
    kind = "float64" if "float64" in [part.dtype for part in parts.values()] else "float32"

    def values() -> np.ndarray:
        return compute(**{key: part.read().astype(kind) for key, part in parts.items()})

    stored = COMPUTED + ", ".join(part.name for part in parts.values())
    return Tensor(name, kind, first.shape, values, stored=stored)


def _weight_norm_fits(g: tuple[int, ...], v: tuple[int, ...]) -> bool:
    own = [i for i, length in enumerate(g) if length != 1]
    return not g or (len(g) == len(v) and len(own) < 2 and all(g[i] == v[i] for i in own))


def _weight_norm(g: np.ndarray, v: np.ndarray) -> np.ndarray:
    """g·v/‖v‖, with the norm over all axes except that of g."""
    axes = tuple(i for i, length in enumerate(g.shape or (1,) * v.ndim) if length == 1)
    with np.errstate(divide="ignore", invalid="ignore"):  # ‖v‖ = 0 is NaN, as in PyTorch
        direction = v / np.abs(v).max(initial=0)  # avoids overflow and underflow of the squares
        norms = np.sqrt(np.sum(direction**2, axis=axes, keepdims=True, dtype=float))
        direction *= (g / norms).astype(v.dtype)
    return direction


def _unfoldings(orig: tuple[int, ...], u: tuple[int, ...], v: tuple[int, ...]) -> list[int]:
    """Axes of the outputs that fit u and v: the first axis, or the second for transposed convolutions."""
    return [i for i in range(min(2, len(orig))) if u == (orig[i],) and v == (math.prod(orig) // orig[i],)]


def _spectral_norm(orig: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """W/(uᵀWv), with W unfolded along its outputs.

    If the shapes fit two axes, u and v decide: they are singular vectors of only one unfolding, and uᵀWv is larger
    there.
    """
    axes = _unfoldings(orig.shape, u.shape, v.shape)
    sigmas = [u @ (np.moveaxis(orig, i, 0).reshape(len(u), -1) @ v) for i in axes]
    return orig / max(sigmas, key=abs)


_FORMS: Mapping[frozenset[str], tuple[Callable[..., object], Callable[..., np.ndarray]]] = {
    frozenset("gv"): (_weight_norm_fits, _weight_norm),
    frozenset(("orig", "u", "v")): (_unfoldings, _spectral_norm),
    frozenset(("orig", "mask")): (lambda orig, mask: orig == mask, lambda orig, mask: orig * mask),
}
"""Names of the parts → whether their shapes fit, and the weight."""


def tied_by_value(checkpoint: Checkpoint) -> Checkpoint:
    """Set the last layer of a language model aside if it is a second copy of the embedding."""
    tensors = checkpoint.tensors
    ends = [[tensor for name, tensor in tensors.items() if pattern.search(name)] for pattern in (_HEAD, _TABLE)]
    if [len(end) for end in ends] != [1, 1]:
        return checkpoint
    (head,), (table,) = ends
    alike = (head.shape, head.dtype) == (table.shape, table.dtype) and head.is_real and head.size and not head.aside
    if not alike or not np.array_equal(head.read(), table.read()):
        return checkpoint
    aside = f"The same weights as {table.name!r}, stored twice."
    return replace(checkpoint, tensors={**tensors, head.name: replace(head, aside=aside)})
