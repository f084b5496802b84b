"""Subspaces of targets whose capacity can be computed: functions of the inputs, on the data, for every output.

Functions are in units of the outputs (logits for cross-entropy), and lengths are those of the loss: L²(data) for
squared loss, the Fisher metric Σᵢ uᵢᵀWᵢuᵢ for cross-entropy. Constants are projected out first. Functions of dependent
inputs overlap: all functions together are made orthonormal with the least change (ZCA, Löwdin), so that capacities add
up. For the capacity of a group by itself, give it as a subspace of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import dctn
from scipy.linalg import svd

from capcore.architectures.columns import rank_tolerance
from capcore.checks.arguments import finite_array, plain_number, positive_integer
from capcore.checks.memory import arrays, check_memory, fits
from capcore.networks.losses import to_metric
from capcore.networks.problem import NetworkProblem
from capcore.results.notebook import Record


@dataclass(frozen=True, eq=False, repr=False)
class Functions(Record):
    """Functions of the inputs, in groups.

    Attributes
    ----------
    values : (N, m) array
        Function j at example i.
    labels : (m,) array of int
        The group of each, 0, 1, ….
    shape : tuple of int
        Shape of the array of capacities, which has one entry per group.
    """

    values: np.ndarray
    labels: np.ndarray
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        groups = int(np.prod(self.shape))
        if len(self.labels) != self.values.shape[1] or not all(0 <= label < groups for label in self.labels):
            raise ValueError(
                f"labels: found {len(self.labels)} for {self.values.shape[1]} functions, expected one for each, "
                f"from 0 to {groups - 1}."
            )

    def basis(self, roots: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N·K, M) columns in the metric of the loss, and the group (M,) of each; capacity is Σ zᵀSz over a group."""
        n, m = self.values.shape
        k = means.size // n
        size = f"subspaces: found {m:,} functions of {k} outputs"
        check_memory(arrays(n * k, m * k, copies=4), size, "Group the functions, or use fewer examples.")
        if not means.any() and np.all(roots == 1):  # one basis serves every output
            columns = _whitened(self.values - self.values.mean(axis=0))
            return _of_every_output(columns, k), np.repeat(self.labels, k)
        columns = to_metric(_of_every_output(np.column_stack([np.ones(n), self.values]), k), roots, means)
        constants, columns = _orthonormal(columns[:, :k]), columns[:, k:]
        return _whitened(columns - constants @ (constants.T @ columns)), np.repeat(self.labels, k)


def _of_every_output(values: np.ndarray, k: int) -> np.ndarray:
    """(N·K, m·K) functions (N, m) as targets of one output at a time."""
    return np.einsum("nm,kl->nkml", values, np.eye(k)).reshape(len(values) * k, -1)


