"""Parameters in a tree (dictionaries, lists and tuples of arrays), as one vector and back.

The order is that of JAX: dictionaries by their sorted keys. Slices are taken with ``[…]`` and ``reshape`` alone, so
that a function of the tree can be differentiated by JAX, by PyTorch and by complex steps. Other kinds of nodes, such as
those of Equinox, are left to JAX, which knows how they were registered.

Not every leaf is a parameter. Running statistics of batch normalisation are none: Flax keeps them beside "params", as
"batch_stats", and NNX in variables of another class than ``Param``. Functions, whole numbers and plain numbers that a
module of Equinox or NNX holds beside its arrays are none either. They stay in the tree as they are.
"""

import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from numbers import Number
from typing import Any

import numpy as np

from capcore.checks.arguments import finite_array, plain_array
from capcore.checks.models import is_of_library

ALL = "all parameters"
"""Name of the one layer of parameters that have no tree."""
STATE = "batch_stats"
"""Where Flax keeps running statistics, beside "params"."""
_FORMS = re.compile(r"(^|\.)parametrizations\.(\w+)\.\w+$")
"""Names of what stands for a weight under ``torch.nn.utils.parametrizations``."""


@dataclass(frozen=True, eq=False)
class Ravelled:
    """A tree of arrays as a vector.

    Attributes
    ----------
    vector : (p,) array
        All parameters, leaf after leaf.
    layers : dict
        Name → slice of the vector, one for each module (:func:`layer_names`).
    unravel : callable
        A vector (p,), of NumPy or of the library that traces it → the tree.
    leaves : dict
        Place in the tree, as in "['below'][0]" → array, in order.
    """

    vector: np.ndarray
    layers: dict[str, slice]
    unravel: Callable[[Any], Any]
    leaves: dict[str, np.ndarray]


def is_tree(params: object) -> bool:
    """Whether parameters are a tree, and no plain vector.

    >>> is_tree([1.0, 2.0]), is_tree({"a": 1.0}), is_tree([np.ones(2), np.ones(3)])
    (False, True, True)
    """
    if isinstance(params, Mapping):
        return True
    if isinstance(params, list | tuple):
        return any(is_tree(value) or bool(getattr(value, "shape", ())) for value in params)
    return _registered(params)


