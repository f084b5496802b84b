"""Redundant parameters: those without which the constraint space stays the same (paper 1, Appendix D, Definition 3).

A set of parameters is jointly redundant when the columns of the Jacobian that belong to the others span as much as all
of them. That is a comparison of two ranks, and for a polynomial model both are exact: elimination modulo a prime, at
random whole-number parameters or at floating-point ones taken as the exact fractions they are. Σ is invertible and
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from capcore.architectures.base import Architecture
from capcore.architectures.finite_field import PRIME, jacobian_of_function, rank_modulo_prime, residues
from capcore.checks.arguments import finite_array, positive_integer

Model = Architecture | Callable[[np.ndarray], object]
MOST_LAYERS = 12  # all sets of layers are tried


def exact_jacobian(
    model: Any, params: object = None, *, n_params: int | None = None, seed: int = 0, prime: int = PRIME
) -> np.ndarray:
    """(n, n_params) Jacobian of a polynomial model, every entry reduced modulo ``prime``, exact.

    Parameters
    ----------
    model : Architecture or callable
        An architecture with ``jacobian_modulo``, or a polynomial function params → coefficients.
    params : (n_params,) array_like, optional
        Where; default: random integers drawn from ``seed``, which stand for almost all parameters.
    n_params : int, optional
        For a function without ``params``, how many it takes.
    seed : int
        Of random parameters.
    prime : int
        Below 2³¹.

    Raises
    ------
    TypeError
        For a model that is not polynomial.
    ValueError
        For a number of parameters that is missing or wrong.

    Examples
    --------
    >>> exact_jacobian(lambda w: [w[0] ** 2 + w[1]], [3.0, 1.0]).tolist()
    [[6, 1]]
    """
    exact = getattr(model, "jacobian_modulo", None)
    if exact is None and not callable(model):
        raise TypeError(
            f"model: found {type(model).__name__}, expected an architecture with jacobian_modulo, or a polynomial "
            "function params → coefficients."
        )
    count = model.n_params if exact else n_params
    if params is not None:
        values = finite_array(params, "params", 1)
        if count is not None and values.size != count:
            raise ValueError(f"params: found {values.size} values, expected {count} (n_params).")
        integers = residues(values, prime)
    else:
        if count is None:
            raise ValueError("n_params: not given, expected the number of parameters of the function.")
        integers = np.random.default_rng(seed).integers(1, prime, size=positive_integer(count, "n_params"))
    return exact(integers, prime) if exact else jacobian_of_function(model, integers, prime)


def parameter_set(model: object, subset: object, n_params: int) -> np.ndarray:
    """The sorted indices that a description of a set of parameters stands for.

    Parameters
    ----------
    model : Architecture
        Its layers have names.
    subset : str, slice or list
        A layer's name, a list of names, a slice, a mask (n_params,) or a list of indices.
    n_params : int
        Number of parameters.

    Raises
    ------
    ValueError
        For names and indices that do not exist.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> parameter_set(Hierarchical(1, 3), "layer 2", 6).tolist()
    [2, 3]
    """
    columns = np.arange(n_params)
    if isinstance(subset, str):
        subset = [subset]
    if isinstance(subset, slice):
        return columns[subset]
    entries = list(subset) if isinstance(subset, Iterable) else [subset]
    names = [entry for entry in entries if isinstance(entry, str)]
    if names and len(names) == len(entries):
        layers: dict[str, slice] = getattr(model, "layers", {})
        unknown = [name for name in names if name not in layers]
        if unknown:
            raise ValueError(f"subset: found {unknown[0]!r}, expected layers among {', '.join(layers) or 'none'}.")
        return np.unique(np.concatenate([columns[layers[name]] for name in names]))
    array = np.asarray(entries)
    if array.dtype == bool and array.shape == (n_params,):
        return columns[array]
    if array.size == 0:
        return columns[:0]
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= n_params:
        raise ValueError(
            f"subset: found {subset!r}, expected layer names, a mask of length {n_params} or indices from 0 to "
            f"{n_params - 1}."
        )
    return np.unique(array)


def marginal_rank(model: Any, subset: object, params: object = None, **options: Any) -> int:
    """Exact marginal capacity of a set of parameters: κ minus the rank of all other columns (paper 1, §5.1.4).

    Parameters
    ----------
    model : Architecture or callable
        An architecture, or a polynomial function params → coefficients.
    subset : str, slice or list
        A layer's name, a list of names, a slice, a mask (n_params,) or a list of indices.
    params : (n_params,) array_like, optional
        This and the options as :func:`exact_jacobian` takes them.
    **options : int

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> [marginal_rank(Hierarchical(4, 6), f"layer {l}") for l in range(1, 7)]
    [0, 0, 4, 4, 0, 0]
    """
    jacobian = exact_jacobian(model, params, **options)
    prime = options.get("prime", PRIME)
    chosen = parameter_set(model, subset, jacobian.shape[1])
    return _rank(jacobian, prime) - _rank(np.delete(jacobian, chosen, axis=1), prime)


def is_redundant(model: Any, subset: object, params: object = None, **options: Any) -> bool:
    """Whether a set of parameters is jointly redundant, exactly (paper 1, Definition 3).

    Parameters
    ----------
    model : Architecture or callable
        This and the others as :func:`marginal_rank` takes them.
    subset : str, slice or list
    params : (n_params,) array_like, optional
    **options : int

    Examples
    --------
    >>> is_redundant(lambda w: [w[0] ** 2 + w[1]], [1], n_params=2)
    True
    """
    return marginal_rank(model, subset, params, **options) == 0


def layer_set_ranks(model: Any, params: object = None, **options: Any) -> dict[tuple[str, ...], int]:
    """Set of layers → exact rank of their columns, for every set, smaller sets first; the empty one has rank 0.

    Raises
    ------
    ValueError
        For more than ``MOST_LAYERS`` layers.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> layer_set_ranks(Hierarchical(2, 2))
    {(): 0, ('layer 1',): 4, ('layer 2',): 4, ('layer 1', 'layer 2'): 4}
    """
    names = list(model.layers)
    if len(names) > MOST_LAYERS:
        raise ValueError(f"model: found {len(names)} layers, expected at most {MOST_LAYERS}: every set is tried.")
    jacobian = exact_jacobian(model, params, **options)
    prime = options.get("prime", PRIME)
    return {
        chosen: _rank(jacobian[:, parameter_set(model, chosen, jacobian.shape[1])], prime)
        for size in range(len(names) + 1)
        for chosen in combinations(names, size)
    }


def minimal_layer_sets(model: Any, params: object = None, **options: Any) -> list[tuple[str, ...]]:
    """All sets of layers whose columns span the whole constraint space, and none of whose layers can be left out.

    Parameters
    ----------
    model : Architecture
        Of at most ``MOST_LAYERS`` layers.
    params : (n_params,) array_like, optional
        This and the options as :func:`exact_jacobian` takes them.
    **options : int

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> minimal_layer_sets(Hierarchical(4, 6)), minimal_layer_sets(Hierarchical(2, 2))
    ([('layer 3', 'layer 4')], [('layer 1',), ('layer 2',)])
    """
    ranks = layer_set_ranks(model, params, **options)
    whole = max(ranks.values())
    found: list[tuple[str, ...]] = []
    for chosen, rank in ranks.items():  # smaller sets first
        if rank == whole and not any(set(smaller) <= set(chosen) for smaller in found):
            found.append(chosen)
    return found


def redundant_layer_sets(model: Any, params: object = None, **options: Any) -> list[tuple[str, ...]]:
    """The largest jointly redundant sets of layers (paper 1, Definition 3): what ``minimal_layer_sets`` leave.

    Parameters
    ----------
    model : Architecture
        This and the others as :func:`minimal_layer_sets` takes them.
    params : (n_params,) array_like, optional
    **options : int

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> redundant_layer_sets(Hierarchical(4, 6))
    [('layer 1', 'layer 2', 'layer 5', 'layer 6')]
    """
    sets = minimal_layer_sets(model, params, **options)
    return [tuple(name for name in model.layers if name not in kept) for kept in sets]


def maximal_redundant_set(
    model: Any, order: Sequence[int] | np.ndarray | None = None, params: object = None, **options: Any
) -> np.ndarray:
    """Indices of a jointly redundant set that no further parameter can join, filled up in the given order.

    What is left is a basis of the columns: κ parameters. One elimination finds it, since leaving out columns in
    this order keeps the ones that enter a basis in the opposite order.

    Parameters
    ----------
    model : Architecture or callable
        An architecture, or a polynomial function params → coefficients.
    order : (n_params,) array_like of int, optional
        All parameter indices; each is added if the set stays redundant. Default: 0, 1, 2, …
    params : (n_params,) array_like, optional
        This and the options as :func:`exact_jacobian` takes them.
    **options : int

    Examples
    --------
    >>> maximal_redundant_set(lambda w: [w[0] * w[1]], [1, 0], n_params=2).tolist()
    [1]
    """
    jacobian = exact_jacobian(model, params, **options)
    n_params = jacobian.shape[1]
    sequence = np.arange(n_params) if order is None else np.asarray(order)
    if sequence.shape != (n_params,) or not np.array_equal(np.sort(sequence), np.arange(n_params)):
        raise ValueError(f"order: expected every index from 0 to {n_params - 1} once.")
    backwards = sequence[::-1]
    kept = backwards[_pivot_columns(jacobian[:, backwards], options.get("prime", PRIME))]
    return np.setdiff1d(np.arange(n_params), kept)


def _rank(columns: np.ndarray, prime: int) -> int:
    return rank_modulo_prime(columns, prime) if columns.shape[1] else 0


def _pivot_columns(matrix: np.ndarray, prime: int) -> list[int]:
    """The columns that are not combinations of those before them, by elimination modulo ``prime``."""
    from flint import nmod_mat

    rows, columns = matrix.shape
    reduced, rank = nmod_mat(rows, columns, (matrix % prime).reshape(-1).tolist(), prime).rref()
    table = np.array([[int(reduced[i, j]) != 0 for j in range(columns)] for i in range(rank)], dtype=bool)
    return table.argmax(axis=1).tolist() if rank else []
