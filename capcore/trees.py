"""Parameters in a tree (dictionaries, lists and tuples of arrays), as one vector and back.

The order is that of JAX: dictionaries by their sorted keys. Slices are taken with ``[…]`` and ``reshape`` alone, so
that a function of the tree can be differentiated by JAX, by PyTorch and by complex steps. Other kinds of nodes, such as
those of Equinox, are left to JAX, which knows how they were registered.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from numbers import Number
from typing import Any

import numpy as np

from capcore.gate import plain_array
from capcore.validation import finite_array

ALL = "all parameters"
"""Name of the one layer of parameters that have no tree."""


@dataclass(frozen=True, eq=False)
class Ravelled:
    """A tree of arrays as a vector.

    Attributes
    ----------
    vector : (p,) array
        All entries, leaf after leaf.
    layers : dict
        Name → slice of the vector, one for each entry at the top of the tree.
    unravel : callable
        A vector (p,), of NumPy or of the library that traces it → the tree.
    leaves : list of arrays
        In order.
    """

    vector: np.ndarray
    layers: dict[str, slice]
    unravel: Callable[[Any], Any]
    leaves: list[np.ndarray]


def is_tree(params: object) -> bool:
    """Whether parameters are a tree, and no plain vector.

    >>> is_tree([1.0, 2.0]), is_tree({"a": 1.0}), is_tree([np.ones(2), np.ones(3)])
    (False, True, True)
    """
    if isinstance(params, Mapping):
        return True
    if isinstance(params, list | tuple):
        return any(is_tree(each) or bool(getattr(each, "shape", ())) for each in params)
    return _registered(params)


def ravelled(tree: object, name: str = "params") -> Ravelled:
    """A tree of arrays as a vector (p,), with the way back.

    Parameters
    ----------
    tree : object
        Dictionaries, lists and tuples of arrays and numbers, nested; with JAX any pytree.
    name : str
        What messages call it.

    Raises
    ------
    ValueError
        If a leaf is not an array of finite numbers, or there is none.

    Examples
    --------
    >>> found = ravelled({"b": [1.0, 2.0], "a": {"w": np.eye(2)}})
    >>> found.vector.tolist(), list(found.layers)
    ([1.0, 0.0, 0.0, 1.0, 1.0, 2.0], ['a', 'b'])
    >>> found.unravel(np.arange(6.0))["a"]["w"].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    leaves, rebuild = _flattened(tree)
    arrays = [np.asarray(plain_array(leaf, f"{name}{_key(path)}"), float) for path, leaf in leaves]
    sizes = [array.size for array in arrays]
    if not sum(sizes):
        raise ValueError(f"{name}: found no parameters, expected a pytree with at least one array.")
    for (path, _), array in zip(leaves, arrays, strict=True):
        if array.size:
            finite_array(array.ravel(), f"{name}{_key(path)}", 1)
    bounds = list(pairwise(accumulate(sizes, initial=0)))
    shapes = [array.shape for array in arrays]
    vector = np.concatenate([array.ravel() for array in arrays])

    def unravel(w: Any) -> Any:
        return rebuild([w[start:stop].reshape(shape) for (start, stop), shape in zip(bounds, shapes, strict=True)])

    return Ravelled(vector, _slices([str(path[0]) if path else ALL for path, _ in leaves], sizes), unravel, arrays)


def _slices(names: list[str], sizes: list[int]) -> dict[str, slice]:
    """One slice for each run of equal names."""
    found: dict[str, slice] = {}
    for name, (start, stop) in zip(names, pairwise(accumulate(sizes, initial=0)), strict=True):
        if stop > start:
            found[name] = slice(found[name].start if name in found else start, stop)
    return found


def _flattened(tree: Any) -> tuple[list[tuple[tuple[Any, ...], Any]], Callable[[list[Any]], Any]]:
    """Leaves with their paths, and the function from new leaves to a tree like this one."""
    if not _plain(tree):
        jax: Any = sys.modules["jax"]
        found, structure = jax.tree_util.tree_flatten_with_path(tree)
        paths = [tuple(jax.tree_util.keystr((key,)).strip("[].'\"") for key in path) for path, _ in found]
        leaves = list(zip(paths, [leaf for _, leaf in found], strict=True))
        return leaves, lambda new: jax.tree_util.tree_unflatten(structure, new)
    return list(_leaves(tree, ())), lambda new: _rebuilt(tree, iter(new))


def _plain(tree: Any) -> bool:
    """Whether there are no nodes that only JAX knows."""
    inner = tree.values() if isinstance(tree, Mapping) else tree if isinstance(tree, list | tuple) else ()
    return not _registered(tree) and all(map(_plain, inner))


def _registered(value: object) -> bool:
    """Whether JAX, if it is loaded, knows the value as a node of a tree that is none of the plain ones."""
    if "jax" not in sys.modules or value is None or isinstance(value, dict | list | tuple | Number | np.ndarray | str):
        return False
    jax: Any = sys.modules["jax"]
    return not jax.tree_util.all_leaves([value])


def _items(tree: Any) -> list[tuple[Any, Any]]:
    if isinstance(tree, Mapping):
        return list(tree.items() if isinstance(tree, OrderedDict) else sorted(tree.items(), key=lambda item: item[0]))
    return list(enumerate(tree))


def _leaves(tree: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(tree, Mapping | list | tuple):
        for key, inner in _items(tree):
            yield from _leaves(inner, (*path, key))
    elif tree is not None:
        yield path, tree


def _rebuilt(tree: Any, leaves: Iterator[Any]) -> Any:
    if tree is None:
        return None
    if not isinstance(tree, Mapping | list | tuple):
        return next(leaves)
    new = {key: _rebuilt(inner, leaves) for key, inner in _items(tree)}
    if isinstance(tree, Mapping):
        return {key: new[key] for key in tree}
    values = list(new.values())
    return type(tree)(*values) if hasattr(tree, "_fields") else type(tree)(values)


def _key(path: tuple[Any, ...]) -> str:
    return "".join(f"[{key!r}]" for key in path)
