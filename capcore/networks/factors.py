"""The Jacobian of a network in factors: what a layer reads at each position, and what outputs gain by what it writes.

An output k of an example n gains g by what a dense layer writes at a position, and a gᵀ by its weights, a being what it
reads there (Goodfellow, 2015). So the layer's part of J is never formed where products of the factors do: with one
position never, and a few rows at a time with several, such as tokens or calls. All other parameters have rows g of J,
and read a 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from capcore.checks.arguments import library

VIEWS = ("slice", "reshape", "transpose", "squeeze")
"""Operations of JAX that choose and order numbers."""
SAMPLE = 16
"""Number of examples on which factors of PyTorch modules are compared with its own gradients."""
ROWS = 2**24
"""Numbers of J that are formed at a time, of a layer with several positions."""


class Factor(NamedTuple):
    """∂(output k of example n)/∂(parameter places[i, j]) = Σₜ read[n, t, i]·wrote[n, k, t, j].

    Attributes
    ----------
    places : (a, b) array
        Indices of parameters, each of which is in one factor at most; others move no output.
    read : (n, T, a) array
    wrote : (n, K, T, b) array
    """

    places: np.ndarray
    read: np.ndarray
    wrote: np.ndarray

    def formed(self, rows: Any = slice(None)) -> np.ndarray:
        """(n, K, a′, b) J of some rows of ``places``."""
        return np.swapaxes(self.read[:, None, :, rows], 2, 3) @ self.wrote

    def product(self, other: Factor, scales: np.ndarray) -> np.ndarray:
        """(n, K, m, K) J diag(scales) J′ᵀ with other examples of the same factor, scales (a, b).

        >>> one = Factor(np.arange(2)[None], np.array([[[2.0]]]), np.array([[[[1.0, 3.0]]]]))
        >>> one.product(one, np.ones((1, 2))).tolist()
        [[[[40.0]]]]
        """
        (n, k, positions, b), m = self.wrote.shape, len(other.read)
        result = np.zeros((n, k, m, k))
        if positions > 1:
            used = scales.any(1) & self.read.any((0, 1)) & other.read.any((0, 1))  # few words of a vocabulary are
            step = max(1, ROWS // (max(n, m) * k * b))
            for rows in (np.flatnonzero(used)[i : i + step] for i in range(0, np.count_nonzero(used), step)):
                mine = (self.formed(rows) * scales[rows]).reshape(n * k, -1)
                result += (mine @ other.formed(rows).reshape(m * k, -1).T).reshape(result.shape)
            return result
        alike: dict[bytes, list[int]] = {}
        for i, row in enumerate(scales):
            alike.setdefault(row.tobytes(), []).append(i)
        for rows in alike.values():
            free = np.flatnonzero(scales[rows[0]])
            mine = self.wrote[..., free].reshape(n * k, free.size) * scales[rows[0], free]
            gained = (mine @ other.wrote[..., free].reshape(m * k, free.size).T).reshape(result.shape)
            result += gained * (self.read[:, 0, rows] @ other.read[:, 0, rows].T)[:, None, :, None]
        return result


def jacobian(factors: Sequence[Factor], chosen: np.ndarray) -> np.ndarray:
    """(n·K, m) J by the m parameters that a mask (p,) chooses.

    >>> one = Factor(np.arange(2)[None], np.array([[[2.0]]]), np.array([[[[1.0, 3.0]]]]))
    >>> jacobian([one], np.array([False, True, True])).tolist()
    [[6.0, 0.0]]
    """
    n, k = factors[0].wrote.shape[:2]
    columns, where = np.zeros((n, k, np.count_nonzero(chosen))), np.cumsum(chosen) - 1
    for factor in factors:
        inside = chosen[factor.places]
        rows = np.flatnonzero(inside.any(1))
        inside, places = inside[rows], factor.places[rows]
        values = factor.formed(rows) if rows.size else np.zeros((n, k, 0, inside.shape[1]))
        columns[:, :, where[places[inside]]] = values[:, :, inside]
    return columns.reshape(n * k, -1)


def inlined(program: Any, arguments: Sequence[Any]) -> list[Any]:
    """What a program of JAX returns, calls of compiled functions taken operation by operation."""
    values = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
    values |= dict(zip(program.jaxpr.invars, arguments, strict=True))

    def value(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    for step in program.jaxpr.eqns:
        if step.primitive.name in ("jit", "pjit"):
            found = inlined(step.params["jaxpr"], list(map(value, step.invars)))
        else:
            found = performed(program.jaxpr, step, value)
        values.update(zip(step.outvars, found, strict=True))
    return list(map(value, program.jaxpr.outvars))


def performed(program: Any, step: Any, value: Callable[[Any], Any]) -> list[Any]:
    """What one step of a program gives."""
    core = library("jax.extend.core")
    atoms = list(dict.fromkeys(atom for atom in step.invars if not hasattr(atom, "val")))
    alone = program.replace(constvars=[], invars=atoms, outvars=step.outvars, eqns=[step])
    return core.jaxpr_as_fun(core.ClosedJaxpr(alone, []))(*map(value, atoms))


class Dense(NamedTuple):
    """A step of a program that multiplies parameters: by which operand, along which axes, at how many positions."""

    operand: int
    axes: tuple[int, ...]
    positions: int
    places: np.ndarray


class JaxFactors:
    """Factors of a function (p,), one example → (K,) of JAX.

    Its operations are taken one by one: a dense layer is one or more products of vectors with a matrix of parameters
    that nothing else takes, of more rows than vectors. What else takes parameters is differentiated by them.
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
        layers: dict[bytes, dict[int, Dense]] = {}
        self.rest = {atom: views[atom] for _, atom in taken}
        for i, atom in taken:
            np.add.at(times, views[atom], 1)
            step = program.eqns[i]
            if i >= 0 and step.primitive.name == "dot_general" and not step.params["dimension_numbers"][1][0]:
                own, places = step.invars.index(atom), views[atom]
                contracted = step.params["dimension_numbers"][0]
                axes = contracted[own]
                free = math.prod(np.delete(places.shape, axes))
                matrix = np.moveaxis(places, axes, range(len(axes))).reshape(-1, free)
                positions = math.prod(step.invars[1 - own].aval.shape) // max(1, len(matrix))
                layer = layers.setdefault(matrix.tobytes() + str(matrix.shape).encode(), {})
                layer[i] = Dense(1 - own, contracted[1 - own], positions, matrix)
        self.layers, self.dense = [], {}
        for layer in layers.values():
            places = next(iter(layer.values())).places
            count = sum(step.positions for step in layer.values())
            alone = times[places].max(initial=0) == len(layer) and not self.dense.keys() & layer.keys()
            if alone and (count == 1 or count < len(places)):
                self.layers.append(layer)
                self.dense |= layer
                self.rest = {a: mine for a, mine in self.rest.items() if not np.isin(mine, places).any()}

    def places(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of the dense layers, and of all that else is taken."""
        return [next(iter(layer.values())).places for layer in self.layers], list(self.rest.values())

    @property
    def positions(self) -> list[int]:
        """Of the dense layers."""
        return [sum(step.positions for step in layer.values()) for layer in self.layers]

    def __call__(self, w: Any, points: Any) -> Any:
        """What dense layers read (n, T, a), what outputs gain by what they write (n, K, T, b), and by the rest."""
        jax, program = library("jax"), self.program.jaxpr

        def one(point: Any) -> Any:
            def run(added: tuple[dict[int, Any], list[Any]]) -> Any:
                values = dict(zip(program.constvars, self.program.consts, strict=True))
                values |= dict(zip(program.invars, (w, point), strict=True))
                moved, read = dict(zip(self.rest, added[1], strict=True)), {}

                def value(atom: Any) -> Any:
                    return values[atom] + moved[atom] if atom in moved else values[atom]

                for i, step in enumerate(program.eqns):
                    found = performed(program, step, values.get if step.primitive.name in VIEWS else value)
                    if i in self.dense:
                        operand, axes, positions, places = self.dense[i]
                        own = step.invars[operand]
                        own = own.val if hasattr(own, "val") else value(own)
                        read[i] = jax.numpy.moveaxis(own, axes, range(-len(axes), 0)).reshape(positions, len(places))
                        written = added[0][i] if operand == 0 else added[0][i].T
                        found = [found[0] + written.reshape(found[0].shape)]
                    values.update(zip(step.outvars, found, strict=True))
                last = program.outvars[0]
                return last.val if hasattr(last, "val") else value(last), read

            zeros = partial(jax.numpy.zeros, dtype=w.dtype)
            none = {i: zeros((step.positions, step.places.shape[1])) for i, step in self.dense.items()}
            wrote, read = jax.jacrev(run, has_aux=True)((none, [zeros(places.shape) for places in self.rest.values()]))
            together = jax.numpy.concatenate
            return (
                [together([read[i] for i in layer]) for layer in self.layers],
                [together([wrote[0][i] for i in layer], 1) for layer in self.layers],
                wrote[1],
            )

        return jax.vmap(one)(points)


class TorchFactors:
    """Factors of a PyTorch module: of linear layers, convolutions and embeddings that are called with all examples.

    A convolution reads patches, an embedding the one-hot words that the data have. What is also used elsewhere does not
    agree with PyTorch's own gradient, and is left to ``torch.func``; so are layers with fewer rows than positions.

    Parameters
    ----------
    module : torch.nn.Module
        (N, …) → (N, K) or (N,), each example by itself.
    weights : dict
        Name of a parameter → tensor, in the order of the columns; parameters that are not named are constants.
    columns : dict
        Name of a parameter → its places, in its shape.
    points : (N, …) torch.Tensor
        All examples.
    """

    def __init__(self, module: Any, weights: Mapping[str, Any], columns: Mapping[str, np.ndarray], points: Any) -> None:
        torch = library("torch")
        kinds = torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d, torch.nn.Embedding
        self.module, self.columns, self.words = module, columns, {}
        self.layers: dict[Any, list[str]] = {}
        for name, part in module.named_modules():
            ends = ["weight", "bias"] if getattr(part, "bias", None) is not None else ["weight"]
            own = [f"{name}.{end}" if name else end for end in ends]
            plain = getattr(part, "groups", 1) == 1 and getattr(part, "padding_mode", "zeros") == "zeros"
            if type(part) in kinds and plain and all(each in columns for each in own):
                self.layers[part] = own
        if any(isinstance(part, torch.nn.Embedding) for part in self.layers):
            with torch.no_grad():
                for part, ids, _ in self.calls(weights, points)[1]:
                    if isinstance(part, torch.nn.Embedding):
                        self.words[part] = torch.unique(torch.cat([ids.ravel(), self.words.get(part, ids.ravel())]))
        some = points[torch.linspace(0, len(points) - 1, min(SAMPLE, len(points))).long()]
        free = {name: weight.detach().clone().requires_grad_() for name, weight in weights.items()}
        with torch.enable_grad():
            outputs = self.outputs(free, some)
            shares = torch.as_tensor(np.random.default_rng(0).normal(size=outputs.shape), dtype=outputs.dtype)
            total = (shares * outputs).sum()
        gradients = torch.autograd.grad(total, list(free.values()), materialize_grads=True)
        exact = np.empty(sum(places.size for places in columns.values()))
        for places, gradient in zip(columns.values(), gradients, strict=True):
            exact[places] = gradient
        self.n_outputs = outputs.shape[1]
        self.positions = []
        confirmed = {}
        for part, (read, wrote) in self.passes(weights, some).items():
            places, size = self.of(part), read.shape[1]
            found = np.asarray(torch.einsum("nta,nktb,nk->ab", read, wrote, shares))
            close = (
                np.abs(found - exact[places]).max()
                <= torch.finfo(outputs.dtype).eps ** 0.5 * np.abs(exact[places]).max()
            )
            if close and (size == 1 or size < len(places)):
                confirmed[part] = self.layers[part]
                self.positions.append(size)
        self.layers = confirmed
        dense = {name for names in confirmed.values() for name in names}
        self.rest = [name for name in columns if name not in dense]

    def places(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of the layers, and of all other parameters."""
        return [self.of(part) for part in self.layers], [self.columns[name] for name in self.rest]

    def of(self, part: Any) -> np.ndarray:
        """(a, b) places of a layer's weights, and of its bias in the last row."""
        weight, *bias = (self.columns[name] for name in self.layers[part])
        matrix = weight[self.words[part]] if part in self.words else weight.reshape(len(weight), -1).T
        return np.concatenate([matrix, *(places[None] for places in bias)])

    def read(self, part: Any, x: Any) -> Any:
        """(n, T, a) what a layer reads, with a 1 for its bias."""
        torch, n = library("torch"), len(x)
        if part in self.words:
            words = self.words[part]
            read = (x.reshape(n, -1, 1) == words) & (words != (-1 if part.padding_idx is None else part.padding_idx))
            return read.to(part.weight.dtype)
        if isinstance(part, torch.nn.Linear):
            read = x.reshape(n, -1, part.in_features)
        else:
            patches = torch.nn.functional.pad(x, part._reversed_padding_repeated_twice)
            for axis, size in enumerate(part.kernel_size):
                reach = part.dilation[axis] * (size - 1) + 1
                patches = patches.unfold(axis + 2, reach, part.stride[axis])[..., :: part.dilation[axis]]
            read = patches.movedim(1, len(part.kernel_size) + 1).reshape(n, -1, part.weight[0].numel())
        return torch.cat([read, read.new_ones(*read.shape[:2], len(self.layers[part]) - 1)], 2)

    def outputs(self, weights: Mapping[str, Any], x: Any) -> Any:
        """(n, K) outputs."""
        values = library("torch").func.functional_call(self.module, dict(weights), (x,))
        return values[:, None] if values.dim() == 1 else values

    def calls(self, weights: Mapping[str, Any], x: Any) -> tuple[Any, list[tuple[Any, Any, Any]]]:
        """Outputs, and the layers as they are called, each with what it reads and what it writes."""
        calls: list[tuple[Any, Any, Any]] = []

        def record(part: Any, inputs: Any, output: Any) -> Any:
            output = output if output.requires_grad else output.detach().requires_grad_()
            calls.append((part, inputs[0].detach(), output))
            return output.clone()  # what comes next may work in place

        hooks = [part.register_forward_hook(record) for part in self.layers]
        try:
            return self.outputs(weights, x), calls
        finally:
            for hook in hooks:
                hook.remove()

    def passes(self, weights: Mapping[str, Any], x: Any) -> dict[Any, tuple[Any, Any]]:
        """Layer → what it reads (n, T, a), and what outputs gain by what it writes (n, K, T, b)."""
        torch, groups = library("torch"), {}
        with torch.enable_grad():
            outputs, calls = self.calls(weights, x)
        take = partial(torch.autograd.grad, inputs=[each for _, _, each in calls], retain_graph=True)
        gained = [take(outputs[:, k].sum(), materialize_grads=True) for k in range(outputs.shape[1])] if calls else []
        for (part, own, written), *gains in zip(calls, *gained, strict=True):
            if len(own) == len(written) == len(x):
                wrote = torch.stack(gains, 1)
                if written.dim() > 2 and not isinstance(part, torch.nn.Linear | torch.nn.Embedding):
                    wrote = wrote.movedim(2, -1)
                wrote = wrote.reshape(*wrote.shape[:2], -1, wrote.shape[-1])
                groups.setdefault(part, []).append((self.read(part, own), wrote))
        together = {part: zip(*each, strict=True) for part, each in groups.items()}
        return {part: (torch.cat(read, 1), torch.cat(wrote, 2)) for part, (read, wrote) in together.items()}

    def __call__(self, weights: Mapping[str, Any], points: Any) -> Any:
        """What layers read (n, T, a), what outputs gain by what they write (n, K, T, b), and by the rest."""
        func, found = library("torch").func, self.passes(weights, points)
        one = func.jacrev(lambda own, point: self.outputs({**weights, **own}, point[None])[0])
        copies = {name: weights[name].expand(len(points), *weights[name].shape) for name in self.rest}
        gained = func.vmap(one)(copies, points) if copies else {}  # recurrent layers add in place: weights for each
        read, wrote = ([found[part][i] for part in self.layers] for i in (0, 1))
        return read, wrote, [gained[name].detach() for name in self.rest]
