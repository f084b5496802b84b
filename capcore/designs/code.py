"""The text of a network with the skeleton of a model, in PyTorch or JAX: to be copied, changed and trained.

With linear layers and the model's kernels each network has the model's coefficients as its impulse response. The text
for PyTorch keeps time last, as (batch, 1, time); its kernels run from the oldest tap to the most recent one. The text
for JAX keeps (batch, time), and kernels (in, taps, out) with the most recent tap first, as this package does.
"""

from __future__ import annotations

from typing import Any

from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.architectures.sum import Sum
from capcore.architectures.taps import Taps
from capcore.checks.arguments import positive_integer
from capcore.designs.candidates import described

TORCH_STACK = '''class {name}(nn.Module):
    """{words}: (batch, 1, time) → (batch, 1, time), the forecast of the value after each."""

    def __init__(self, activation=nn.Tanh, bias=False):
        super().__init__()
        shapes = {shapes}  # in, taps, out, dilation
        self.layers = nn.ModuleList(nn.Conv1d(i, o, k, dilation=d, bias=bias) for i, k, o, d in shapes)
        self.activation = activation()

    def forward(self, x):
        for l, layer in enumerate(self.layers):
            past = layer.dilation[0] * (layer.kernel_size[0] - 1)
            x = layer(nn.functional.pad(x, (past, 0)))
            if l + 1 < len(self.layers):
                x = self.activation(x)
        return x
'''
TORCH_TAPS = '''class {name}(nn.Module):
    """{words}: (batch, 1, time) → (batch, 1, time), the forecast of the value after each."""

    def __init__(self):
        super().__init__()
        ranges = {ranges}  # means over lags from the first to before the second
        windows = torch.zeros(len(ranges), 1, {n})
        for j, (start, end) in enumerate(ranges):
            windows[j, 0, {n} - end : {n} - start] = 1 / (end - start)
        self.register_buffer("windows", windows)
        self.readout = {readout}

    def forward(self, x):
        taps = nn.functional.conv1d(nn.functional.pad(x, ({past}, 0)), self.windows)
        return self.readout(taps)
'''
TORCH_POLES = '''class {name}(nn.Module):
    """{words}: (batch, 1, time) → (batch, 1, time), the forecast of the value after each."""

    def __init__(self, activation=nn.Identity):
        super().__init__()
        self.into, self.out = nn.Parameter(torch.randn({c})), nn.Parameter(torch.randn({c}) / {c} ** 0.5)
        self.poles = nn.Parameter(torch.rand({c}))
        self.activation = activation()

    def forward(self, x):
        state, found = x.new_zeros(len(x), {c}), []
        for t in range(x.shape[-1]):
            state = self.activation(state * self.poles + x[:, 0, t, None] * self.into)
            found.append(state @ self.out)
        return torch.stack(found, dim=-1)[:, None]
'''
TORCH_SUM = '''class {name}(nn.Module):
    """{words}: the sum of two branches."""

    def __init__(self):
        super().__init__()
        self.one, self.other = {name}One(), {name}Other()

    def forward(self, x):
        return self.one(x) + self.other(x)
'''
JAX_STACK = '''SHAPES_{key} = {shapes}  # in, taps, out, dilation


def init_{key}(key):
    keys = jax.random.split(key, len(SHAPES_{key}))
    return [jax.random.normal(k, (i, t, o)) / (i * t) ** 0.5 for k, (i, t, o, _) in zip(keys, SHAPES_{key})]


def apply_{key}(params, x, activation=jnp.tanh):
    """{words}: (batch, time) → (batch, time), the forecast of the value after each."""
    h, length = x[..., None], x.shape[1]
    for l, (kernel, (_, taps, _, dilation)) in enumerate(zip(params, SHAPES_{key})):
        past = jnp.pad(h, ((0, 0), (dilation * (taps - 1), 0), (0, 0)))
        at = [dilation * (taps - 1 - t) for t in range(taps)]
        h = sum(past[:, start : start + length] @ kernel[:, t] for t, start in enumerate(at))
        if l + 1 < len(params):
            h = activation(h)
    return h[..., 0]
'''
JAX_TAPS = '''RANGES_{key} = {ranges}  # means over lags from the first to before the second


def init_{key}(key):
    return jax.random.normal(key, (len(RANGES_{key}),))


def apply_{key}(params, x, activation=None):
    """{words}: (batch, time) → (batch, time), the forecast of the value after each."""
    at = jnp.arange(x.shape[1])[:, None] + {past} - jnp.arange({n})  # of the most recent value first
    windows = jnp.array([[(start <= lag < end) / (end - start) for start, end in RANGES_{key}] for lag in range({n})])
    return jnp.pad(x, ((0, 0), ({past}, 0)))[:, at] @ windows @ params
'''
JAX_POLES = '''def init_{key}(key):
    into, poles, out = jax.random.split(key, 3)
    return [
        jax.random.normal(into, ({c},)),
        jax.random.uniform(poles, ({c},)),
        jax.random.normal(out, ({c},)) / {c} ** 0.5,
    ]


def apply_{key}(params, x, activation=lambda h: h):
    """{words}: (batch, time) → (batch, time), the forecast of the value after each."""
    into, poles, out = params

    def step(state, value):
        state = activation(state * poles + value[:, None] * into)
        return state, state @ out

    return jax.lax.scan(step, jnp.zeros((len(x), {c})), x.T)[1].T
'''
JAX_SUM = '''def init_{key}(key):
    one, other = jax.random.split(key)
    return [init_{key}_one(one), init_{key}_other(other)]


def apply_{key}(params, x, activation=jnp.tanh):
    """{words}: the sum of two branches."""
    return apply_{key}_one(params[0], x) + apply_{key}_other(params[1], x, activation)
'''


