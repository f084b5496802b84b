"""Weights in memory, whatever library holds them, as arrays by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from capcore.checkpoints.arrays import Module
from capcore.checkpoints.tensors import CheckpointError

HOLDERS = ("state_dict", "model_state_dict")
"""Keys under which training scripts keep the weights, beside those of the optimiser."""


def named_weights(source: Any) -> Any:
    """Weights as :func:`~capcore.checkpoints.arrays.of_arrays` takes them.

    Parameters
    ----------
    source : object
        A module with a ``state_dict``, a state dict or what a training script saves around it, nested dictionaries,
        lists and tuples of arrays, one array, or any pytree that JAX knows. Entries that are not arrays, such as the
        functions in a module of Equinox, are left out.

    Raises
    ------
    CheckpointError
        If there is no array.

    Examples
    --------
    >>> list(named_weights({"layers": [np.ones((2, 2)), np.ones((2, 3))], "act": np.tanh}))
    ['layers.0', 'layers.1']
    """
    if isinstance(source, Module) and not isinstance(source, Mapping):
        source = source.state_dict()
    if isinstance(source, np.ndarray):
        return source
    if isinstance(source, Mapping):
        source = next((source[key] for key in HOLDERS if isinstance(source.get(key), Mapping)), source)
    found = {".".join(path): _plain(leaf) for path, leaf in _leaves(source, ()) if hasattr(leaf, "shape")}
    if not found:
        told = type(source).__name__
        raise CheckpointError(f"source: found a {told} without arrays, expected a path, a module or arrays by name.")
    return found


def _leaves(tree: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _leaves(value, (*path, str(key)))
    elif isinstance(tree, list | tuple) and any(_holds(each) for each in tree):
        names = getattr(tree, "_fields", range(len(tree)))
        for key, value in zip(names, tree, strict=True):
            yield from _leaves(value, (*path, str(key)))
    elif isinstance(tree, list) and path:
        yield path, np.asarray(tree)
    elif hasattr(tree, "shape") or "jax" not in sys.modules:
        yield path or ("array",), tree
    else:
        jax: Any = sys.modules["jax"]
        for keys, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
            yield (*path, *(jax.tree_util.keystr((key,)).strip("[].'\"") for key in keys)), leaf


def _holds(value: Any) -> bool:
    """Whether a value in a list is an array or holds some, and not a number or text."""
    return (
        hasattr(value, "shape")
        or isinstance(value, Mapping)
        or (isinstance(value, list | tuple) and any(map(_holds, value)))
    )


def _plain(leaf: Any) -> Any:
    """The leaf, where JAX's bfloat16, which NumPy does not know as a number, becomes float32."""
    if hasattr(leaf, "detach") or str(getattr(leaf, "dtype", "")) != "bfloat16":
        return leaf
    return np.asarray(leaf).astype(np.float32)
