"""Derivatives of a network with respect to its parameters, in chunks of examples and directions, as NumPy arrays.

JAX and ``torch.func`` give their transformations the same names, so one set of formulas serves both. Everything is a
product with the Jacobian J (N·K, p) of the outputs, or with Hessians of sums of outputs; J itself costs K passes over
the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from capcore.architectures.derivatives import library
from capcore.gate import finite, of_kind
from capcore.trees import _slices

CHUNK = 2**15
"""Number of examples times directions that one call differentiates."""
SHOWN = 5
"""Names that a message lists."""


@dataclass(frozen=True, eq=False)
class TorchApply:
    """(params, inputs) → outputs of a PyTorch module, as :func:`from_torch` makes it; NumPy or torch arrays."""

    module: Any

    def __call__(self, params: Any, inputs: Any) -> Any:
        """Outputs."""
        torch = library("torch")
        tensors = {name: torch.as_tensor(value) for name, value in params.items()}
        return torch.func.functional_call(self.module, tensors, (torch.as_tensor(inputs),))


def from_torch(module: Any) -> tuple[TorchApply, dict[str, np.ndarray]]:
    """``(apply, params)`` of a PyTorch module, as :func:`~capcore.networks.allocation.allocate_network` takes them.

    Parameters
    ----------
    module : torch.nn.Module
        (N, …) → (N, K) or (N,). It is copied, in evaluation mode, and not changed.

    Returns
    -------
    apply : callable
    params : dict
        Name of a parameter → array, in the module's order. Frozen ones (``requires_grad=False``) stay constants.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    """
    library("torch")
    from copy import deepcopy

    copy = deepcopy(module).eval()
    params = {n: w.detach().cpu().double().numpy() for n, w in copy.named_parameters() if w.requires_grad}
    return TorchApply(copy.double()), params


