"""Derivatives of a network with respect to its parameters, in chunks of examples and directions, as NumPy arrays.

JAX and ``torch.func`` give their transformations the same names, so one set of formulas serves both. Everything is a
product with the Jacobian J (N·K, p) of the outputs, or with Hessians of sums of outputs; J itself, in factors, costs K
passes over the data.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from capcore.architectures.adapter import TorchApply, plain_kernels
from capcore.architectures.trees import is_tree, ravelled
from capcore.checks.arguments import finite_array, finite_number, library, plain_number
from capcore.networks.factors import Factor, JaxFactors, TorchFactors, jacobian

SAMPLE = 16
"""Number of examples on which factors of PyTorch modules are compared with its own gradients."""
CHUNK = 2**15
"""Number of examples times directions that one call differentiates."""
NAMES = 5
"""Names that a message lists."""
LACKING = re.compile("forward[ -](AD|mode)|batching rule|vmap|functorch|custom_vjp|derivative for|data pointer")
"""Words in errors of PyTorch and JAX about an operation that cannot be differentiated in some way."""


class Derivatives:
    """What the rest of :mod:`capcore.networks` needs from a network: outputs, J and products at any parameters (p,)."""

    def __init__(self, apply: Any, params: Any, inputs: np.ndarray, trainable: Any = None) -> None:
        self.apply, self.inputs, self.axis = apply, inputs, -1
        self._calls: dict[str, Any] = {}
        self._plan: Any = None
        self._torch = isinstance(apply, TorchApply)
        tree = ravelled(OrderedDict(params) if self._torch else params, "params", np.dtype(float), trainable)
        self.params, self.layers, self.unravel, self.leaves = tree.vector, tree.layers, tree.unravel, tree.leaves
        self.n_params = self.params.size
        if self._torch:
            torch = library("torch")
            apply.module.double()
            self.transforms, self._compile, self._array = torch.func, lambda function: function, torch.as_tensor
        else:
            jax = library("jax")
            self.transforms, self._compile, self._array = jax, jax.jit, jax.numpy.asarray

    def precision(self) -> Any:
        """JAX in double precision, whatever its setting; PyTorch with operations that can be differentiated twice."""
        return plain_kernels() if self._torch else library("jax").enable_x64(True)

    def array(self, values: np.ndarray) -> Any:
        """``values`` for the library, in double precision; whole numbers stay as they are."""
        return self._array(values.astype(float) if values.dtype.kind == "f" else values)

    def tree(self, w: np.ndarray) -> Any:
        """Parameters (p,) in the pytree in which they were given, as NumPy arrays in double precision."""
        return self.unravel(np.array(w, dtype=float))

    def _outputs(self, w: Any, x: Any) -> Any:
        """(n, T·K) outputs, the K of a position side by side, traceable."""
        return self.apply(self.unravel(w), x).swapaxes(self.axis, -1).reshape(len(x), -1)

    def _call(self, name: str, *arguments: Any) -> np.ndarray:
        if name not in self._calls:
            self._calls[name] = self._compile(getattr(self, f"_{name}"))
        with _explained():
            result = self._calls[name](*map(self.array, arguments))
        return np.asarray(result.detach() if self._torch else result, dtype=float)

    def _vjp(self, w: Any, x: Any, e: Any) -> Any:
        return self.transforms.vmap(lambda c: self.transforms.grad(lambda u: (self._outputs(u, x) * c).sum())(w))(e)

    def _hvp(self, w: Any, x: Any, v: Any, errors: Any) -> Any:
        slope = self.transforms.grad(lambda u: (errors * self._outputs(u, x)).sum())
        return self.transforms.vmap(lambda t: self.transforms.jvp(slope, (w,), (t,))[1])(v)

    def chunks(self, directions: int) -> Iterator[slice]:
        """Slices of the examples."""
        step = max(1, CHUNK // max(directions, 1))
        return (slice(i, i + step) for i in range(0, len(self.inputs), step))

    def outputs(self, w: np.ndarray) -> np.ndarray:
        """(N, K) outputs at the data."""
        with self.precision():
            return self._call("outputs", w, self.inputs)

    def _factors(self, w: Any, x: Any) -> Any:
        return self._plan(self.unravel(w) if self._torch else w, x)

    def factors(self, w: np.ndarray, part: slice = slice(None)) -> list[Factor]:
        """J of all examples or of a slice of them: a factor for each dense layer, and one for all that else moves."""
        points = self.inputs[part]
        n = len(points)
        step = -(-n // -(-n // (CHUNK // 64)))  # chunks of one size: each size is compiled anew
        groups: list[list[Any]] = []
        with self.precision(), _explained():
            dense, rest = self.plan(w).places()
            run: Any = self._calls.setdefault("factors", self._compile(self._factors))
            for i in range(0, n, step):
                chunk = slice(min(i, n - step), i + step)
                arrays = run(self.array(w), self.array(points[chunk]))
                groups.append([[np.asarray(a, dtype=float)[i - chunk.start :] for a in group] for group in arrays])
        read, wrote, gained = (
            [np.concatenate(a) for a in zip(*group, strict=True)] for group in zip(*groups, strict=True)
        )
        columns = np.unique(np.concatenate([np.empty(0, dtype=int), *map(np.ravel, rest)]))
        rows = np.zeros((n, self.plan(w).n_outputs, columns.size))
        for places, values in zip(rest, gained, strict=True):
            rows[:, :, np.searchsorted(columns, places.ravel())] += values.reshape(*rows.shape[:2], -1)
        factors = list(map(Factor, dense, read, wrote))
        return [*factors, Factor(columns[None], np.ones((n, 1)), rows)] if columns.size or not dense else factors

    def plan(self, w: np.ndarray) -> JaxFactors | TorchFactors:
        """How J is factored, whatever the examples."""
        if self._plan is None and self._torch:
            some = self.inputs[np.unique(np.linspace(0, len(self.inputs) - 1, SAMPLE).astype(int))]
            shares = np.random.default_rng(0).normal(size=self._call("outputs", w, some).shape)
            gradient = self._call("vjp", w, some, shares[None])[0]
            weights, places = self.unravel(self.array(w)), self.unravel(np.arange(w.size))
            columns = {name: own for name, own in places.items() if f"[{name!r}]" in self.leaves}
            points = self.array(some)
            self._plan = TorchFactors(self.apply.module, weights, columns, points, shares, gradient, self.axis)
        elif self._plan is None:
            one = lambda u, point: self._outputs(u, point[None])[0]  # noqa: E731
            self._plan = JaxFactors(one, self.array(w), self.array(self.inputs[0]))
        return self._plan

    def width(self, w: np.ndarray, decay: np.ndarray | None = None) -> int:
        """Numbers of an example and output that :meth:`factors` holds as what is written.

        With a decay (p,), once for each row of a layer with a decay of its own.
        """
        with self.precision(), _explained():
            dense, rest = self.plan(w).places()
        rows = [1 if decay is None else len({row.tobytes() for row in decay[places]}) for places in dense]
        return sum(map(np.size, rest)) + sum(n * places.shape[1] for n, places in zip(rows, dense, strict=True))

    def jacobian(self, w: np.ndarray, part: slice = slice(None)) -> np.ndarray:
        """(N·K, p) Jacobian, example by example, of all examples or of a slice of them."""
        return jacobian(self.factors(w, part), np.ones(w.size, dtype=bool))

    def vjp(self, w: np.ndarray, e: np.ndarray) -> np.ndarray:
        """(m, p) products Jᵀ e with (m, N, K)."""
        with self.precision():
            return reduce(np.add, (self._call("vjp", w, self.inputs[part], e[:, part]) for part in self.chunks(len(e))))

    def hvp(self, w: np.ndarray, v: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """(m, p) products with the residual curvature Σ e ∇²f, e (N, K)."""
        with self.precision():
            parts = self.chunks(len(v))
            return reduce(np.add, (self._call("hvp", w, self.inputs[i], v, errors[i]) for i in parts))


@contextmanager
def _explained() -> Iterator[None]:
    """In the place of a library's error about a derivative that it lacks, one that says what to do; others as are."""
    try:
        yield
    except (RuntimeError, NotImplementedError, TypeError) as error:
        text = str(error).strip()
        if not LACKING.search(text):
            raise
        raise ValueError(
            f"apply: found {text.splitlines()[0]:.160}, expected operations with derivatives for each example, and "
            "in forward mode for curvature='full'. Use elementary ones."
        ) from error


