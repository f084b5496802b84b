"""On which inputs an output of a network depends: asked of the network itself, by its derivative.

The weights of a copy are positive and small, and so are the inputs. Then nothing cancels, no rectifier is off and no
gate is saturated, and the derivative of an output is zero only where it does not depend on an input. The largest of
several numbers depends on all of them, while its derivative sees one: in PyTorch a mean takes its place.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from capcore.architectures.own_model import axis_of, copied
from capcore.architectures.trees import ravelled
from capcore.checks.arguments import finite_array, library

GAIN = 0.05
"""Sum of the weights of one output: a residual block then multiplies by 1.05, and a hundred of them by 130."""
DRAWS = 3
"""Random weights and inputs whose dependencies are joined, for what normalisation makes negative."""
SHORTEST = 64
"""Length of an axis that is not looked at, and the least of one that is."""
SPARE = 8
"""Length of an input that is made, in multiples of what the kernels alone read: some layers are called repeatedly."""


class Convolution(NamedTuple):
    """One layer with a kernel. ``adds``: the inputs that it adds to the field; ``widths``: channels below and above."""

    name: str
    kernel_size: int
    dilation: int
    stride: int
    adds: int
    widths: tuple[int, int] | None = None


class Field(NamedTuple):
    """What one output reads along one axis.

    ``first`` and ``last`` are relative to its own index times the stride; ``whole``: it reaches the end of the input.
    """

    first: int
    last: int
    stride: float
    n_read: int
    whole: bool = False

    @property
    def size(self) -> int:
        """Positions from the first to the last."""
        return self.last - self.first + 1


def field_of(reads: Callable[[int], np.ndarray], n_outputs: int | None, phases: int = 2) -> Field:
    """The largest field of some outputs: neighbours in the middle, and the last one.

    Parameters
    ----------
    reads : callable
        Index of an output → mask (n,) of the inputs that it reads.
    n_outputs : int or None
        None if there is one output, without an index: it is then placed at the last input.
    phases : int
        How many neighbours: where layers upsample, their fields differ, and the first and the last are alike.

    Examples
    --------
    >>> field_of(lambda i: np.isin(np.arange(9), [i, i - 2]), 9)
    Field(first=-2, last=0, stride=1, n_read=2, whole=False)
    """
    last = (n_outputs or 1) - 1
    near = range((last + 1) // 2, min((last + 1) // 2 + phases, last + 1))
    masks = {at: reads(at) for at in (*near, last)}
    extents = {at: np.flatnonzero(mask) for at, mask in masks.items() if mask.any()}
    if not extents:
        raise ValueError("model: found no derivative by the inputs, expected one. Leave embeddings of tokens out.")
    steps = [at for at in near if at in extents]
    ends = [extents[at][0] + extents[at][-1] for at in steps]
    stride = (ends[-1] - ends[0]) / (2 * (len(steps) - 1)) if len(steps) > 1 else 1.0
    at, where = max(extents.items(), key=lambda item: (item[1][-1] - item[1][0], -item[0]))
    low, high, n = int(where[0]), int(where[-1]), masks[at].size
    own = n - 1 if n_outputs is None else int(at * stride)
    whole = low == 0 and high == n - 1 if n_outputs is None else low == 0 or high == n - 1
    return Field(low - own, high - own, int(stride) if stride == int(stride) else stride, len(where), whole)


def measured_function(apply: Callable[[Any, Any], Any], params: Any, inputs: object) -> Field:
    """The field of an output of a JAX function (params, inputs) → outputs, with time as the first axis of both."""
    jax = library("jax")
    if params is None or inputs is None:
        raise ValueError("params, inputs: not given, expected the pytree and an example that the function takes.")
    tree, point = ravelled(params), finite_array(inputs, "inputs", (1, 2))
    leaves = [leaf for leaf in tree.leaves.values() if leaf.size]
    fans = np.concatenate([np.full(leaf.size, leaf.size / leaf.shape[-1] if leaf.ndim else 1.0) for leaf in leaves])
    rng = np.random.default_rng(0)
    draws = [(GAIN * rng.uniform(0.5, 1.5, fans.size) / fans, rng.uniform(0.5, 1.5, point.shape)) for _ in range(DRAWS)]
    with jax.enable_x64(True):
        shape = jax.eval_shape(lambda w, x: apply(tree.unravel(w), x), *draws[0]).shape

        def total(w: Any, x: Any, at: Any) -> Any:
            out = apply(tree.unravel(w), x)
            return out[at].sum() if int(np.prod(shape)) > 1 else out.sum()

        slopes = jax.jit(jax.grad(total, 1))

        def reads(at: int) -> np.ndarray:
            gradients = [np.asarray(slopes(*map(jax.numpy.asarray, draw), at)) for draw in draws]
            return np.any([(gradient != 0).reshape(len(point), -1).any(axis=1) for gradient in gradients], axis=0)

        return field_of(reads, shape[0] if int(np.prod(shape)) > 1 else None)


def measured_module(module: Any, inputs: object, time_axis: int | None) -> list[tuple[Field, tuple[Convolution, ...]]]:
    """For each axis of positions of a PyTorch module, the field of an output and the layers with a kernel."""
    torch = library("torch")
    copies = [_positive(module, seed) for seed in range(DRAWS)]
    if inputs is not None:
        shape = finite_array(inputs, "inputs", (1, 2, 3, 4, 5)).shape
        default = range(min(2, len(shape) - 1), len(shape))
        axes = default if time_axis is None else [axis_of(shape, time_axis)]
        return [_asked(torch, copies, shape, axis) for axis in axes]
    kernels = [part for part in module.modules() if hasattr(part, "kernel_size")]
    first = next((part for part in kernels if hasattr(part, "in_channels")), None)
    if first is None:
        raise ValueError("inputs: not given, and found no convolution that tells their shape, expected an example.")
    if time_axis is not None:
        raise ValueError(f"time_axis: found {time_axis!r} without inputs, expected it beside inputs=….")
    n_axes = len(first.kernel_size)
    return [_grown(torch, copies, kernels, first.in_channels, n_axes, axis) for axis in range(n_axes)]


def _grown(torch: Any, copies: list[Any], kernels: list[Any], channels: int, n_axes: int, axis: int) -> Any:
    """The field along an axis, at a length that holds it."""
    names = ("kernel_size", "dilation", "stride")
    sizes = [[_along(getattr(part, name, 1), axis) for name in names] for part in kernels]
    strides = int(np.prod([stride for _, _, stride in sizes], dtype=object))
    bound = 1 + sum((k - 1) * d for k, d, _ in sizes) * min(strides, 2**10)
    multiple = int(np.lcm(SHORTEST, min(strides, 2**10)))  # so that what is halved can be doubled again
    shape = [1, channels] + [SHORTEST] * n_axes
    shape[2 + axis] = -(-SPARE * bound // multiple) * multiple
    measured = _asked(torch, copies, tuple(shape), 2 + axis)
    if measured[0].whole:
        raise ValueError(
            f"model: found an output that reads all {shape[2 + axis]:,} inputs, expected convolutions. Give inputs=…."
        )
    return measured


def _asked(torch: Any, copies: list[Any], shape: tuple[int, ...], axis: int) -> tuple[Field, tuple[Convolution, ...]]:
    """The field along an axis of inputs of a given shape."""
    layers, handles = _noted(copies[0], shape[axis], axis - 2)
    graphs = []
    for seed, copy in enumerate(copies):
        rng = np.random.default_rng(seed)
        point = torch.as_tensor(rng.uniform(0.5, 1.5, shape)).requires_grad_(True)
        try:
            with torch.enable_grad(), _means(torch):
                graphs.append((copy(point), point))
            if not graphs[-1][0].requires_grad:
                raise TypeError("its output has no derivative by its input")
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError) as error:
            raise ValueError(
                f"inputs: found that shape {shape} fails: {str(error)[:200]}, expected one that the model takes."
            ) from error
    for handle in handles:
        handle.remove()
    out = graphs[0][0]
    along = _output_axis(torch, copies[0], out, shape, axis)

    def reads(at: int) -> np.ndarray:
        masks = []
        for value, point in graphs:
            total = value.sum() if along is None else value.select(along, at).sum()
            (slopes,) = torch.autograd.grad(total, point, retain_graph=True)
            masks.append((slopes.movedim(axis, 0).reshape(shape[axis], -1) != 0).any(dim=1).numpy())
        return np.any(masks, axis=0)

    period = min(int(np.prod([layer.stride for layer in layers], dtype=object)), SHORTEST)
    return field_of(reads, None if along is None else out.shape[along], 2 * period + 1), tuple(layers)


def _output_axis(torch: Any, copy: Any, out: Any, shape: tuple[int, ...], axis: int) -> int | None:
    """The axis of the output that grows with an axis of the input; None if there is one position."""
    longer = list(shape)
    longer[axis] *= 2
    try:
        with torch.no_grad():
            grown = copy(torch.ones(longer, dtype=torch.float64)).shape
    except (RuntimeError, ValueError, IndexError, AssertionError):  # a module of one length
        return axis if out.ndim == len(shape) and out.shape[axis] > 1 else None
    changed = [i for i, (old, new) in enumerate(zip(out.shape, grown, strict=True)) if old != new]
    return changed[0] if changed else None


def _positive(module: Any, seed: int) -> Any:
    """A copy with positive random weights, whose sum for one output is about ``GAIN``."""
    torch, rng = library("torch"), np.random.default_rng(seed)
    copy = copied(module)
    with torch.no_grad():
        for weights in copy.parameters():
            fan = max(weights[0].numel(), 1) if weights.ndim else 1
            weights.copy_(torch.as_tensor(GAIN * rng.uniform(0.5, 1.5, tuple(weights.shape)) / fan))
    for part in copy.modules():
        if hasattr(part, "reset_running_stats"):
            part.reset_running_stats()
    return copy


def _noted(module: Any, length: int, axis: int) -> tuple[list[Convolution], list[Any]]:
    """A list of the layers with a kernel, which they join as they are called, and what ends that."""
    layers = []

    def hook(name: str) -> Callable[[Any, Any, Any], None]:
        def note(part: Any, given: Any, _: Any) -> None:
            kernel, stride = (_along(getattr(part, name), axis) for name in ("kernel_size", "stride"))
            dilation = _along(getattr(part, "dilation", 1), axis)
            plain = getattr(part, "groups", 0) == 1 and not getattr(part, "transposed", True)
            widths = (part.in_channels, part.out_channels) if plain else None
            jump = max(round(length / given[0].shape[2 + axis]), 1) if given[0].ndim > 2 + axis else 1
            layers.append(Convolution(name, kernel, dilation, stride, (kernel - 1) * dilation * jump, widths))

        return note

    handles = [p.register_forward_hook(hook(n)) for n, p in module.named_modules() if hasattr(p, "kernel_size")]
    return layers, handles


def _along(value: Any, axis: int) -> int:
    number = value[min(axis, len(value) - 1)] if isinstance(value, tuple | list) else value
    return int(number or 1)


def _means(torch: Any) -> Any:
    """A context in which what takes the largest of several numbers takes their mean."""
    functional = torch.nn.functional

    def pooled(
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: Any = False,
        **_: Any,
    ) -> Any:
        n_axes = len(kernel_size) if isinstance(kernel_size, tuple | list) else x.ndim - 2
        for axis in range(n_axes):
            k, p, d = (_along(size, axis) if size else 0 for size in (kernel_size, padding, dilation))
            s, where, n = _along(stride, axis) if stride else k, axis - n_axes, x.shape[axis - n_axes]
            count = -(-(n + 2 * p - d * (k - 1) - 1) // s) + 1 if ceil_mode else (n + 2 * p - d * (k - 1) - 1) // s + 1
            count -= ceil_mode and (count - 1) * s >= n + p
            moved = functional.pad(x.movedim(where, -1), (p, p + s))
            x = moved.unfold(-1, d * (k - 1) + 1, s)[..., :count, ::d].mean(-1).movedim(-1, where)
        return x

    def largest(x: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
        if hasattr(dim, "shape"):
            return (x + dim) / 2
        return x.mean() if dim is None else torch.return_types.max((x.mean(dim, keepdim), x.argmax(dim, keepdim)))

    instead = {
        "max": largest,
        "maximum": lambda x, other: (x + other) / 2,
        "amax": lambda x, dim=(), keepdim=False: x.mean(dim, keepdim) if dim != () else x.mean(),
    }
    for n in (1, 2, 3):
        mean = getattr(functional, f"adaptive_avg_pool{n}d")
        adaptive = (f"adaptive_max_pool{n}d", f"adaptive_max_pool{n}d_with_indices")
        instead |= dict.fromkeys(adaptive, lambda x, output_size, *_, mean=mean, **__: mean(x, output_size))
        instead[f"max_pool{n}d"] = pooled

    class Means(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return instead.get(getattr(func, "__name__", ""), func)(*args, **(kwargs or {}))

    return Means()
