"""Subspaces of targets whose capacity can be computed: functions of the inputs, on the data, for every output.

Functions are in units of the outputs (logits for cross-entropy), and lengths are those of the loss: L²(data) for
squared loss, the Fisher metric Σᵢ uᵢᵀWᵢuᵢ for cross-entropy. Constants are projected out first. Functions of dependent
inputs overlap, and ``how`` says how to treat that:

- "whitened": all functions together are made orthonormal with the least change (ZCA, Löwdin); capacities add up.
- "chain": in order, each group given those before it; capacities add up, and depend on the order.
- "span": each group by itself; capacities of groups that overlap add up to too much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.fft import dctn
from scipy.linalg import qr, svd

from capcore.architectures.columns import rank_tolerance
from capcore.checks.arguments import finite_array, one_of, plain_number, positive_integer
from capcore.checks.memory import arrays, fits, too_large
from capcore.networks.problem import NetworkProblem, to_metric
from capcore.results.notebook import as_table

if TYPE_CHECKING:
    from capcore.networks.results import NetworkAllocation

HOW = ("whitened", "chain", "span")


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of the inputs, in groups.

    Attributes
    ----------
    values : (N, m) array
        Function j at example i.
    labels : (m,) array of int
        The group of each, 0, 1, ….
    shape : tuple of int
        Shape of the array of capacities, which has one entry per group.
    how : str
        "whitened", "chain" or "span".
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    values: np.ndarray
    labels: np.ndarray
    shape: tuple[int, ...]
    how: str = "whitened"

    def __post_init__(self) -> None:
        one_of(self.how, "how", HOW)
        if len(self.labels) != self.values.shape[1] or max(self.labels, default=0) >= np.prod(self.shape):
            raise ValueError(f"labels: found {len(self.labels)} for {self.values.shape[1]} functions in {self.shape}.")
        if min(self.labels, default=0) < 0:
            raise ValueError(f"labels: found {min(self.labels)}, expected groups from 0.")

    def basis(self, roots: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N·K, M) columns in the metric of the loss, and the group (M,) of each; capacity is Σ zᵀSz over a group."""
        (n, k), m = roots.shape, self.values.shape[1]
        if len(self.values) != n:
            raise ValueError(f"subspaces: found functions on {len(self.values)} examples, expected {n}.")
        if not fits(arrays(n * k, m * k, copies=4)):
            advice = "Group the functions, or use fewer examples."
            raise too_large(f"subspaces: found {m:,} functions of {k} outputs", arrays(n * k, m * k, copies=4), advice)
        labels = self.labels
        if means.any():  # W mixes the outputs
            every = np.concatenate([np.ones((n, 1)), self.values], axis=1)
            columns = np.einsum("nm,kl->nkml", every, np.eye(k)).reshape(n * k, -1)
            columns, labels = to_metric(columns, roots, means), np.repeat(labels, k)
            constants, columns = columns[:, :k], columns[:, k:]
            constants = _orthonormal(constants, 0.0)
            columns = columns - constants @ (constants.T @ columns)
        else:
            columns = self.values - self.values.mean(axis=0)
        found, labels = getattr(self, f"_{self.how}")(columns, labels)
        if means.any():
            return found, labels
        return np.einsum("nm,kl->nkml", found, np.eye(k)).reshape(n * k, -1), np.repeat(labels, k)

    def _whitened(self, columns: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, s, vt = svd(columns, full_matrices=False, check_finite=False)
        rank = np.count_nonzero(s > rank_tolerance(columns.shape, s[0]))
        return u[:, :rank] @ vt[:rank], labels

    def _span(self, columns: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = [_orthonormal(columns[:, labels == group]) for group in range(int(np.prod(self.shape)))]
        return np.hstack(parts), np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])

    def _chain(self, columns: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        basis, owners = np.empty((len(columns), 0)), []
        for group in range(int(np.prod(self.shape))):
            own = columns[:, labels == group]
            rest = own - basis @ (basis.T @ own)
            added = _orthonormal(rest - basis @ (basis.T @ rest), float(np.linalg.norm(own, 2)) if own.size else 0.0)
            basis = np.hstack([basis, added])
            owners += [group] * added.shape[1]
        return basis, np.array(owners, dtype=int)

    _repr_html_ = as_table


def _orthonormal(columns: np.ndarray, scale: float = 0.0) -> np.ndarray:
    """An orthonormal basis of the columns; ``scale`` is the size that they had before something was projected out."""
    if not columns.size:
        return columns
    u, s, _ = svd(columns, full_matrices=False, check_finite=False)
    return u[:, s > rank_tolerance(columns.shape, max(float(s[0]), scale))]


def inputs(values: object, groups: object = None, how: str = "whitened") -> Functions:
    """Linear functions of the inputs: one subspace an input, or a group of inputs.

    Parameters
    ----------
    values : (N, …) array_like
        The inputs, or any functions of them; the axes after the first are the shape of the result.
    groups : (…) array_like of int, optional
        Group 0, 1, … of each, such as lags, patches, or the components of a position.
    how : str
        See above.

    Examples
    --------
    >>> inputs(np.eye(4), groups=[0, 0, 1, 1]).shape
    (2,)
    """
    array = finite_array(values, "values", tuple(range(1, 9)))
    flat = array.reshape(len(array), -1)
    if groups is None:
        return Functions(flat, np.arange(flat.shape[1]), array.shape[1:] or (1,), how)
    labels = np.asarray(groups)
    if labels.size != flat.shape[1] or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise ValueError(
            f"groups: found {labels.size} of type {labels.dtype}, expected {flat.shape[1]} whole numbers from 0."
        )
    return Functions(flat, labels.ravel(), (int(labels.max()) + 1,), how)


def patches(images: object, size: int, how: str = "whitened") -> Functions:
    """Linear functions of the pixels of every ``size`` × ``size`` patch of images (N, height, width, …)."""
    size = plain_number(size, "size")
    array = finite_array(images, "images", (3, 4))
    positive_integer(size, "size")
    rows, columns = (-(-side // size) for side in array.shape[1:3])
    labels = (np.arange(array.shape[1]) // size)[:, None] * columns + (np.arange(array.shape[2]) // size)[None]
    labels = np.broadcast_to(labels.reshape(*labels.shape, *[1] * (array.ndim - 3)), array.shape[1:])
    return Functions(array.reshape(len(array), -1), labels.ravel(), (rows, columns), how)


def frequencies(images: object, how: str = "whitened") -> Functions:
    """Linear functions of images (N, height, width): their 2-D cosine modes (DCT-II), lowest first.

    For correlated images, "whitened" spreads capacity nearly evenly over modes and "span" does not: say which you used.
    """
    array = finite_array(images, "images", 3)
    modes = dctn(array, axes=(1, 2), norm="ortho")
    return inputs(modes, how=how)


def positions(tokens: object, how: str = "whitened") -> Functions:
    """All functions of the token at each position: one-hot minus its mean, from tokens (N, T) of whole numbers."""
    array = np.asarray(tokens)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"tokens: found shape {array.shape} of {array.dtype}, expected (N, T) whole numbers.")
    every = [array[:, t, None] == np.unique(array[:, t]) for t in range(array.shape[1])]
    labels = np.repeat(np.arange(len(every)), [hot.shape[1] for hot in every])
    return Functions(np.hstack(every).astype(float), labels, (len(every),), how)


def prepare(subspaces: Mapping[str, Any] | None, problem: NetworkProblem) -> dict[str, Any]:
    """Name → orthonormal columns (N·K, M) in the metric of the loss, their groups (M,), and the shape of the groups."""
    _, roots, means = problem.errors(problem.derivatives.outputs(problem.derivatives.params))
    found = {}
    for name, given in (_default_subspaces(problem) if subspaces is None else subspaces).items():
        if isinstance(given, Functions):
            found[name] = (*given.basis(roots, means), given.shape)
            continue
        array = finite_array(given, f"subspaces[{name!r}]", (1, 2)).reshape(len(np.asarray(given)), -1)
        if len(array) == len(roots) and roots.shape[1] > 1:
            basis, labels = Functions(array, np.zeros(array.shape[1], dtype=int), (1,), "span").basis(roots, means)
        else:
            basis = in_metric(array, problem)
            labels = np.zeros(basis.shape[1], dtype=int)
        found[name] = (basis, labels, ())
    return found


def _default_subspaces(problem: NetworkProblem) -> dict[str, Functions]:
    """Linear functions of every input, if there are fewer inputs than examples."""
    points, k = problem.derivatives.inputs, problem.targets.shape[1]
    columns = points[0].size
    if points.dtype.kind != "f" or columns >= len(points) or not fits(arrays(len(points) * k, columns * k, copies=4)):
        return {}
    return {"inputs": inputs(points)}


def in_metric(columns: np.ndarray, problem: NetworkProblem) -> np.ndarray:
    """An orthonormal basis, in the metric of the loss, of columns (N·K, m) in units of the outputs."""
    _, roots, means = problem.errors(problem.derivatives.outputs(problem.derivatives.params))
    if len(columns) != roots.size:
        raise ValueError(f"columns: found {len(columns)} rows, expected {roots.size}: {roots.shape[1]} an example.")
    return _orthonormal(to_metric(columns, roots, means))


def paper_metric(allocation: NetworkAllocation, values: object) -> np.ndarray:
    """(n,) capacity of every input in paper 1's metric: raw inputs orthonormal, L²(data) on their complement.

    The leverages of the first n rows of [XᵀJ/√N ; (I − P_X) J] (Eq. 16; if the model is linear they equal
    ``per_input`` of :func:`~capcore.verbs.allocate`). A projector: it has a rank tolerance and no weight decay.

    Parameters
    ----------
    allocation : NetworkAllocation
        A dense allocation with one output and squared loss.
    values : (N, n) array_like
        Inputs with independent columns, in the units in which they should be orthonormal.
    """
    x = finite_array(values, "values", 2)
    model = allocation.dense("paper_metric")
    if model.roots.shape != (len(x), 1) or allocation.loss != "squared":
        raise ValueError(
            f"values: found {x.shape} for outputs {model.roots.shape}, expected one output and squared loss."
        )
    if (independent := int(np.linalg.matrix_rank(x))) < x.shape[1]:
        raise ValueError(
            f"values: found {x.shape[1]} columns of rank {independent}, expected independent ones. Leave some out."
        )
    q, _ = qr(x, mode="economic", check_finite=False)
    rest = model.scaled - q @ (q.T @ model.scaled)
    rest = qr(rest, mode="r", check_finite=False)[0][: min(rest.shape)]
    stacked = np.vstack([x.T @ model.scaled / np.sqrt(len(x)), rest])
    lengths = np.linalg.norm(stacked, axis=0)
    u, s, _ = svd(stacked / np.where(lengths > 0, lengths, 1.0), full_matrices=False, check_finite=False)
    rank = np.count_nonzero(s > rank_tolerance(model.scaled.shape, float(s[0])))
    return np.square(u[: x.shape[1], :rank]).sum(axis=1)