def ravelled(tree: object, name: str = "params", precision: Any = None, trainable: Any = None) -> Ravelled:
    """A tree of arrays as a vector (p,), with the way back.

    Parameters
    ----------
    tree : object
        Dictionaries, lists and tuples of arrays and numbers, nested; with JAX any pytree.
    name : str
        What messages call it.
    precision : numpy.dtype, optional
        Of the tree's other floating-point arrays, such as running statistics. Parameters then have no whole numbers.
    trainable : callable, optional
        Name of a parameter, as in "blocks.0.bias" → whether it is one; others stay in the tree as they are.

    Raises
    ------
    TypeError
        If a parameter has whole numbers and ``precision`` is given.
    ValueError
        If a leaf is not an array of finite numbers, or there is none.

    Examples
    --------
    >>> tree = ravelled({"b": [1.0, 2.0], "a": {"w": np.eye(2)}})
    >>> tree.vector.tolist(), list(tree.layers)
    ([1.0, 0.0, 0.0, 1.0, 1.0, 2.0], ['a', 'b'])
    >>> tree.unravel(np.arange(6.0))["a"]["w"].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    leaves, rebuild = _flattened(tree)
    free = _free(tree, leaves)
    if trainable is not None:
        names = (".".join(map(str, path)).removesuffix(".value") for path, _ in leaves)
        free = [own and trainable(key) for own, key in zip(free, names, strict=True)]
    chosen = [leaf for leaf, is_free in zip(leaves, free, strict=True) if is_free]
    arrays = {_key(path): _checked(leaf, f"{name}{_key(path)}", precision is not None) for path, leaf in chosen}
    sizes = [array.size for array in arrays.values()]
    if not sum(sizes):
        raise ValueError(f"{name}: found no parameters, expected a pytree with at least one array.")
    parts = list(zip(pairwise(accumulate(sizes, initial=0)), (array.shape for array in arrays.values()), strict=True))

    others = [
        leaf if precision is None or "float" not in str(getattr(leaf, "dtype", "")) else np.asarray(leaf, precision)
        for _, leaf in leaves
    ]

    def unravel(w: Any) -> Any:
        new = (w[start:stop].reshape(shape) for (start, stop), shape in parts)
        return rebuild([next(new) if is_free else leaf for leaf, is_free in zip(others, free, strict=True)])

    vector = np.concatenate([array.ravel() for array in arrays.values()])
    return Ravelled(vector, _slices(layer_names(path for path, _ in chosen), sizes), unravel, arrays)


def layer_names(paths: Iterable[tuple[Any, ...]]) -> list[str]:
    """The layer of each parameter: the module that holds it, which is its path without the last part.

    A parameter at the top is a layer by itself. So is one of a module's own that comes after those of a module inside
    it, since a layer is one slice.

    >>> layer_names([("blocks", 0, "attn", "bias"), ("blocks.0.attn.weight",), ("scale",), ()])
    ['blocks.0.attn', 'blocks.0.attn', 'scale', 'all parameters']
    """
    dotted = (".".join(map(str, path)).replace("/", ".") for path in paths)  # Keras and Haiku write "/"
    own = [_FORMS.sub(r"\1\2", name).removesuffix(".value") or ALL for name in dotted]
    layers = []
    for layer, names in groupby(own, lambda name: name.rpartition(".")[0] or name):
        layers += [name if layer in layers else layer for name in names]
    return layers


def _checked(leaf: Any, name: str, floats: bool) -> np.ndarray:
    """A leaf as an array of finite numbers in double precision."""
    array = plain_array(leaf, name)
    if floats and "float" not in str(array.dtype):
        raise TypeError(f"{name}: found {array.dtype}, expected floating-point numbers. Let apply capture others.")
    if array.size:
        finite_array(array.ravel(), name, 1)
    return array.astype(float)


def _free(tree: Any, leaves: list[tuple[tuple[Any, ...], Any]]) -> list[bool]:
    """Which leaves are parameters."""
    variables = isinstance(tree, Mapping) and {"params", STATE} <= set(tree)
    free = [not variables or path[0] == "params" for path, _ in leaves]
    if _plain(tree):
        return free
    jax = sys.modules["jax"]
    held = jax.tree.leaves(jax.tree.map(_holds_parameters, tree, is_leaf=_is_variable))
    kinds = [str(getattr(leaf, "dtype", "")) for _, leaf in leaves]
    return [a and b and ("float" in kind or "complex" in kind) for a, b, kind in zip(free, held, kinds, strict=True)]


def _is_variable(node: object) -> bool:
    """Whether a node is a variable of NNX, which says by its class what it holds."""
    return is_of_library(node, "flax", "Variable", "VariableState")


def _holds_parameters(node: Any) -> Any:
    """A node like this one, whose leaves say whether it holds parameters."""
    kind = getattr(node, "type", type(node)) if _is_variable(node) else None
    held = kind is None or any(parent.__name__ == "Param" for parent in kind.__mro__)
    return sys.modules["jax"].tree.map(lambda _: held, node)


def _slices(names: list[str], sizes: list[int]) -> dict[str, slice]:
    """One slice for each run of equal names."""
    slices: dict[str, slice] = {}
    for name, (start, stop) in zip(names, pairwise(accumulate(sizes, initial=0)), strict=True):
        if stop > start:
            slices[name] = slice(slices[name].start if name in slices else start, stop)
    return slices


def _flattened(tree: Any) -> tuple[list[tuple[tuple[Any, ...], Any]], Callable[[list[Any]], Any]]:
    """Leaves with their paths, and the function from new leaves to a tree like this one."""
    if not _plain(tree):
        jax = sys.modules["jax"]
        paths, structure = jax.tree_util.tree_flatten_with_path(tree)
        named = [(tuple(jax.tree_util.keystr((key,)).strip("[].'\"") for key in path), leaf) for path, leaf in paths]
        return named, lambda new: jax.tree_util.tree_unflatten(structure, new)
    leaves = []
    _mapped(tree, lambda *leaf: leaves.append(leaf))

    def rebuild(new: list[Any]) -> Any:
        ordered = iter(new)
        return _mapped(tree, lambda *_: next(ordered))

    return leaves, rebuild


def _plain(tree: Any) -> bool:
    """Whether there are no nodes that only JAX knows."""
    inner = tree.values() if isinstance(tree, Mapping) else tree if isinstance(tree, list | tuple) else ()
    return not _registered(tree) and all(map(_plain, inner))


def _registered(value: object) -> bool:
    """Whether JAX, if it is loaded, knows the value as a node of a tree that is none of the plain ones."""
    if "jax" not in sys.modules or value is None or isinstance(value, dict | list | tuple | Number | np.ndarray | str):
        return False
    jax = sys.modules["jax"]
    return not jax.tree_util.all_leaves([value])


def _mapped(tree: Any, change: Callable[[tuple[Any, ...], Any], Any], path: tuple[Any, ...] = ()) -> Any:
    """A tree like this one, each leaf changed by a function of its path and itself; None has no leaves."""
    if isinstance(tree, Mapping):
        keys = tree if isinstance(tree, OrderedDict) else sorted(tree)
        new = {key: _mapped(tree[key], change, (*path, key)) for key in keys}
        return {key: new[key] for key in tree}
    if isinstance(tree, list | tuple):
        values = [_mapped(inner, change, (*path, i)) for i, inner in enumerate(tree)]
        return type(tree)(*values) if hasattr(tree, "_fields") else type(tree)(values)
    return None if tree is None else change(path, tree)


def _key(path: tuple[Any, ...]) -> str:
    return "".join(f"[{key!r}]" for key in path)
