"""The numbers that WeightWatcher 0.7.7 reports for a checkpoint, so that its users can check this package against it.

The module reproduces the tool's table of layers, ``details``, and its averages, ``summary``: which tensors count as
layers, what matrices they give, and every column in the tool's own arithmetic. None of this is a recommendation. As in
the tool, failed layers count as α = −1, small layers are fitted by a different formula than large ones, and some layers
are left out silently. The page on WeightWatcher explains what this package does by default, and why it differs. The
code is our own, written from the tool's formulas; tests compare it with numbers that the tool computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.checkpoints.parametrised import COMPUTED
from capcore.checkpoints.tensors import REAL, Checkpoint, NonFiniteError
from capcore.checks.arguments import of_kind
from capcore.spectra.analysis import over_layers
from capcore.spectra.weightwatcher_fits import fit_noise, fits_as_weightwatcher

if TYPE_CHECKING:
    import pandas

AVERAGED = ("log_norm", "alpha", "alpha_weighted", "log_alpha_norm", "log_spectral_norm", "stable_rank", "mp_softrank")
MIN_EVALS, MAX_EVALS, MAX_N = 8, 15_000, 50_000
WEAK, EPSILON = 1e-6, 1e-10
LARGE = 256
"""Shorter side from which singular values are tried by the Gram matrix."""
RELATIVE = 1e-6
"""Largest relative error that is accepted for an eigenvalue of the Gram matrix."""


@dataclass(frozen=True)
class LayerMatrices:
    """The matrices of one layer, and the numbers that the tool keeps with them.

    ``kind`` : ``dense`` or ``conv2d``. ``stack`` (k, rows, columns) : the matrices, in single precision as the tool
    reads them. ``N``, ``M`` : what the tool calls the larger and the smaller dimension. For a wide convolution with an
    even number of taps, or with a kernel larger than its channels, the tool has them the wrong way round, and so has
    this module. ``rf`` : number of matrices in the layer.
    """

    kind: str
    stack: np.ndarray
    N: int
    M: int
    rf: int


def weightwatcher_details(
    checkpoint: Checkpoint | Mapping[str, np.ndarray], *, pool: bool = True, mp_fit: bool = False, workers: int = 1
) -> pandas.DataFrame:
    """Reproduce the table of ``WeightWatcher.analyze(pool=…, mp_fit=…)`` for a state dict: one row per layer.

    The columns have the tool's names. Needs pandas.

    Parameters
    ----------
    checkpoint : Checkpoint or mapping
        From :func:`~capcore.checkpoints.opening.read_checkpoint`, or weights by name. As in the tool, only names that
        end in ``.weight`` count as layers.
    pool : bool
        Whether to fit all slices of a convolution together. Otherwise each slice is fitted alone, as in paper 3, and
        has its own row with a ``slice_id``.
    mp_fit : bool
        Whether to add the tool's Marchenko–Pastur fit, with ``mp_softrank``.
    workers : int
        Number of layers whose singular values are computed at the same time, on threads with one BLAS thread each. With
        1, BLAS uses as many threads as it is set to. The table is the same either way.

    Examples
    --------
    >>> weights = {"fc.weight": np.random.default_rng(0).standard_normal((30, 20)), "fc.bias": np.zeros(30)}
    >>> weightwatcher_details(weights)[["longname", "N", "M", "num_evals", "status"]].values.tolist()
    [['fc', 30, 20, 20, 'success']]
    """
    of_kind(checkpoint, "checkpoint", Checkpoint | Mapping)
    if isinstance(checkpoint, Mapping) and not all(hasattr(value, "shape") for value in checkpoint.values()):
        raise TypeError("checkpoint: found values that are no arrays, expected a mapping of names to arrays.")
    import pandas as pd

    table = preset_table(checkpoint, pool=pool, mp_fit=mp_fit, workers=workers, refuse=True)
    return pd.DataFrame(table.rows)


def weightwatcher_summary(details: pandas.DataFrame) -> dict[str, float]:
    """Average over layers like ``WeightWatcher.get_summary``: failed layers count as α = −1, and NaN is skipped.

    >>> weights = {"fc.weight": np.random.default_rng(0).standard_normal((30, 20))}
    >>> sorted(weightwatcher_summary(weightwatcher_details(weights)))[:3]
    ['alpha', 'alpha_weighted', 'log_alpha_norm']
    """
    return averages(details.to_dict("records"))


_Parts = list[tuple[dict[str, Any], LayerMatrices, np.ndarray]]


@dataclass(frozen=True)
class PresetTable:
    """Rows of ``details`` as mappings, and the weights that no row covers, each name with the reason."""

    rows: Sequence[Mapping[str, Any]]
    left_out: Mapping[str, str]


def averages(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Average rows that are mappings, and skip NaN."""
    columns = {name: [float(row[name]) for row in rows if name in row] for name in AVERAGED}
    known = {name: [value for value in column if not math.isnan(value)] for name, column in columns.items() if column}
    with np.errstate(invalid="ignore"):
        return {name: float(np.mean(column)) if column else math.nan for name, column in known.items()}


