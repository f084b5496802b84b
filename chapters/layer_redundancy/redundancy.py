"""Redundant parameters: those without which the constraint space stays the same (paper 1, Appendix D, Definition 3).

A set of parameters is jointly redundant when the columns of the Jacobian that belong to the others span as much as all
of them. That is a comparison of two ranks, and for a polynomial model both are exact: elimination modulo a prime, at
random whole-number parameters or at floating-point ones taken as the exact fractions they are. Σ is invertible and
changes nothing.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from capcore.architectures.base import Architecture
from capcore.architectures.finite_field import PRIME, rank_modulo_prime, residues

MOST_LAYERS = 12  # all sets of layers are tried


def exact_jacobian(model: Any, params: object = None, *, seed: int = 0, prime: int = PRIME) -> np.ndarray:
    """(n, n_params) Jacobian of a polynomial model, every entry reduced modulo ``prime``, exact.

    Parameters
    ----------
    model : Architecture
        With ``jacobian_modulo``.
    params : (n_params,) array_like, optional
        Where; default: random integers drawn from ``seed``, which stand for almost all parameters.
    seed : int
        Of random parameters.
    prime : int
        Below 2³¹.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> exact_jacobian(Hierarchical(1, 2), [1.0, 2.0, 3.0, 4.0])[0].tolist()
    [3, 0, 1, 0]
    """
    if params is None:
        integers = np.random.default_rng(seed).integers(1, prime, size=model.n_params)
    else:
        integers = residues(np.asarray(params, dtype=float), prime)
    return model.jacobian_modulo(integers, prime)


def parameter_set(model: Architecture, subset: str | Iterable[Any], n_params: int) -> np.ndarray:
    """The sorted indices that a layer's name, a list of names or a list of indices stands for.

    >>> from capcore.architectures import Hierarchical
    >>> parameter_set(Hierarchical(1, 3), "layer 2", 6).tolist()
    [2, 3]
    """
    entries = [subset] if isinstance(subset, str) else list(subset)
    if entries and isinstance(entries[0], str):
        return np.unique(np.concatenate([np.arange(n_params)[model.layers[name]] for name in entries]))
    return np.unique(np.array(entries, dtype=int))


def marginal_rank(model: Any, subset: Any, params: object = None, **options: Any) -> int:
    """Exact marginal capacity of a set of parameters: κ minus the rank of all other columns (paper 1, §5.1.4).

    Parameters
    ----------
    model : Architecture
    subset : str, slice or list
        A layer's name, a list of names, or a list of indices.
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


def is_redundant(model: Any, subset: Any, params: object = None, **options: Any) -> bool:
    """Whether a set of parameters is jointly redundant, exactly (paper 1, Definition 3).

    Parameters
    ----------
    model : Architecture
        This and the others as :func:`marginal_rank` takes them.
    subset : str, slice or list
    params : (n_params,) array_like, optional
    **options : int

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> is_redundant(Hierarchical(4, 6), "layer 1")
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
    sets: list[tuple[str, ...]] = []
    for chosen, rank in ranks.items():  # smaller sets first
        if rank == whole and not any(set(smaller) <= set(chosen) for smaller in sets):
            sets.append(chosen)
    return sets


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
    return [tuple(name for name in model.layers if name not in smaller) for smaller in sets]


def maximal_redundant_set(
    model: Any, order: Sequence[int] | np.ndarray | None = None, params: object = None, **options: Any
) -> np.ndarray:
    """Indices of a jointly redundant set that no further parameter can join, filled up in the given order.

    What is left is a basis of the columns: κ parameters. One elimination finds it, since leaving out columns in
    this order keeps the ones that enter a basis in the opposite order.

    Parameters
    ----------
    model : Architecture
    order : (n_params,) array_like of int, optional
        All parameter indices; each is added if the set stays redundant. Default: 0, 1, 2, …
    params : (n_params,) array_like, optional
        This and the options as :func:`exact_jacobian` takes them.
    **options : int

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> maximal_redundant_set(Hierarchical(1, 2), [3, 2, 1, 0]).tolist()
    [3]
    """
    jacobian = exact_jacobian(model, params, **options)
    n_params = jacobian.shape[1]
    sequence = np.arange(n_params) if order is None else np.asarray(order)
    backwards = sequence[::-1]
    pivots = backwards[_pivot_columns(jacobian[:, backwards], options.get("prime", PRIME))]
    return np.setdiff1d(np.arange(n_params), pivots)


def _rank(columns: np.ndarray, prime: int) -> int:
    return rank_modulo_prime(columns, prime) if columns.shape[1] else 0


def _pivot_columns(matrix: np.ndarray, prime: int) -> list[int]:
    """The columns that are not combinations of those before them, by elimination modulo ``prime``."""
    from flint import nmod_mat

    rows, columns = matrix.shape
    reduced, rank = nmod_mat(rows, columns, (matrix % prime).reshape(-1).tolist(), prime).rref()
    table = np.array([[int(reduced[i, j]) != 0 for j in range(columns)] for i in range(rank)], dtype=bool)
    return table.argmax(axis=1).tolist() if rank else []
