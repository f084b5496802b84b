"""A model in words, and the text of a network with its skeleton, in PyTorch or JAX: to be copied, changed and trained.

With linear layers and the model's kernels each network has the model's coefficients as its impulse response. The text
for PyTorch keeps time last, as (batch, 1, time); its kernels run from the oldest tap to the most recent one. The text
for JAX keeps (batch, time), and kernels (in, taps, out) with the most recent tap first, as this package does.
"""

from typing import Any

from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.taps import AutoRegressiveTaps, LogTaps, NearAndPools

TORCH = '''import torch
from torch import nn


class Network(nn.Sequential):
    """{words}: (batch, 1, time) → (batch, 1, time), the forecast of the value after each."""

'''
TORCH_STACK = """    def __init__(self, activation=nn.Tanh, bias=False):
        layers = []
        for i, k, o, d in {sizes}:  # in, taps, out, dilation
            layers += [nn.ConstantPad1d((d * (k - 1), 0), 0.0), nn.Conv1d(i, o, k, dilation=d, bias=bias), activation()]
        super().__init__(*layers[:-1])
"""
TORCH_TAPS = """    def __init__(self):
        ranges = {sizes}  # means over lags from the first to before the second
        means = [[[(a <= lag < b) / (b - a) for lag in reversed(range({n}))]] for a, b in ranges]
        windows = nn.Conv1d(1, len(ranges), {n}, bias=False).requires_grad_(False)
        windows.weight.copy_(torch.tensor(means))
        super().__init__(nn.ConstantPad1d(({n} - 1, 0), 0.0), windows, nn.Conv1d(len(ranges), 1, 1, bias=False))
"""
JAX = """import jax
import jax.numpy as jnp

SIZES = {sizes}
"""
JAX_STACK = '''# in, taps, out, dilation


def init(key):
    keys = jax.random.split(key, len(SIZES))
    return [jax.random.normal(k, (i, t, o)) / (i * t) ** 0.5 for k, (i, t, o, _) in zip(keys, SIZES)]


def apply(params, x, activation=jnp.tanh):
    """{words}: (batch, time) → (batch, time), the forecast of the value after each."""
    h, order = x[..., None], ("NWC", "IWO", "NWC")
    for l, (kernel, (_, t, _, d)) in enumerate(zip(params, SIZES)):
        h = activation(h) if l else h
        h = jax.lax.conv_general_dilated(h, kernel[:, ::-1], (1,), [(d * (t - 1), 0)], None, (d,), order)
    return h[..., 0]
'''
JAX_TAPS = '''# means over lags from the first to before the second


def init(key):
    return jax.random.normal(key, (len(SIZES),))


def apply(params, x, activation=None):
    """{words}: (batch, time) → (batch, time), the forecast of the value after each."""
    windows = jnp.array([[(start <= lag < end) / (end - start) for lag in range({n})] for start, end in SIZES])
    return jax.vmap(lambda row: jnp.convolve(row, params @ windows)[: row.size])(x)
'''


def described(arch: Any) -> str:
    """A model in a few words.

    >>> from capcore.architectures import Hierarchical
    >>> described(NearAndPools(16, 8)), described(Hierarchical([2, 3], kernel_size=[4, 4, 2]))
    ('16 taps and 8 pools', '3 layers, kernels 4·4·2, channels 2·3')
    """
    if isinstance(arch, AutoRegressiveTaps):
        return _counted(arch.taps, "tap")
    if isinstance(arch, NearAndPools):
        return f"{_counted(arch.near, 'tap')} and {_counted(arch.pools, 'pool')}"
    if isinstance(arch, LogTaps):
        return f"{arch.taps} taps at geometric lags"
    channels = f", channels {_dots(arch.channels)}" if arch.channels else ""
    return f"{arch.n_layers} layers, kernels {_dots(arch.kernel_sizes)}{channels}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count > 1)}"


def _dots(values: list[int]) -> str:
    return f"{values[0]}" if len(values) > 3 and len(set(values)) == 1 else "·".join(map(str, values))


def torch_text(arch: Any) -> str:
    """Text of a module ``Network`` in PyTorch.

    >>> from capcore.architectures import NearAndPools
    >>> print(torch_text(NearAndPools(2, 1)).splitlines()[5])
        \"\"\"2 taps and 1 pool: (batch, 1, time) → (batch, 1, time), the forecast of the value after each.\"\"\"
    """
    return _filled(arch, TORCH + TORCH_STACK, TORCH + TORCH_TAPS)


def jax_text(arch: Any) -> str:
    """Text of the functions ``init(key)`` and ``apply(params, x)`` in JAX.

    >>> from capcore.architectures import Hierarchical
    >>> print(jax_text(Hierarchical(2, 2)).splitlines()[3])
    SIZES = [(1, 2, 2, 1), (2, 2, 1, 2)]
    """
    return _filled(arch, JAX + JAX_STACK, JAX + JAX_TAPS)


def _filled(arch: Any, stack: str, taps: str) -> str:
    if isinstance(arch, Hierarchical):
        layers = [(*shape, dilation) for shape, dilation in zip(arch.kernel_shapes, arch.dilations, strict=True)]
        return stack.format(words=described(arch), sizes=layers)
    return taps.format(words=described(arch), sizes=list(zip(arch.starts, arch.ends, strict=True)), n=arch.ends[-1])
