"""The Jacobian of a network in factors: what a dense layer reads, and what each output gains by what it writes.

An output k of an example n gains g by what a dense layer writes, and a gᵀ by its weights, a being what the layer reads
(Goodfellow, 2015). So the layer's part of J is never formed where products of the factors do. All other parameters,
such as those of layers that are applied at several positions, have rows g of J, and read a 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from capcore.architectures.adapter import TorchApply
from capcore.checks.arguments import library
from capcore.networks.losses import to_metric

VIEWS = ("slice", "reshape", "transpose", "squeeze")
"""Operations of JAX that choose and order numbers."""
CLOSE = 1e-8
"""Relative difference of two gradients that are the same: much more than rounding, and less than any other use."""


class Factor(NamedTuple):
    """∂(output k of example n)/∂(parameter places[i, j]) = read[n, i]·wrote[n, k, j].

    Attributes
    ----------
    places : (a, b) array
        Indices of parameters, each of which is in one factor at most; others move no output.
    read : (n, a) array
    wrote : (n, K, b) array
    """

    places: np.ndarray
    read: np.ndarray
    wrote: np.ndarray

    def product(self, other: Factor, scales: np.ndarray) -> np.ndarray:
        """(n, K, m, K) J diag(scales) J′ᵀ with other examples of the same factor, scales (a, b).

        >>> one = Factor(np.arange(2)[None], np.array([[2.0]]), np.array([[[1.0, 3.0]]]))
        >>> one.product(one, np.ones((1, 2))).tolist()
        [[[[40.0]]]]
        """
        (n, k, _), m = self.wrote.shape, len(other.read)
        alike: dict[bytes, list[int]] = {}
        for i, row in enumerate(scales):
            alike.setdefault(row.tobytes(), []).append(i)
        result = np.zeros((n, k, m, k))
        moves = self.wrote.any((0, 1)) & other.wrote.any((0, 1))  # few words of a vocabulary do
        for rows in alike.values():
            free = np.flatnonzero(moves & (scales[rows[0]] > 0))
            mine = self.wrote[..., free].reshape(n * k, free.size) * scales[rows[0], free]
            gained = (mine @ other.wrote[..., free].reshape(m * k, free.size).T).reshape(result.shape)
            result += gained * (self.read[:, rows] @ other.read[:, rows].T)[:, None, :, None]
        return result

    def block(self, other: Factor, numbers: int = 2**22) -> np.ndarray:
        """(a·b, a′·b′) sums over examples and outputs, with the sum over outputs taken first, Σₙ (Σₖ gg′ᵀ) ⊗ (aa′ᵀ).

        >>> ones = np.ones((1, 1))
        >>> one = Factor(np.arange(2)[None], 2 * ones, np.array([[[1.0, 3.0], [0.0, 1.0]]]))
        >>> one.block(one).tolist()
        [[4.0, 12.0], [12.0, 40.0]]
        """
        a, b, c, d = *self.places.shape, *other.places.shape
        if a * c == 1:
            mine = (self.read[:, None] * self.wrote).reshape(-1, b)
            return mine.T @ (mine if other is self else (other.read[:, None] * other.wrote).reshape(-1, d))
        sums: Any = np.zeros((a * c, b * d))
        step = max(1, numbers // max(a * c, b * d))
        for i in range(0, len(self.read), step):
            part = slice(i, i + step)
            read = (self.read[part, :, None] * other.read[part, None]).reshape(-1, a * c)
            gained = np.swapaxes(self.wrote[part], 1, 2) @ other.wrote[part]
            sums += read.T @ gained.reshape(-1, b * d)
        return sums.reshape(a, c, b, d).transpose(0, 2, 1, 3).reshape(a * b, c * d)


def squared(factors: Sequence[Factor], roots: np.ndarray, means: np.ndarray, size: int) -> np.ndarray:
    """(p, p) JᵀWJ, W = RRᵀ."""
    matrix, inside = np.zeros((size, size)), []
    for places, read, wrote in factors:
        inside.append(Factor(places, read, to_metric(wrote.reshape(means.size, -1), roots, means).reshape(wrote.shape)))
        one = inside[-1]
        for other in inside:
            rows, columns, block = one.places.ravel(), other.places.ravel(), one.block(other)
            matrix[rows[:, None], columns] = block
            matrix[columns[:, None], rows] = block.T
    return matrix


def jacobian(factors: Sequence[Factor], chosen: np.ndarray) -> np.ndarray:
    """(n·K, m) J by the m parameters that a mask (p,) chooses.

    >>> one = Factor(np.arange(2)[None], np.array([[2.0]]), np.array([[[1.0, 3.0]]]))
    >>> jacobian([one], np.array([False, True, True])).tolist()
    [[6.0, 0.0]]
    """
    n, k, _ = factors[0].wrote.shape
    columns, where = np.zeros((n, k, np.count_nonzero(chosen))), np.cumsum(chosen) - 1
    for places, read, wrote in factors:
        for i in np.flatnonzero(chosen[places].any(axis=1)):
            inside = chosen[places[i]]
            columns[:, :, where[places[i, inside]]] = read[:, i, None, None] * wrote[:, :, inside]
    return columns.reshape(n * k, -1)


def inlined(program: Any, arguments: Sequence[Any]) -> list[Any]:
    """What a program of JAX returns, calls of compiled functions taken operation by operation."""
    values = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
    values |= dict(zip(program.jaxpr.invars, arguments, strict=True))

    def value(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    for step in program.jaxpr.eqns:
        if step.primitive.name in ("jit", "pjit"):
            outputs = inlined(step.params["jaxpr"], list(map(value, step.invars)))
        else:
            outputs = performed(program.jaxpr, step, value)
        values.update(zip(step.outvars, outputs, strict=True))
    return list(map(value, program.jaxpr.outvars))


def performed(program: Any, step: Any, value: Callable[[Any], Any]) -> list[Any]:
    """What one step of a program gives."""
    core = library("jax.extend.core")
    atoms = list(dict.fromkeys(atom for atom in step.invars if not hasattr(atom, "val")))
    alone = program.replace(constvars=[], invars=atoms, outvars=step.outvars, eqns=[step])
    return core.jaxpr_as_fun(core.ClosedJaxpr(alone, []))(*map(value, atoms))


class JaxFactors:
    """Factors of a function (p,), one example → (K,) of JAX.

    Its operations are taken one by one: a dense layer is a product of one vector and a matrix of parameters that
    nothing else takes. What else takes parameters is differentiated by them.
    """

    def __init__(self, function: Callable[[Any, Any], Any], w: Any, point: Any) -> None:
        jax = library("jax")
        program = jax.make_jaxpr(function)(w, point)
        self.program = jax.make_jaxpr(lambda *arguments: inlined(program, arguments)[0])(w, point)
        program = self.program.jaxpr
        (self.n_outputs,) = program.outvars[0].aval.shape
        views = {program.invars[0]: np.arange(w.size)}
        taken: list[tuple[int, Any]] = []
        for i, step in enumerate(program.eqns):
            mine = [(i, atom) for atom in step.invars if not hasattr(atom, "val") and atom in views]
            if mine and step.primitive.name in VIEWS:
                views[step.outvars[0]] = np.asarray(step.primitive.bind(views[step.invars[0]], **step.params))
            else:
                taken += mine
        taken += [(-1, atom) for atom in program.outvars if not hasattr(atom, "val") and atom in views]
        times = np.zeros(w.size, dtype=int)
        for _, atom in taken:
            np.add.at(times, views[atom], 1)
        self.dense: dict[int, tuple[int, Any, np.ndarray]] = {}
        self.rest = {}
        for i, atom in taken:
            step = program.eqns[i]
            self.rest[atom] = places = views[atom]
            if i < 0 or i in self.dense or step.primitive.name != "dot_general" or times[places].max(initial=0) > 1:
                continue
            own = step.invars.index(atom)
            contracted, batched = step.params["dimension_numbers"]
            axes = contracted[own]
            matrix = np.moveaxis(places, axes, range(len(axes))).reshape(-1, math.prod(np.delete(places.shape, axes)))
            if not batched[0] and math.prod(step.invars[1 - own].aval.shape) == len(matrix):
                self.dense[i] = 1 - own, contracted[1 - own], matrix
                del self.rest[atom]

    def places(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of the dense layers, and of all that else is taken."""
        return [places for _, _, places in self.dense.values()], list(self.rest.values())

    def __call__(self, w: Any, points: Any) -> Any:
        """What each dense layer reads (n, a), what outputs gain by what it writes (n, K, …), and by the rest."""
        jax, program = library("jax"), self.program.jaxpr

        def one(point: Any) -> Any:
            def run(added: tuple[list[Any], list[Any]]) -> Any:
                values = dict(zip(program.constvars, self.program.consts, strict=True))
                values |= dict(zip(program.invars, (w, point), strict=True))
                moved, written, read = dict(zip(self.rest, added[1], strict=True)), iter(added[0]), []

                def value(atom: Any) -> Any:
                    return values[atom] + moved[atom] if atom in moved else values[atom]

                for i, step in enumerate(program.eqns):
                    outputs = performed(program, step, values.get if step.primitive.name in VIEWS else value)
                    if i in self.dense:
                        other, axes, _ = self.dense[i]
                        own = value(step.invars[other])
                        read.append(jax.numpy.moveaxis(own, axes, range(len(axes))).ravel())
                        outputs = [outputs[0] + next(written).reshape(outputs[0].shape)]
                    values.update(zip(step.outvars, outputs, strict=True))
                return value(program.outvars[0]), read

            dense, rest = self.places()
            none = (
                [jax.numpy.zeros(places.shape[1], w.dtype) for places in dense],
                [jax.numpy.zeros(places.shape, w.dtype) for places in rest],
            )
            wrote, read = jax.jacrev(run, has_aux=True)(none)
            return read, *wrote

        return jax.vmap(one)(points)


