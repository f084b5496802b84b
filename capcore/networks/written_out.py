"""Layers of PyTorch written out by elementary operations, where its own kernels have first derivatives at most.

The equations of recurrent layers, and the order of the gates in their weights, are those of ``torch.nn.LSTM``, ``GRU``
and ``RNN``; the norm of weights is that of Salimans and Kingma (2016).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from capcore.checks.arguments import library


def write_out(module: Any) -> None:
    """Let layers inside a module compute what they compute by elementary operations; in place."""
    nn = library("torch").nn
    for part in module.modules():
        if isinstance(part, nn.RNNBase):
            part.forward = partial(_forward, part)
        elif isinstance(part, nn.RNNCellBase):
            part.forward = partial(_cell, part)
        elif type(part).__name__ == "_WeightNorm":  # of torch.nn.utils.parametrizations
            part.forward = partial(_scaled, part.dim)
        for hook in part._forward_pre_hooks.values():
            if type(hook).__name__ == "WeightNorm":  # of the older torch.nn.utils.weight_norm
                hook.compute_weight = partial(_of_hook, hook)


def _scaled(axis: int, sizes: Any, directions: Any) -> Any:
    """Weights of given sizes along an axis (−1 for one size in all), and given directions."""
    axes = [each for each in range(directions.dim()) if each != axis]
    return directions * (sizes / directions.square().sum(axes, keepdim=True).sqrt())


def _of_hook(hook: Any, part: Any) -> Any:
    """The weight that a hook computes for a layer."""
    return _scaled(hook.dim, *(getattr(part, f"{hook.name}_{each}") for each in "gv"))


def _forward(layer: Any, inputs: Any, start: Any = None) -> Any:
    """What ``layer(inputs, start)`` returns: the outputs of all steps, and the last states."""
    torch = library("torch")
    if not hasattr(inputs, "dim"):
        raise TypeError(f"{type(layer).__name__}: found {type(inputs).__name__}, expected a tensor. Pad the sequences.")
    many, long = inputs.dim() == 3, layer.mode == "LSTM"
    x = inputs if many else inputs.unsqueeze(0 if layer.batch_first else 1)
    x = x.transpose(0, 1) if layer.batch_first else x
    ways = ("", "_reverse")[: 2 if layer.bidirectional else 1]
    if start is None:
        sizes = (layer.proj_size or layer.hidden_size, layer.hidden_size)[: 1 + long]
        states = [x.new_zeros(layer.num_layers * len(ways), x.shape[1], size) for size in sizes]
    else:
        states = [each if many else each.unsqueeze(1) for each in (start if long else (start,))]
    ends: list[tuple[Any, ...]] = []
    for i in range(layer.num_layers):
        found = []
        for way in ways:
            steps, end = _run(layer, f"_l{i}{way}", x.flip(0) if way else x, tuple(each[len(ends)] for each in states))
            found.append(steps.flip(0) if way else steps)
            ends.append(end)
        x = torch.cat(found, -1)
    last = [torch.stack(each) if many else torch.stack(each).squeeze(1) for each in zip(*ends, strict=True)]
    x = x.transpose(0, 1) if layer.batch_first else x
    return x if many else x.squeeze(0 if layer.batch_first else 1), tuple(last) if long else last[0]


def _cell(cell: Any, inputs: Any, start: Any = None) -> Any:
    """What ``cell(inputs, start)`` returns: its next states."""
    linear, long = library("torch").nn.functional.linear, type(cell).__name__ == "LSTMCell"
    first = inputs.new_zeros(*inputs.shape[:-1], cell.hidden_size) if start is None else start
    states = (first, first) if long and start is None else tuple(first) if long else (first,)
    mode = {"LSTMCell": "LSTM", "GRUCell": "GRU"}.get(type(cell).__name__, f"RNN_{getattr(cell, 'nonlinearity', '')}")
    past = linear(states[0], cell.weight_hh, cell.bias_hh)
    found = _next(mode.upper(), linear(inputs, cell.weight_ih, cell.bias_ih), past, states)
    return found if long else found[0]


def _run(layer: Any, name: str, x: Any, states: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Outputs (T, N, …) of one layer in one direction, and its last states, from inputs (T, N, …) and first states."""
    torch = library("torch")
    linear = torch.nn.functional.linear
    read, held, seen, kept, projected = (
        getattr(layer, f"{each}{name}", None) for each in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    )
    outputs = []
    for now in linear(x, read, seen):
        states = _next(layer.mode, now, linear(states[0], held, kept), states)
        if projected is not None:
            states = (linear(states[0], projected), states[1])
        outputs.append(states[0])
    return torch.stack(outputs), states


def _next(mode: str, now: Any, past: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
    """States after a step, from what the gates receive from the inputs and from the states before it."""
    if mode == "LSTM":
        gate, keep, new, out = (now + past).chunk(4, -1)
        cell = keep.sigmoid() * states[1] + gate.sigmoid() * new.tanh()
        return out.sigmoid() * cell.tanh(), cell
    if mode == "GRU":
        (reset, keep, new), (reset_past, keep_past, new_past) = now.chunk(3, -1), past.chunk(3, -1)
        share = (keep + keep_past).sigmoid()
        return ((1 - share) * (new + (reset + reset_past).sigmoid() * new_past).tanh() + share * states[0],)
    return ((now + past).tanh() if mode == "RNN_TANH" else (now + past).relu(),)