def _whitened(columns: np.ndarray) -> np.ndarray:
    """Columns with the least change that makes them orthonormal, in the directions that they span."""
    u, s, vt = svd(columns, full_matrices=False, check_finite=False)
    rank = np.count_nonzero(s > rank_tolerance(columns.shape, s[0]))
    return u[:, :rank] @ vt[:rank]


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns."""
    if not columns.size:
        return columns
    u, s, _ = svd(columns, full_matrices=False, check_finite=False)
    return u[:, s > rank_tolerance(columns.shape, float(s[0]))]


def by_group(values: np.ndarray, labels: np.ndarray, form: tuple[int, ...]) -> np.ndarray:
    """(groups, …) sums over the groups of the first axis, in the order of an array of shape ``form``."""
    sums = np.zeros((int(np.prod(form)), *values.shape[1:]))
    np.add.at(sums, labels, values)
    return sums


def shaped(values: np.ndarray, form: tuple[int, ...]) -> Any:
    """An array of shape ``form``, or a number for ()."""
    return values.reshape(form) if form else float(values[0])


def inputs(values: object, groups: object = None) -> Functions:
    """Linear functions of the inputs: one subspace an input, or a group of inputs.

    Parameters
    ----------
    values : (N, …) array_like
        The inputs, or any functions of them; the axes after the first are the shape of the result.
    groups : (…) array_like of int, optional
        Group 0, 1, … of each, such as lags, patches, or the components of a position.

    Examples
    --------
    >>> inputs(np.eye(4), groups=[0, 0, 1, 1]).shape
    (2,)
    """
    array = finite_array(values, "values", tuple(range(1, 9)))
    flat = array.reshape(len(array), -1)
    if groups is None:
        return Functions(flat, np.arange(flat.shape[1]), array.shape[1:] or (1,))
    labels = np.asarray(groups)
    if labels.size != flat.shape[1] or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise ValueError(f"groups: found {labels.size} of {labels.dtype}, expected {flat.shape[1]} integers from 0.")
    return Functions(flat, labels.ravel(), (int(labels.max()) + 1,))


def patches(images: object, size: int) -> Functions:
    """Linear functions of the pixels of every ``size`` × ``size`` patch of images (N, height, width, …)."""
    size = positive_integer(plain_number(size, "size"), "size")
    array = finite_array(images, "images", (3, 4))
    rows, columns = (-(-side // size) for side in array.shape[1:3])
    labels = (np.arange(array.shape[1]) // size)[:, None] * columns + (np.arange(array.shape[2]) // size)[None]
    labels = np.broadcast_to(labels.reshape(*labels.shape, *[1] * (array.ndim - 3)), array.shape[1:])
    return Functions(array.reshape(len(array), -1), labels.ravel(), (rows, columns))


def frequencies(images: object) -> Functions:
    """Linear functions of images (N, height, width): their 2-D cosine modes (DCT-II), lowest first.

    Of correlated images, whitening spreads capacity nearly evenly over modes.
    """
    return inputs(dctn(finite_array(images, "images", 3), axes=(1, 2), norm="ortho"))


def positions(tokens: object) -> Functions:
    """All functions of the token at each position: one-hot minus its mean, from tokens (N, T) of whole numbers."""
    array = np.asarray(tokens)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"tokens: found shape {array.shape} of {array.dtype}, expected (N, T) whole numbers.")
    one_hot = [array[:, t, None] == np.unique(array[:, t]) for t in range(array.shape[1])]
    labels = np.repeat(np.arange(len(one_hot)), [hot.shape[1] for hot in one_hot])
    return Functions(np.hstack(one_hot).astype(float), labels, (len(one_hot),))


def prepare(subspaces: Mapping[str, Any] | None, problem: NetworkProblem) -> dict[str, Any]:
    """Name → orthonormal columns (N·K, M) in the metric of the loss, their groups (M,), and the shape of the groups.

    By default the linear functions of every input, if there are fewer inputs than examples.
    """
    errors, roots, means = problem.at(problem.derivatives.params)
    n, k = errors.shape
    if subspaces is None:
        points = problem.derivatives.inputs
        few = points.dtype.kind == "f" and points[0].size < len(points)
        few = few and fits(arrays(points.shape[0] * k, points[0].size * k, copies=4))
        subspaces = {"inputs": inputs(points)} if few else {}
    prepared = {}
    for name, given in subspaces.items():
        if isinstance(given, Functions):
            if len(given.values) not in (n, len(means)):
                raise ValueError(f"subspaces: found functions on {len(given.values)} examples, expected {n}.")
            prepared[name] = (*given.basis(roots, means), given.shape)
            continue
        array = finite_array(given, f"subspaces[{name!r}]", (1, 2)).reshape(len(np.asarray(given)), -1)
        if len(array) in (n, len(means)) and len(array) < means.size:
            basis = Functions(array, np.zeros(array.shape[1], dtype=int), (1,)).basis(roots, means)[0]
        else:
            basis = in_metric(array, roots, means)
        prepared[name] = (basis, np.zeros(basis.shape[1], dtype=int), ())
    return prepared


def in_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """An orthonormal basis, in the metric of the loss, of columns (N·K, m) in units of the outputs."""
    if len(columns) != means.size:
        raise ValueError(f"columns: found {len(columns)} rows, expected {means.size}: {means.shape[1]} a position.")
    return _orthonormal(to_metric(columns, roots, means))
