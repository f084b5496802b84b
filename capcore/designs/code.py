"""The text of a network with the skeleton of a model, in PyTorch or JAX: to be copied, changed and trained.

With linear layers and the model's kernels each network has the model's coefficients as its impulse response. The text
for PyTorch keeps time last, as (batch, 1, time); its kernels run from the oldest tap to the most recent one. The text
for JAX keeps (batch, time), and kernels (in, taps, out) with the most recent tap first, as this package does.
"""

from __future__ import annotations

from typing import Any

from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.taps import Taps
from capcore.designs.candidates import described

TORCH_STACK = '''import torch
from torch import nn


class Network(nn.Sequential):
    """{words}: (batch, 1, time) → (batch, 1, time), the forecast of the value after each."""

    def __init__(self, activation=nn.Tanh, bias=False):
        layers = []
        for i, k, o, d in {sizes}:  # in, taps, out, dilation
            layers += [nn.ConstantPad1d((d * (k - 1), 0), 0.0), nn.Conv1d(i, o, k, dilation=d, bias=bias), activation()]
        super().__init__(*layers[:-1])
'''
TORCH_TAPS = '''import torch
from torch import nn


class Network(nn.Module):
    """{words}: (batch, 1, time) → (batch, 1, time), the forecast of the value after each."""

    def __init__(self):
        super().__init__()
        ranges = {sizes}  # means over lags from the first to before the second
        windows = torch.zeros(len(ranges), 1, {n})
        for window, (start, end) in zip(windows, ranges):
            window[0, {n} - end : {n} - start] = 1 / (end - start)
        self.register_buffer("windows", windows)
        self.readout = nn.Conv1d(len(ranges), 1, 1, bias=False)

    def forward(self, x):
        return self.readout(nn.functional.conv1d(nn.functional.pad(x, ({n} - 1, 0)), self.windows))
'''
JAX_STACK = '''import jax
import jax.numpy as jnp

SHAPES = {sizes}  # in, taps, out, dilation


def init(key):
    keys = jax.random.split(key, len(SHAPES))
    return [jax.random.normal(k, (i, t, o)) / (i * t) ** 0.5 for k, (i, t, o, _) in zip(keys, SHAPES)]


def apply(params, x, activation=jnp.tanh):
    """{words}: (batch, time) → (batch, time), the forecast of the value after each."""
    h, order = x[..., None], ("NWC", "IWO", "NWC")
    for l, (kernel, (_, t, _, d)) in enumerate(zip(params, SHAPES)):
        h = activation(h) if l else h
        h = jax.lax.conv_general_dilated(h, kernel[:, ::-1], (1,), [(d * (t - 1), 0)], None, (d,), order)
    return h[..., 0]
'''
JAX_TAPS = '''import jax
import jax.numpy as jnp

RANGES = {sizes}  # means over lags from the first to before the second


def init(key):
    return jax.random.normal(key, (len(RANGES),))


def apply(params, x, activation=None):
    """{words}: (batch, time) → (batch, time), the forecast of the value after each."""
    windows = jnp.array([[(start <= lag < end) / (end - start) for lag in range({n})] for start, end in RANGES])
    return jax.vmap(lambda row: jnp.convolve(row, params @ windows)[: row.size])(x)
'''


def torch_text(arch: Any) -> str:
    """Text of a module ``Network`` in PyTorch.

    >>> from capcore.architectures import NearAndPools
    >>> print(torch_text(NearAndPools(2, 1)).splitlines()[5])
        \"\"\"2 taps and 1 pool: (batch, 1, time) → (batch, 1, time), the forecast of the value after each.\"\"\"
    """
    return _filled(arch, TORCH_STACK, TORCH_TAPS)


def jax_text(arch: Any) -> str:
    """Text of the functions ``init(key)`` and ``apply(params, x)`` in JAX.

    >>> from capcore.architectures import Hierarchical
    >>> print(jax_text(Hierarchical(2, 2)).splitlines()[3])
    SHAPES = [(1, 2, 2, 1), (2, 2, 1, 2)]  # in, taps, out, dilation
    """
    return _filled(arch, JAX_STACK, JAX_TAPS)


def _filled(arch: Any, stack: str, taps: str) -> str:
    if isinstance(arch, Hierarchical):
        sizes = [(*shape, dilation) for shape, dilation in zip(arch.kernel_shapes, arch.dilations, strict=True)]
        return stack.format(words=described(arch), sizes=sizes)
    if isinstance(arch, Taps) and arch.input_dim == 1:
        return taps.format(words=described(arch), sizes=list(zip(arch.starts, arch.ends, strict=True)), n=arch.ends[-1])
    raise ValueError(f"model: found {arch!r}, expected taps or a stack, of one component.")
