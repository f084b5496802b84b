"""Derivatives of a network with respect to its parameters, in chunks of examples and directions, as NumPy arrays.

JAX and ``torch.func`` give their transformations the same names, so one set of formulas serves both. Everything is a
product with the Jacobian J (N·K, p) of the outputs, or with Hessians of sums of outputs; J itself costs K passes over
the data.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial, reduce
from itertools import compress
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.architectures.trees import _flattened, _key, ravelled
from capcore.checks.arguments import finite, library, of_kind
from capcore.networks.jacobians import torch_jacobian
from capcore.networks.modules import TorchApply, plain_kernels
from capcore.networks.outer_products import summed_first

CHUNK = 2**15
"""Number of examples times directions that one call differentiates."""
FOLDED = 2**21
"""Examples times parameters for which derivatives are folded at a time."""
SHOWN = 5
"""Names that a message lists."""


LACKING = (
    "forward AD",
    "forward mode",
    "forward-mode",
    "batching rule",
    "vmap",
    "functorch",
    "custom_vjp",
    "derivative for",
)
"""Words in errors of PyTorch and JAX about an operation that cannot be differentiated in some way."""


class Derivatives:
    """What the rest of :mod:`capcore.networks` needs from a network: outputs, J and products at any parameters (p,)."""

    def __init__(self, apply: Any, params: Any, inputs: np.ndarray, single: bool) -> None:
        self.apply = apply
        self.inputs, self.single = inputs, single
        self.dtype: Any = np.dtype(np.float32 if single else float)
        self._calls: dict[str, Any] = {}
        self._torch = isinstance(apply, TorchApply)
        tree = ravelled(OrderedDict(params) if self._torch else params, precision=self.dtype)
        self.params, self.layers, self.unravel, self._free = tree.vector, tree.layers, tree.unravel, tree.free
        self.shapes = {place: leaf.shape for place, leaf in tree.leaves.items()}
        self.n_params = self.params.size
        if self._torch:
            torch = library("torch")
            apply.module.float() if single else apply.module.double()
            self.transforms, self._compile, self._array = torch.func, lambda function: function, torch.as_tensor
            self._einsum, self._each = torch.einsum, torch.func.vmap
        else:
            jax = library("jax")
            self.transforms, self._compile, self._array = jax, jax.jit, jax.numpy.asarray
            self._einsum, self._each = jax.numpy.einsum, partial(partial, jax.lax.map)

    def precision(self) -> Any:
        """JAX in double precision, whatever its setting; PyTorch with attention that can be differentiated twice."""
        return plain_kernels() if self._torch else library("jax").enable_x64(True)

    def array(self, values: np.ndarray) -> Any:
        """``values`` for the library, in the working precision; whole numbers stay as they are."""
        return self._array(values.astype(self.dtype) if values.dtype.kind == "f" else values)

    def tree(self, w: np.ndarray) -> Any:
        """Parameters (p,) in the pytree in which they were given, as NumPy arrays in double precision."""
        return self.unravel(np.array(w, dtype=float))

    def named(self, tree: Any, argument: str) -> dict[str, Any]:
        """Name of a parameter, as in ``shapes`` → what a tree like that of the parameters has in its place."""
        if isinstance(self.apply, TorchApply):
            of_kind(tree, argument, Mapping, "a mapping from the names of the parameters")
            return {f"[{name!r}]": value for name, value in tree.items()}
        try:  # as far as the parameters go: in the place of an array there can be a list
            found = self.transforms.tree.structure(self.unravel(self.params)).flatten_up_to(tree)
            return dict(zip(self.shapes, compress(found, self._free), strict=True))
        except ValueError:
            pass
        try:
            return {_key(path): leaf for path, leaf in _flattened(tree)[0]}
        except (TypeError, ValueError):
            raise ValueError(
                f"{argument}: found names that cannot be sorted, expected those of params: {', '.join(self.shapes)}."
            ) from None

    def outputs_of(self, w: Any, x: Any) -> Any:
        """(n, K) outputs, traceable."""
        found = self.apply(self.unravel(w), x)
        return found[:, None] if found.ndim == 1 else found

    def _call(self, name: str, *arguments: Any) -> np.ndarray:
        if name not in self._calls:
            self._calls[name] = self._compile(getattr(self, f"_{name}"))
        arrays = [self.array(each) for each in arguments]
        try:
            found = self._calls[name](*arrays)
        except (RuntimeError, NotImplementedError, TypeError) as error:
            raise _explained(error, name) from error
        return np.asarray(found.detach().numpy() if hasattr(found, "detach") else found, dtype=float)

    def _outputs(self, w: Any, x: Any) -> Any:
        return self.outputs_of(w, x)

    def _jacobian(self, w: Any, x: Any) -> Any:
        one = self.transforms.jacrev(lambda u, point: self.outputs_of(u, point[None])[0])
        return self.transforms.vmap(one, (None, 0))(w, x)

    def _folded(self, w: Any, x: Any, factors: Any, units: Any) -> Any:
        def folded(point: Any) -> Any:  # in JAX one pass back after another: a gradient stays in the cache
            back = self.transforms.vjp(lambda u: self.outputs_of(u[: self.n_params], point[None])[0], w)[1]
            return self._each(lambda e: self._einsum("bm,bm->m", back(e)[0].reshape(factors.shape), factors))(units)

        return self._each(folded)(x)

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
        step = -(-len(points) // -(-len(points) // (CHUNK // 64)))  # chunks of one size: each size is compiled anew
        with self.precision():
            if self._torch:
                weights = self.unravel(self.array(w))
                found = torch_jacobian(self.apply.module, weights, self.array(points), step).numpy()
                return found.reshape(-1, w.size).astype(float, copy=False)
            parts = [slice(min(i, len(points) - step), i + step) for i in range(0, len(points), step)]
            first = self._call("jacobian", w, points[parts[0]])
            found = np.empty((len(points), *first.shape[1:]))
            found[parts[0]] = first
            for part in parts[1:]:
                found[part] = self._call("jacobian", w, points[part])
        return found.reshape(-1, w.size)

    def gauss_newton(self, w: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray | None:
        """(p, p) JᵀWJ, W = diag(roots²) − means meansᵀ, where there is a faster way than by the Jacobian."""
        if not self._torch:
            return None
        arrays = (self.array(each) for each in (self.inputs, roots, means))
        with self.precision():
            found = summed_first(self.apply.module, self.unravel(self.array(w)), *arrays)
        return None if found is None else found.numpy().astype(float, copy=False)

    def folded(self, factors: np.ndarray, columns: int, progress: bool = False) -> np.ndarray:
        """(N·K, m) sums of every m-th column of the Jacobian at the parameters, each times its factor (p,)."""
        padded = np.zeros((2, -(-self.n_params // columns), columns), self.dtype)
        padded.reshape(2, -1)[:, : self.n_params] = self.params, factors
        w, step = padded[0].ravel(), max(1, FOLDED // self.n_params)
        units = np.eye(self.outputs(self.params, self.inputs[:1]).shape[1])
        found = np.empty((len(self.inputs), len(units), columns), self.dtype)
        with self.precision():
            for i in tqdm(range(0, len(found), step), desc="fold", disable=not progress):
                found[i : i + step] = self._call("folded", w, self.inputs[i : i + step], padded[1], units)
        return found.reshape(-1, columns)

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


def _explained(error: Exception, name: str) -> Exception:
    """In the place of a library's error about a derivative that it lacks, one that says what to do; others as are."""
    text = str(error).strip()
    if not any(words in text for words in LACKING):
        return error
    needed = "with derivatives for each example" if name == "jacobian" else "with derivatives in forward mode"
    other = "" if name == "jacobian" else " The dense Gauss–Newton form needs none: curvature='gauss-newton'."
    return ValueError(
        f"apply: found {text.splitlines()[0]:.160}, expected operations {needed}: write it with elementary ones.{other}"
    )


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