def preset_table(
    checkpoint: Checkpoint | Mapping[str, np.ndarray],
    *,
    pool: bool = True,
    mp_fit: bool = False,
    workers: int = 1,
    refuse: bool = False,
    progress: bool | None = False,
) -> PresetTable:
    """Compute the :class:`PresetTable` of a checkpoint.

    refuse : raise if a layer cannot be read; by default it is left out, with the reason.
    """
    tensors: Mapping[str, Any] = checkpoint.tensors if isinstance(checkpoint, Checkpoint) else checkpoint
    weights = {name: part for name, part in tensors.items() if name.endswith(".weight") and not _is_computed(part)}
    numbers = {name.removesuffix(".weight"): i for i, name in enumerate(weights, 1)}
    left_out = {}

    def of_layer(item: tuple[str, Any]) -> _Parts:
        name, tensor = item
        try:
            parts = list(_parts(name.removesuffix(".weight"), tensor, pool))
            if not parts and sum(length > 1 for length in tensor.shape) > 1:
                left_out[name] = "Too few or too many eigenvalues, too long a side, or not of two or four axes."
            return parts
        except NonFiniteError:
            raise
        except Exception as error:
            if refuse:
                raise
            left_out[name] = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            return []

    layers = over_layers(of_layer, [*weights.items()], workers, progress, "WeightWatcher's numbers")
    parts: _Parts = [part for layer in layers for part in layer]
    fits = fits_as_weightwatcher([np.ravel(values**2) for *_, values in parts])
    for name, tensor in tensors.items():
        if name not in weights and len(tensor.shape) > 1 and str(tensor.dtype) in REAL:
            made = "Computed from others: no tensor of that name is stored, and the tool computes none."
            left_out[name] = made if _is_computed(tensor) else "Its name does not end in .weight."
    rows = [_row(*part, fit, mp_fit) for part, fit in zip(parts, fits, strict=True)]
    heads = [{"layer_id": numbers[row["longname"]], "name": row["longname"].rpartition(".")[2]} for row in rows]
    return PresetTable([head | row for head, row in zip(heads, rows, strict=True)], left_out)


def _is_computed(tensor: Any) -> bool:
    return getattr(tensor, "stored", "").startswith(COMPUTED)


def layer_matrices(weights: np.ndarray, *, pool: bool = True) -> LayerMatrices | None:
    """Make the :class:`~capcore.spectra.weightwatcher.LayerMatrices` of a tensor, or None if the tool leaves it out.

    The tool silently drops tensors that are not 2- or 4-dimensional, those with fewer than two output channels, layers
    with fewer than 8 or more than 15,000 eigenvalues (pooled or, with ``pool=False``, per slice), and layers with N
    above 50,000. Weights that overflow or underflow in single precision raise ``ValueError``.

    >>> layer = layer_matrices(np.zeros((16, 8, 3, 3)))
    >>> layer.stack.shape, layer.N, layer.M, layer.rf
    ((9, 16, 8), 16, 8, 9)
    >>> layer_matrices(np.zeros((16, 3, 3, 3)), pool=False) is None
    True
    """
    if weights.ndim not in (2, 4) or len(weights) < 2 or 0 in weights.shape:
        return None
    with np.errstate(over="ignore"):
        single = np.asarray(weights, dtype=np.float32)
    largest, limits = float(np.abs(weights).max()), np.finfo(np.float32)
    if np.isfinite(largest) and largest and not limits.tiny <= np.abs(single).max() < np.inf:
        raise ValueError(
            f"weights: found up to {largest:.1e}, expected {limits.tiny:.1e} to {limits.max:.1e}. Use analyse_spectra."
        )
    rows, columns, *kernel = weights.shape
    height, width = kernel or (1, 1)
    taps = height * width
    stack = np.moveaxis(single.reshape(rows, columns, taps), 2, 0)
    swapped = rows < columns and (not kernel or (rows + columns >= height + width and taps % 2 == 1))
    N, M = (columns, rows) if swapped else (rows, columns)
    layer = LayerMatrices("conv2d" if kernel else "dense", stack, N, M, taps)
    number = M * (taps if pool else 1)
    return layer if MIN_EVALS <= number <= MAX_EVALS and N <= MAX_N else None