class TorchFactors:
    """Factors of a PyTorch module, dense layers being those linear ones that are called once, with one vector.

    Parameters that are also used elsewhere do not agree with PyTorch's own gradient, and are left to ``torch.func``.

    Parameters
    ----------
    module : torch.nn.Module
        (N, …) → (N, K) or (N,), each example by itself.
    weights : dict
        Name of a parameter → tensor, in the order of the columns; parameters that are not named are constants.
    columns : dict
        Name of a parameter → its places, in its shape.
    points : (n, …) torch.Tensor
        Examples for the comparison.
    shares : (n, K) array
        Shares of their outputs in a sum.
    exact : (p,) array
        The gradient of that sum.
    axis : int
        Of the K outputs of a position.
    """

    def __init__(
        self, module: Any, weights: Mapping[str, Any], columns: Mapping[str, np.ndarray], points: Any,
        shares: np.ndarray, exact: np.ndarray, axis: int = -1,
    ) -> None:  # fmt: skip
        torch = library("torch")
        self.module, self.columns, self.n_outputs, self.linear = module, columns, shares.shape[1], {}
        self.axis = axis
        for name, part in module.named_modules():
            own = [f"{name}.{end}" if name else end for end in ("weight", "bias")]
            if type(part) is torch.nn.Linear and own[0] in columns and (part.bias is None or own[1] in columns):
                self.linear[part] = own[: 1 if part.bias is None else 2]
        passes, confirmed = self.passes(weights, points), {}
        calls = Counter(part for part, _, _ in passes)
        for part, read, wrote in passes:
            if calls[part] == 1 and read.dim() == 2:
                places = self.of(part)
                gradient = self.with_ones(part, read).numpy().T @ np.einsum("nk,nkb->nb", shares, wrote)
                if np.abs(gradient - exact[places]).max() <= CLOSE * np.abs(exact[places]).max():
                    confirmed[part] = self.linear[part]
        self.linear = confirmed
        dense = {name for names in confirmed.values() for name in names}
        self.rest = [name for name in columns if name not in dense]

    def places(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of the dense layers, in the order of their calls, and of all other parameters."""
        return [self.of(part) for part in self.linear], [self.columns[name] for name in self.rest]

    def of(self, part: Any) -> np.ndarray:
        """(a, b) places of a layer's weights, and of its bias in the last row."""
        weight, *bias = (self.columns[name] for name in self.linear[part])
        return np.concatenate([weight.T, *(places[None] for places in bias)])

    def with_ones(self, part: Any, read: Any) -> Any:
        """(n, a) what a layer reads, with a 1 for its bias."""
        return library("torch").cat([read, read.new_ones(len(read), len(self.linear[part]) - 1)], 1)

    def outputs(self, weights: Mapping[str, Any], x: Any) -> Any:
        """(n, K) outputs."""
        return TorchApply(self.module)(weights, x).swapaxes(self.axis, -1).reshape(len(x), -1)

    def passes(self, weights: Mapping[str, Any], x: Any) -> list[tuple[Any, Any, Any]]:
        """Linear layers as they are called, what they read (n, …), and what outputs gain by what they write."""
        torch = library("torch")
        calls, written = [], []

        def record(part: Any, inputs: Any, output: Any) -> Any:
            calls.append((part, inputs[0].detach()))
            written.append(output if output.requires_grad else output.detach().requires_grad_())
            return written[-1].clone()  # what comes next may work in place

        hooks = [part.register_forward_hook(record) for part in self.linear]
        try:
            with torch.enable_grad():
                outputs = self.outputs(weights, x)
        finally:
            for hook in hooks:
                hook.remove()
        if not calls:
            return []
        take = partial(torch.autograd.grad, inputs=written, retain_graph=True, materialize_grads=True)
        gained = zip(*(take(outputs[:, k].sum()) for k in range(outputs.shape[1])), strict=True)
        return [(*call, torch.stack(values, 1)) for call, values in zip(calls, gained, strict=True)]

    def __call__(self, weights: Mapping[str, Any], points: Any) -> Any:
        """What each dense layer reads (n, a), what outputs gain by what it writes (n, K, …), and by the rest."""
        func, calls = library("torch").func, {part: values for part, *values in self.passes(weights, points)}
        read = [self.with_ones(part, calls[part][0]) for part in self.linear]
        one = func.jacrev(lambda own, point: self.outputs({**weights, **own}, point[None])[0])
        copies = {name: weights[name].expand(len(points), *weights[name].shape) for name in self.rest}
        gained = func.vmap(one)(copies, points) if copies else {}  # recurrent layers add in place: weights for each
        return read, [calls[part][1] for part in self.linear], [gained[name].detach() for name in self.rest]