def torch_text(arch: Any, hidden: int = 0) -> str:
    """Text of a module ``Network`` in PyTorch.

    >>> from capcore.architectures import NearAndPools
    >>> print(torch_text(NearAndPools(2, 1)).splitlines()[5])
        \"\"\"2 taps and 1 pool: (batch, 1, time) → (batch, 1, time), the forecast of the value after each.\"\"\"
    """
    hidden = positive_integer(hidden, "hidden", 0)
    return "import torch\nfrom torch import nn\n\n\n" + "\n\n".join(_torch_parts(arch, "Network", hidden))


def jax_text(arch: Any) -> str:
    """Text of the functions ``init(key)`` and ``apply(params, x)`` in JAX.

    >>> from capcore.architectures import Hierarchical
    >>> print(jax_text(Hierarchical(2, 2)).splitlines()[4])
    SHAPES_network = [(1, 2, 2, 1), (2, 2, 1, 2)]  # in, taps, out, dilation
    """
    ending = "init, apply = init_network, apply_network\n"
    return "import jax\nimport jax.numpy as jnp\n\n\n" + "\n\n".join([*_jax_parts(arch, "network"), ending])


def _torch_parts(arch: Any, name: str, hidden: int) -> list[str]:
    words = described(arch)
    if isinstance(arch, Sum):
        parts = [*_torch_parts(arch.one, f"{name}One", hidden), *_torch_parts(arch.other, f"{name}Other", hidden)]
        return [*parts, TORCH_SUM.format(name=name, words=words)]
    if isinstance(arch, Hierarchical):
        return [TORCH_STACK.format(name=name, words=words, shapes=_shapes(arch))]
    if isinstance(arch, Recurrent):
        return [TORCH_POLES.format(name=name, words=words, c=arch.channels)]
    checked = _taps(arch)
    count = arch.n_params
    readout = f"nn.Conv1d({count}, 1, 1, bias=False)"
    if hidden:
        layers = f"nn.Conv1d({count}, {hidden}, 1), nn.Tanh(), nn.Conv1d({hidden}, 1, 1)"
        readout = f"nn.Sequential({layers})"
    values = {"ranges": _ranges(checked), "n": checked.ends[-1], "past": checked.ends[-1] - 1, "readout": readout}
    return [TORCH_TAPS.format(name=name, words=words, **values)]


def _jax_parts(arch: Any, key: str) -> list[str]:
    words = described(arch)
    if isinstance(arch, Sum):
        parts = [*_jax_parts(arch.one, f"{key}_one"), *_jax_parts(arch.other, f"{key}_other")]
        return [*parts, JAX_SUM.format(key=key, words=words)]
    if isinstance(arch, Hierarchical):
        return [JAX_STACK.format(key=key, words=words, shapes=_shapes(arch))]
    if isinstance(arch, Recurrent):
        return [JAX_POLES.format(key=key, words=words, c=arch.channels)]
    checked = _taps(arch)
    values = {"ranges": _ranges(checked), "n": checked.ends[-1], "past": checked.ends[-1] - 1}
    return [JAX_TAPS.format(key=key, words=words, **values)]


def _shapes(arch: Hierarchical) -> list[tuple[int, int, int, int]]:
    return [(i, k, o, d) for (i, k, o), d in zip(arch.kernel_shapes, arch.dilations, strict=True)]


def _ranges(arch: Taps) -> list[tuple[int, int]]:
    return list(zip(arch.starts, arch.ends, strict=True))


def _taps(arch: Any) -> Taps:
    if not isinstance(arch, Taps) or arch.input_dim != 1:
        raise ValueError(
            f"model: found {arch!r}, expected taps, a stack, a recurrent model or a sum, of one component."
        )
    return arch
