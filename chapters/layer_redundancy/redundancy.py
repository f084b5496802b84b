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

from capcore.architectures.finite_field import PRIME, rank_modulo_prime, residues

MOST_LAYERS = 12  # all sets of layers are tried


def exact_jacobian(model: Any, params: object = None) -> np.ndarray:
    """(n, n_params) Jacobian of a polynomial model, every entry reduced modulo ``PRIME``, exact.

    Parameters
    ----------
    model : Architecture
        With ``jacobian_modulo``.
    params : (n_params,) array_like, optional
        Where; default: random integers, which stand for almost all parameters.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> exact_jacobian(Hierarchical(1, 2), [1.0, 2.0, 3.0, 4.0])[0].tolist()
    [3, 0, 1, 0]
    """
    if params is None:
        integers = np.random.default_rng(0).integers(1, PRIME, size=model.n_params)
    else:
        integers = residues(np.asarray(params, dtype=float))
    return model.jacobian_modulo(integers)


def parameter_set(model: Any, subset: str | Iterable[Any]) -> np.ndarray:
    """The indices that a layer's name, names of layers or indices stand for.

    >>> from capcore.architectures import Hierarchical
    >>> parameter_set(Hierarchical(1, 3), "layer 2").tolist()
    [2, 3]
    """
    entries = [subset] if isinstance(subset, str) else list(subset)
    if entries and isinstance(entries[0], str):
        return np.concatenate([np.arange(model.n_params)[model.layers[name]] for name in entries])
    return np.array(entries, dtype=int)


def is_redundant(model: Any, subset: str | Iterable[Any], params: object = None) -> bool:
    """Whether a set of parameters is jointly redundant, exactly: all others have the rank of all (paper 1, Def. 3).

    Parameters
    ----------
    model : Architecture
    subset : str or list
        A layer's name, a list of names, or a list of indices.
    params : (n_params,) array_like, optional
        As :func:`exact_jacobian` takes them.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> [is_redundant(Hierarchical(4, 6), f"layer {l}") for l in range(1, 7)]
    [True, True, False, False, True, True]
    """
    jacobian = exact_jacobian(model, params)
    rest = np.delete(jacobian, parameter_set(model, subset), axis=1)
    return rank_modulo_prime(rest) == rank_modulo_prime(jacobian)


def minimal_layer_sets(model: Any) -> list[tuple[str, ...]]:
    """All sets of layers whose columns span the whole constraint space, and none of whose layers can be left out.

    Raises ``ValueError`` for more than ``MOST_LAYERS`` layers.

    >>> from capcore.architectures import Hierarchical
    >>> minimal_layer_sets(Hierarchical(4, 6)), minimal_layer_sets(Hierarchical(2, 2))
    ([('layer 3', 'layer 4')], [('layer 1',), ('layer 2',)])
    """
    names, jacobian = list(model.layers), exact_jacobian(model)
    if len(names) > MOST_LAYERS:
        raise ValueError(f"model: found {len(names)} layers, expected at most {MOST_LAYERS}: every set is tried.")
    whole = rank_modulo_prime(jacobian)
    sets: list[tuple[str, ...]] = []
    for chosen in (chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size)):
        columns = jacobian[:, parameter_set(model, chosen)]
        if not any(set(smaller) <= set(chosen) for smaller in sets) and rank_modulo_prime(columns) == whole:
            sets.append(chosen)
    return sets


def redundant_layer_sets(model: Any) -> list[tuple[str, ...]]:
    """The largest jointly redundant sets of layers (paper 1, Definition 3): what ``minimal_layer_sets`` leave.

    >>> from capcore.architectures import Hierarchical
    >>> redundant_layer_sets(Hierarchical(4, 6))
    [('layer 1', 'layer 2', 'layer 5', 'layer 6')]
    """
    return [tuple(name for name in model.layers if name not in smaller) for smaller in minimal_layer_sets(model)]


def maximal_redundant_set(model: Any, order: Sequence[int] | np.ndarray) -> np.ndarray:
    """Indices of a jointly redundant set that no further parameter can join, filled up in the given order.

    What is left is a basis of the columns: κ parameters. One elimination finds it, since leaving out columns in
    this order keeps the ones that enter a basis in the opposite order.

    Parameters
    ----------
    model : Architecture
    order : (n_params,) array_like of int
        All parameter indices; each is added if the set stays redundant.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> maximal_redundant_set(Hierarchical(1, 2), [3, 2, 1, 0]).tolist()
    [3]
    """
    from flint import nmod_mat

    backwards = np.asarray(order)[::-1]
    matrix = exact_jacobian(model)[:, backwards]
    reduced, rank = nmod_mat(matrix.tolist(), PRIME).rref()
    pivots = [next(j for j in range(matrix.shape[1]) if int(reduced[i, j])) for i in range(rank)]
    return np.setdiff1d(backwards, backwards[pivots])