def singular_values(layer: LayerMatrices, pool: bool) -> np.ndarray:
    """Singular values (k, min(rows, columns)), descending, of the matrices of a layer.

    The tool scales the matrices of a convolution first: by √½ if its slices are pooled, and by √(rf/2) if each slice is
    fitted alone.
    """
    stack = layer.stack.astype(float)
    if layer.kind == "conv2d":
        stack *= np.sqrt((1 if pool else layer.rf) / 2.0)
    if min(stack.shape[1:]) < LARGE:
        return np.linalg.svd(stack, compute_uv=False)
    return np.stack([large_singular_values(matrix) for matrix in stack])


def large_singular_values(matrix: np.ndarray) -> np.ndarray:
    """Singular values (n,), descending, of one matrix: square roots of the eigenvalues λ of the smaller Gram matrix.

    This takes a third to half of the time of LAPACK's own route, which is left for matrices whose smallest λ is not
    clear of rounding: errors are about (10 + √m)·ε·λ_max, m being the longer side. So no rank deficiency is missed.

    >>> large_singular_values(np.array([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])).round(12).tolist()
    [4.0, 3.0]
    """
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    eigenvalues = np.linalg.eigvalsh(tall.T @ tall)[::-1]
    rounding = (10 + len(tall) ** 0.5) * np.finfo(float).eps * eigenvalues[0]
    if eigenvalues[-1] * RELATIVE >= rounding:
        return np.asarray(np.sqrt(eigenvalues))
    return np.linalg.svd(matrix, compute_uv=False)


def _parts(name: str, tensor: Any, pool: bool) -> Iterator[tuple[dict[str, Any], LayerMatrices, np.ndarray]]:
    """Yield the first columns of each row, its layer, and the singular values (k, n) of the k matrices it covers."""
    layer = layer_matrices(tensor if isinstance(tensor, np.ndarray) else tensor.read(), pool=pool)
    if layer is not None:
        head = {"longname": name, "layer_type": layer.kind, "N": layer.N, "M": layer.M, "rf": layer.rf}
        values = singular_values(layer, pool)
        for i, part in enumerate([values] if pool else values[:, None, :]):
            yield {**head, "Q": layer.N / layer.M, **({} if pool else {"slice_id": i})}, layer, part


def _row(
    head: dict[str, Any], layer: LayerMatrices, values: np.ndarray, fit: dict[str, Any], mp_fit: bool
) -> dict[str, Any]:
    evals = np.sort(values**2, axis=None)
    noise = fit_noise(evals, layer.N, layer.M) if mp_fit else {}
    roots, eps = np.sqrt(evals), np.finfo(float).eps
    rank = np.count_nonzero(roots > roots.max() * layer.N * eps)
    norm, largest = float(np.sum(evals)), float(evals[-1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_largest = float(np.log10(largest))
        share = evals / np.float64(norm) + EPSILON
        return {
            **head,
            "num_evals": len(evals),
            "sv_max": float(values.max()),
            "sv_min": float(values.min(axis=1).max()),
            "rank_loss": int(np.count_nonzero(values <= values.max(axis=1, keepdims=True) * layer.N * eps)),
            "weak_rank_loss": int(np.count_nonzero(evals < WEAK)),
            "lambda_max": largest,
            **fit,
            **noise,
            "norm": norm,
            "log_norm": float(np.log10(norm)),
            "spectral_norm": largest,
            "log_spectral_norm": log_largest,
            "alpha_weighted": fit["alpha"] * log_largest,
            "log_alpha_norm": float(np.log10(np.sum(evals ** fit["alpha"]))),
            "stable_rank": float(np.float64(norm) / largest),
            "matrix_rank": int(rank),
            "entropy": float(-np.sum(share * np.log(share)) / np.log(rank + EPSILON)),
        }