class Derivatives:
    """What the rest of :mod:`capcore.networks` needs from a network: outputs, J and products at any parameters (p,)."""

    def __init__(self, apply: Callable[[Any, Any], Any], params: Any, inputs: np.ndarray, single: bool) -> None:
        self.apply: Any = apply
        self.inputs, self.single = inputs, single
        self.dtype: Any = np.dtype(np.float32 if single else float)
        self._calls: dict[str, Any] = {}
        with self.precision():
            (self._from_torch if isinstance(apply, TorchApply) else self._from_jax)(params)
        self.n_params = self.params.size

    def precision(self) -> Any:
        """JAX in double precision, whatever its setting."""
        return nullcontext() if isinstance(self.apply, TorchApply) else library("jax").enable_x64(True)

    def _from_jax(self, params: Any) -> None:
        jax = library("jax")
        from jax.flatten_util import ravel_pytree

        self.transforms, self._compile = jax, jax.jit
        wide = jax.tree.map(lambda leaf: jax.numpy.asarray(leaf, dtype=self.dtype), params)
        vector, self.unravel = ravel_pytree(wide)
        self.params = np.array(vector, dtype=float)
        leaves, self._structure = jax.tree_util.tree_flatten_with_path(wide)
        self.shapes = {jax.tree_util.keystr(path): leaf.shape for path, leaf in leaves}
        names = [jax.tree_util.keystr(path[:1]).strip("[].'\"") or "all parameters" for path, _ in leaves]
        self.layers = _slices(names, [leaf.size for _, leaf in leaves])
        self._array = jax.numpy.asarray

    def _from_torch(self, params: Any) -> None:
        torch = library("torch")
        self.transforms, self._compile = torch.func, lambda function: function
        shapes = {name: np.shape(value) for name, value in params.items()}
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.apply.module.float() if self.single else self.apply.module.double()
        self.params = np.concatenate([np.ravel(value) for value in params.values()])
        self.layers = _slices([name.split(".")[0] for name in shapes], sizes)
        self._array = torch.as_tensor
        self.shapes = {f"[{name!r}]": shape for name, shape in shapes.items()}

        def unravel(w: Any) -> dict[str, Any]:
            stops = accumulate(sizes)
            parts = zip(shapes.items(), sizes, stops, strict=True)
            return {name: w[stop - size : stop].reshape(shape) for (name, shape), size, stop in parts}

        self.unravel = unravel

    def array(self, values: np.ndarray) -> Any:
        """``values`` for the library, in the working precision; whole numbers stay as they are."""
        return self._array(values.astype(self.dtype) if values.dtype.kind == "f" else values)

    def tree(self, w: np.ndarray) -> Any:
        """Parameters (p,) in the pytree in which they were given, as NumPy arrays in double precision."""
        with self.precision():
            found = self.unravel(self.array(w))
            if isinstance(self.apply, TorchApply):
                return {name: leaf.numpy().copy() for name, leaf in found.items()}
            return self.transforms.tree.map(np.array, found)

    def named(self, tree: Any, argument: str) -> dict[str, Any]:
        """Name of a parameter, as in ``shapes`` → what a tree like that of the parameters has in its place."""
        if isinstance(self.apply, TorchApply):
            of_kind(tree, argument, Mapping, "a mapping from the names of the parameters")
            return {f"[{name!r}]": value for name, value in tree.items()}
        try:  # as far as the parameters go: in the place of an array there can be a list
            return dict(zip(self.shapes, self._structure.flatten_up_to(tree), strict=True))
        except ValueError:
            pass
        try:
            leaves = self.transforms.tree_util.tree_flatten_with_path(tree)[0]
        except ValueError:
            raise ValueError(
                f"{argument}: found names that cannot be sorted, expected those of params: {', '.join(self.shapes)}."
            ) from None
        return {self.transforms.tree_util.keystr(path): leaf for path, leaf in leaves}

    def outputs_of(self, w: Any, x: Any) -> Any:
        """(n, K) outputs, traceable."""
        found = self.apply(self.unravel(w), x)
        return found[:, None] if found.ndim == 1 else found

    def _call(self, name: str, *arguments: Any) -> np.ndarray:
        if name not in self._calls:
            self._calls[name] = self._compile(getattr(self, f"_{name}"))
        arrays = [self.array(each) for each in arguments]
        found = self._calls[name](*arrays)
        return np.asarray(found.detach().numpy() if hasattr(found, "detach") else found, dtype=float)

    def _outputs(self, w: Any, x: Any) -> Any:
        return self.outputs_of(w, x)

    def _jacobian(self, w: Any, x: Any) -> Any:
        one = self.transforms.jacrev(lambda u, point: self.outputs_of(u, point[None])[0])
        return self.transforms.vmap(one, (None, 0))(w, x)

    def _jvp(self, w: Any, x: Any, v: Any) -> Any:
        forward = self.transforms.jvp
        return self.transforms.vmap(lambda t: forward(lambda u: self.outputs_of(u, x), (w,), (t,))[1])(v)

    def _vjp(self, w: Any, x: Any, e: Any) -> Any:
        return self.transforms.vmap(lambda c: self.transforms.grad(lambda u: (self.outputs_of(u, x) * c).sum())(w))(e)

    def _hvp(self, w: Any, x: Any, v: Any, errors: Any, roots: Any, means: Any) -> Any:
        at = self.outputs_of(w, x)

        def surrogate(u: Any) -> Any:  # its Hessian at w is JᵀWJ + Σ e ∇²f
            values = self.outputs_of(u, x)
            moved = values - at
            curved = (roots * roots * moved * moved).sum() - ((means * moved).sum(-1) ** 2).sum()
            return (errors * values).sum() + curved / 2

        slope = self.transforms.grad(surrogate)
        return self.transforms.vmap(lambda t: self.transforms.jvp(slope, (w,), (t,))[1])(v)

    def _ggn(self, w: Any, x: Any, v: Any, roots: Any, means: Any) -> Any:
        moved = self._jvp(w, x, v)
        return self._vjp(w, x, roots * roots * moved - means * (means * moved).sum(-1)[..., None])

    def chunks(self, directions: int = 1) -> Iterator[slice]:
        """Slices of the examples."""
        step = max(1, CHUNK // max(directions, 1))
        return (slice(i, i + step) for i in range(0, len(self.inputs), step))

    def outputs(self, w: np.ndarray, inputs: np.ndarray | None = None) -> np.ndarray:
        """(N, K) outputs, at the data or at other inputs."""
        points = self.inputs if inputs is None else inputs
        with self.precision():
            return self._call("outputs", w, points)

    def jacobian(self, w: np.ndarray, inputs: np.ndarray | None = None) -> np.ndarray:
        """(N·K, p) Jacobian, example by example."""
        points = self.inputs if inputs is None else inputs
        step = max(1, CHUNK // 64)
        with self.precision():
            parts = [self._call("jacobian", w, points[i : i + step]) for i in range(0, len(points), step)]
        return np.concatenate(parts).reshape(-1, w.size)

    def jvp(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(m, N, K) products J vᵀ with directions (m, p)."""
        with self.precision():
            parts = [self._call("jvp", w, self.inputs[part], v) for part in self.chunks(len(v))]
        return np.concatenate(parts, axis=1)

    def vjp(self, w: np.ndarray, e: np.ndarray) -> np.ndarray:
        """(m, p) products Jᵀ e with (m, N, K)."""
        with self.precision():
            return reduce(np.add, (self._call("vjp", w, self.inputs[part], e[:, part]) for part in self.chunks(len(e))))

    def hvp(self, w: np.ndarray, v: np.ndarray, errors: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
        """(m, p) products with JᵀWJ + Σ e ∇²f, W = diag(roots²) − means meansᵀ; all of them (N, K)."""
        name, arrays = ("hvp", (errors, roots, means)) if errors.any() else ("ggn", (roots, means))  # half the passes
        with self.precision():
            parts = self.chunks(len(v))
            return reduce(np.add, (self._call(name, w, self.inputs[i], v, *(a[i] for a in arrays)) for i in parts))

    def scalar(self, function: Callable[[Any], Any], w: np.ndarray, v: np.ndarray | None = None) -> Any:
        """Value and gradient (p,) of a function of the parameters; with v (m, p), its Hessian's products (m, p)."""
        flat = lambda u: function(self.unravel(u))  # noqa: E731
        slope = self.transforms.grad(flat)
        with self.precision():
            at = self.array(w)
            if v is None:
                return float(flat(at)), np.asarray(slope(at), dtype=float)
            products = self.transforms.vmap(lambda t: self.transforms.jvp(slope, (at,), (t,))[1])(self.array(v))
            return np.asarray(products, dtype=float)


def by_name(values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], argument: str) -> np.ndarray:
    """(p,) arrays by the names of ``shapes`` and in their order, whatever that of ``values``.

    >>> by_name({"['b']": [3.0], "['a']": [1.0, 2.0]}, {"['a']": (2,), "['b']": (1,)}, "weight_decay").tolist()
    [1.0, 2.0, 3.0]
    """
    missing, unknown = _without(shapes, values), _without(values, shapes)
    if missing or unknown:
        known = missing or list(shapes)
        close = [name for each in unknown[:SHOWN] for name in get_close_matches(each, known, 1)]
        wrong = [f"{what} {_listed(names)}" for what, names in (("no", missing), ("unknown", unknown)) if names]
        hint = f"Did you mean {_listed(close)}?" if close else "Give an array for each."
        raise ValueError(f"{argument}: found {' and '.join(wrong)}, expected the names of params and no others. {hint}")
    for name, shape in shapes.items():
        finite(values[name], argument + name)
        if np.shape(values[name]) != shape:
            raise ValueError(
                f"{argument}{name}: found shape {np.shape(values[name])}, expected {shape}, that of the parameters. "
                "For one number throughout: numpy.full(shape, number)."
            )
    return np.concatenate([np.ravel(np.asarray(values[name], dtype=float)) for name in shapes])


def _without(names: Iterable[str], others: Mapping[str, Any]) -> list[str]:
    return [name for name in names if name not in others]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" … ({len(names)} in all)" if len(names) > SHOWN else "")
