"""Jacobians of PyTorch modules, example by example, and of their linear layers in closed form.

What an output gains by a weight of a linear layer is the product of what the layer reads and of what the output gains
by what the layer writes (Goodfellow, 2015). One pass back per output gives the second factor for all examples and all
layers. A few examples are compared with PyTorch's own gradients at every call: parameters that are also used
elsewhere, or not through their layer, do not agree. They, and those of other layers, are left to ``torch.func``.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from capcore.checks.arguments import library

SAMPLE = 3
"""Number of examples that are compared."""


def torch_jacobian(module: Any, weights: Mapping[str, Any], points: Any, step: int) -> Any:
    """(N, K, p) Jacobian of a module's outputs by its parameters, ``step`` examples at a time.

    Parameters
    ----------
    module : torch.nn.Module
        (N, …) → (N, K) or (N,), each example by itself.
    weights : dict
        Name of a parameter → tensor, in the order of the columns; parameters that are not named are constants.
    points : (N, …) torch.Tensor
        Examples.
    step : int
        Number of examples at a time.
    """
    layerwise = LayerwiseJacobian(module, weights, points)
    size = sum(weight.numel() for weight in weights.values())
    rows = library("torch").empty((len(points), layerwise.n_outputs, size), dtype=next(iter(weights.values())).dtype)
    for i in range(0, len(points), step):
        layerwise.fill(points[i : i + step], rows[i : i + step])
    return rows


class Call(NamedTuple):
    """One call of a linear layer: the prefix of its parameters' names, the layer, and what it reads (n, …)."""

    prefix: str
    part: Any
    read: Any

    def slopes(self, gained: Any) -> dict[str, Any]:
        """Derivatives (n, *shape) of an output by the layer's parameters, from those by what it writes (n, …)."""
        read, wrote = (values.reshape(len(values), -1, values.shape[-1]) for values in (self.read, gained))
        weight = wrote.mT * read if wrote.shape[1] == 1 else wrote.mT @ read
        return {f"{self.prefix}weight": weight, f"{self.prefix}bias": wrote.sum(1)}


class LayerwiseJacobian:
    """The Jacobian of a module, in closed form for the parameters for which a sample of examples confirms it."""

    def __init__(self, module: Any, weights: Mapping[str, Any], points: Any) -> None:
        self.module, self.weights = module, weights
        self.sample = points[np.unique(np.linspace(0, len(points) - 1, SAMPLE).astype(int))]
        sizes = [weight.numel() for weight in weights.values()]
        self.columns = dict(zip(weights, map(slice, accumulate([0, *sizes]), accumulate(sizes)), strict=False))
        self.n_outputs, self.closed = self._confirmed(self.sample)

    def outputs(self, weights: Mapping[str, Any], x: Any) -> Any:
        """(n, K) outputs."""
        values = library("torch").func.functional_call(self.module, dict(weights), (x,))
        return values[:, None] if values.dim() == 1 else values

    def fill(self, x: Any, rows: Any) -> None:
        """Write the Jacobian of the examples x into a tensor (n, K, p)."""
        seen = set()
        for k, name, value in self._by_layers(x):
            if name in self.closed:
                target = rows[:, k, self.columns[name]].view(len(x), *self.weights[name].shape)
                target.add_(value) if (k, name) in seen else target.copy_(value)
                seen.add((k, name))
        rest = {name: weight for name, weight in self.weights.items() if name not in self.closed}
        if rest:
            func = library("torch").func
            one = func.jacrev(lambda own, point: self.outputs({**self.weights, **own}, point[None])[0])
            copies = {name: weight.expand(len(x), *weight.shape) for name, weight in rest.items()}
            for name, value in func.vmap(one)(copies, x).items():  # recurrent layers add in place: weights for each
                rows[:, :, self.columns[name]] = value.flatten(2).detach()

    def _by_layers(self, x: Any) -> Iterator[tuple[int, str, Any]]:
        """Output, name of a parameter, and its derivatives (n, *shape), once for each call of its layer."""
        calls, derivatives = self.passes(x)
        for k, of_output in enumerate(derivatives):
            for call, gained in zip(calls, of_output, strict=True):
                for name, value in call.slopes(gained).items():
                    yield k, name, value

    def passes(self, x: Any) -> tuple[list[Call], Iterator[tuple[Any, ...]]]:
        """The calls of linear layers; and for one output after another its derivatives (n, …) by what each writes."""
        torch = library("torch")
        calls = []
        wrote = []

        def record(prefix: str, part: Any, inputs: Any, output: Any) -> Any:
            calls.append(Call(prefix, part, inputs[0].detach()))
            wrote.append(output if output.requires_grad else output.detach().requires_grad_())
            return wrote[-1].clone()  # what comes next may work in place

        linear = [(name, part) for name, part in self.module.named_modules() if type(part) is torch.nn.Linear]
        hooks = [part.register_forward_hook(partial(record, f"{name}." if name else "")) for name, part in linear]
        try:
            with torch.enable_grad():
                outputs = self.outputs(self.weights, x)
        finally:
            for hook in hooks:
                hook.remove()
        sums = (outputs[:, k].sum() for k in range(outputs.shape[1] if wrote else 0))
        return calls, (torch.autograd.grad(own, wrote, retain_graph=True, materialize_grads=True) for own in sums)

    def _confirmed(self, x: Any) -> tuple[int, set[str]]:
        """Number K, and the parameters whose closed form gives PyTorch's own gradient of a random sum of outputs."""
        torch = library("torch")
        free = {name: weight.detach().clone().requires_grad_() for name, weight in self.weights.items()}
        with torch.enable_grad():
            outputs = self.outputs(free, x)
        shares = torch.as_tensor(np.random.default_rng(0).normal(size=outputs.shape), dtype=outputs.dtype)
        sums: dict[str, Any] = {}
        for k, name, value in self._by_layers(x):
            if name in free:
                sums[name] = sums.get(name, 0.0) + shares[:, k].view(-1, *[1] * (value.dim() - 1)) * value
        own = [free[name] for name in sums]
        alone = (outputs * shares).sum(1)
        exact = [torch.autograd.grad(one, own, retain_graph=True, materialize_grads=True) for one in alone if own]
        tolerance = torch.finfo(outputs.dtype).eps ** 0.5
        closed = set()
        for name, expected in zip(sums, map(torch.stack, zip(*exact, strict=True)), strict=True):
            if (sums[name] - expected).abs().max() < tolerance * expected.abs().max():
                closed.add(name)
        return outputs.shape[1], closed