def like(values: Any, leaves: Mapping[str, np.ndarray], argument: str) -> np.ndarray:
    """(p,) numbers of at least 0 for the parameters in ``leaves``: one for all, (p,), or a tree like theirs.

    A tree is matched by its names, whatever their order.

    >>> leaves = {"['b']": np.zeros(1), "['a']": np.zeros(2)}
    >>> like({"a": np.array([1.0, 2.0]), "b": np.array([3.0])}, leaves, "weight_decay").tolist()
    [3.0, 1.0, 2.0]
    """
    p, shapes = sum(leaf.size for leaf in leaves.values()), {name: leaf.shape for name, leaf in leaves.items()}
    expected = f"a number, {p} values, or a tree of arrays like params"
    given = plain_number(values, argument)
    if is_tree(given):
        own = ravelled(given, argument).leaves
        if wrong := sorted({*own} ^ {*leaves}):
            listed = ", ".join(wrong[:NAMES]) + (f" … ({len(wrong)} in all)" if len(wrong) > NAMES else "")
            raise ValueError(f"{argument}: found {listed} in one tree only, expected the names of params. Give each.")
        for name, shape in shapes.items():
            if own[name].shape != shape:
                raise ValueError(f"{argument}{name}: found shape {own[name].shape}, expected {shape}, as in params.")
        vector = np.concatenate([own[name].ravel() for name in leaves])
    elif np.ndim(given) == 0:
        vector = np.full(p, finite_number(given, argument, f"{expected}, all of them finite"))
    else:
        array = finite_array(given, argument, tuple(range(1, 9)))
        if array.shape not in ((p,), *(shapes.values() if len(shapes) == 1 else ())):
            raise ValueError(f"{argument}: found values of shape {array.shape}, expected {expected}.")
        vector = array.ravel()
    if vector.min() < 0:
        raise ValueError(f"{argument}: found {vector.min():.3g}, expected {expected}, all of them of at least 0.")
    return vector
