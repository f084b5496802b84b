"""Hierarchical (dilated convolutional) linear models: paper 1, §5.1, Eqs 19–20, and Appendix C.

A stack of L convolution layers, f(X) = W⁽ᴸ⁾ ∗ … ∗ W⁽¹⁾ ∗ X, with dilations d_1, …, d_L. The coefficient
at lag τ is the sum, over all choices of one tap t_l per layer with Σ t_l d_l = τ, of the matrix
products W⁽¹⁾[:, t_1, :] ⋯ W⁽ᴸ⁾[:, t_L, :]. With the default dilations (d_1 = 1, d_{l+1} = n_l d_l) the
supports are disjoint, the choice is unique (the digits of τ), and the model is a tensor train.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from capcore.architectures import generic
from capcore.architectures.balance import balance
from capcore.architectures.columns import compress_columns, equilibrate
from capcore.architectures.stack import REALS, Modulo, Ring, Stack, stack_jacobian, stack_pullback, stack_tangents
from capcore.architectures.tensor_train import tt_svd, widen
from capcore.checks.arguments import finite_array, no_overflow, plain_array, positive_integer
from capcore.checks.double_precision import underflows
from capcore.checks.memory import arrays, fits, too_large

MOST_LAYERS = 4096  # more would give more inputs than a float can hold, and take minutes to count


class Hierarchical:
    """A linear stack of dilated convolutions with one output (paper 1, Eq. 19).

    Parameters are the kernels, flattened in C order, layer 1 first. Tap 0 is the most recent, and coefficients are
    position-major with lag 0 first.

    Parameters
    ----------
    channels : int or list of int
        Channels of all L − 1 hidden layers, or a list with one entry per layer.
    n_layers : int, optional
        L; may be left out when ``channels`` is a list.
    kernel_size : int or list of int
        Taps n_l of all L layers, or a list with one entry per layer.
    dilations : list of int, optional
        One for each of the L layers; by default d_1 = 1, d_{l+1} = n_l d_l, so that supports are disjoint.
    input_dim : int
        Components d per input position.

    Attributes
    ----------
    n_inputs : int
        Receptive field 1 + Σ (n_l − 1) d_l, in positions.
    n_params : int
        Number of parameters Σ c_{l−1} n_l c_l.
    layers : dict
        Layer name → slice of the parameter vector; layer 1 is nearest the input.
    kernel_shapes : list of tuples
        (c_{l−1}, n_l, c_l), with c_0 = input_dim and c_L = 1.

    Raises
    ------
    TooLargeError
        If the parameters would not fit into memory.
    FloatingPointError
        Raised by methods if products of layers underflow.

    Examples
    --------
    >>> arch = Hierarchical(channels=4, n_layers=6, kernel_size=2)
    >>> arch.n_inputs, arch.n_params, arch.generic_capacity()
    (64, 144, 48)
    """

    def __init__(
        self,
        channels: int | Sequence[int] = 4,
        n_layers: int | None = None,
        kernel_size: int | Sequence[int] = 2,
        dilations: Sequence[int] | None = None,
        input_dim: int = 1,
    ) -> None:
        plain_array(channels, "channels")
        plain_array(kernel_size, "kernel_size")
        plain_array(() if dilations is None else dilations, "dilations")
        n_layers = _count_layers(channels, n_layers, kernel_size, dilations)
        if n_layers > MOST_LAYERS:
            raise ValueError(f"n_layers: found {n_layers:,}, expected at most {MOST_LAYERS:,}.")
        hidden = _per_layer(channels, "channels", n_layers - 1)
        self.kernel_sizes = _per_layer(kernel_size, "kernel_size", n_layers)
        self.input_dim = positive_integer(input_dim, "input_dim")
        self.channels = hidden
        self.n_layers = n_layers
        disjoint = [int(np.prod(self.kernel_sizes[:l], dtype=object)) for l in range(n_layers)]
        self.dilations = disjoint if dilations is None else _per_layer(dilations, "dilations", n_layers)
        self.has_disjoint_supports = self.dilations == disjoint
        self.n_inputs = 1 + sum((k - 1) * d for k, d in zip(self.kernel_sizes, self.dilations, strict=True))
        widths = [self.input_dim, *hidden, 1]
        self.kernel_shapes = list(zip(widths[:-1], self.kernel_sizes, widths[1:], strict=True))
        sizes = [i * k * o for i, k, o in self.kernel_shapes]
        ends = np.cumsum(sizes).tolist()
        self.n_params = ends[-1]
        if not fits(arrays(sum(i * k * o for i, k, o in self.kernel_shapes), copies=4)):
            raise too_large(
                f"channels: found {max(hidden):,} of {n_layers} layers, {min(sum(sizes), 10**99):.2e} parameters",
                arrays(sum(i * k * o for i, k, o in self.kernel_shapes), copies=4),
                "Use fewer channels, layers or taps.",
            )
        parts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        self.layers = {f"layer {l}": part for l, part in enumerate(parts, 1)}

    def __repr__(self) -> str:
        return (
            f"Hierarchical(channels={self.channels}, kernel_size={self.kernel_sizes}, "
            f"dilations={self.dilations}, input_dim={self.input_dim})"
        )

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters: normal with variance 1/(c_{l−1} n_l), the fan-in of each layer."""
        return np.concatenate([rng.normal(0, (i * k) ** -0.5, i * k * o) for i, k, o in self.kernel_shapes])

    def kernels(self, params: object) -> list[np.ndarray]:
        """The kernels as arrays (in, taps, out), layer 1 first."""
        return self._split(finite_array(params, "params", 1))

    def _split(self, vector: np.ndarray) -> list[np.ndarray]:
        if vector.size != self.n_params:
            raise ValueError(f"params: found {vector.size} values, expected {self.n_params} for {self!r}.")
        return [vector[s].reshape(shape) for s, shape in zip(self.layers.values(), self.kernel_shapes, strict=True)]

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A of the linear model, lag 0 first (paper 1, Eq. 20)."""
        return self._stack(params).prefixes[-1].reshape(-1)

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative J = ∂A/∂W (paper 1, Eq. 16).

        The model is linear in each layer, so the derivative with respect to one weight is the product of everything
        below that layer with everything above it, shifted by the weight's tap.
        """
        if not fits(arrays(self.n_inputs, self.input_dim, self.n_params, copies=2)):
            raise too_large(
                f"jacobian: found {self.n_inputs * self.input_dim:,} coefficients of {self.n_params:,} parameters",
                arrays(self.n_inputs, self.input_dim, self.n_params, copies=2),
                "Use allocate(…, method='auto'), which does not store it.",
            )
        no_overflow(self.kernels(params), lambda: stack_jacobian(self._stack(params)))
        return stack_jacobian(self._stack(params))

    def jacobian_modulo(self, params: np.ndarray, prime: int) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobian at integer parameters, reduced modulo ``prime``, exact."""
        if not fits(arrays(self.n_inputs, self.input_dim, self.n_params, copies=8)):
            raise too_large(
                f"exact rank: found {self.n_inputs * self.input_dim:,} coefficients of {self.n_params:,} parameters",
                arrays(self.n_inputs, self.input_dim, self.n_params, copies=8),
                "Use fewer inputs, or disjoint supports, for which a closed form needs no Jacobian.",
            )
        return stack_jacobian(self._stack(params, Modulo(prime)))

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """For each layer, (n, ≤ n or its parameter count) columns that span its part of the Jacobian.

        Columns of the Jacobian are scaled to unit length first, then compressed by an orthogonal
        transformation: the span is exact, and small even where the Jacobian has half a million columns.
        """
        if self.has_disjoint_supports:
            columns = stack_tangents(self._stack(params))
        else:
            jacobian = equilibrate(self.jacobian(params))
            columns = [compress_columns(jacobian[:, part]) for part in self.layers.values()]
        return dict(zip(self.layers, columns, strict=True))

    def linearise(self, params: object) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Coefficients (n_inputs · input_dim,) and the function v ↦ Jᵀv, from one composition of the stack."""
        stack = self._stack(params)

        def pullback(vector: np.ndarray) -> np.ndarray:
            return np.concatenate([part.reshape(-1) for part in stack_pullback(stack, vector)])

        return stack.prefixes[-1].reshape(-1), pullback

    def vjp(self, params: object, vector: object) -> np.ndarray:
        """(n_params,) product Jᵀv of the Jacobian's transpose with v (n_inputs · input_dim,), without J."""
        v = finite_array(vector, "vector", 1)
        if v.size != self.n_inputs * self.input_dim:
            raise ValueError(f"vector: found {v.size} values, expected {self.n_inputs * self.input_dim}.")
        return self.linearise(params)[1](v)

    def tangent_kernel(self, params: object) -> np.ndarray:
        """(n, n) matrix JJᵀ, the neural tangent kernel in coefficient space; n = n_inputs · input_dim.

        For disjoint supports it is computed layer by layer, JJᵀ = Σ_l (S_lᵀS_l) ⊗ I ⊗ (P_lP_lᵀ) with the
        highest layers as the slowest factor, at a cost that does not grow with the parameter count.
        """
        if not self.has_disjoint_supports:
            jacobian = self.jacobian(params)
            return jacobian @ jacobian.T
        stack = self._stack(params)
        total = np.zeros((self.n_inputs * self.input_dim,) * 2)
        for l, taps in enumerate(self.kernel_sizes):
            below = stack.prefixes[l].reshape(-1, stack.prefixes[l].shape[-1])
            above = stack.suffixes[l][0]
            total += np.kron(above @ above.T, np.kron(np.eye(taps), below @ below.T))
        return total

    def best_start(self, target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) parameters from the TT-SVD of the target: near-optimal, balanced, in general position.

        Raises
        ------
        ValueError
            If dilations overlap, so that the model is not a tensor train, or if the target's length is not
            n_inputs · input_dim.
        """
        target = finite_array(target, "target", 1)
        if target.size != self.n_inputs * self.input_dim:
            raise ValueError(f"target: found {target.size} values, expected {self.n_inputs * self.input_dim}.")
        if not self.has_disjoint_supports:
            raise ValueError(
                f"start: found 'tensor-train' for overlapping dilations {self.dilations}, expected disjoint supports. "
                "Use start='random'."
            )
        widths = [self.input_dim, *self.channels, 1]
        ranks = generic.attainable_ranks(widths, self.kernel_sizes)
        cores = tt_svd(target, self.input_dim, self.kernel_sizes, ranks)
        return np.concatenate([kernel.reshape(-1) for kernel in widen(cores, widths, rng)])

    def rebalance(self, params: object, rng: np.random.Generator | None = None) -> np.ndarray:
        """(n_params,) parameters with the same coefficients and evenly scaled layers.

        For disjoint supports they come from the TT-SVD of the coefficients (idle channels are filled from ``rng``, by
        default with seed 0), otherwise from :func:`~capcore.architectures.balance.balance`.
        """
        if self.has_disjoint_supports:
            return self.best_start(self.coefficients(params), np.random.default_rng(0) if rng is None else rng)
        return np.concatenate([kernel.reshape(-1) for kernel in balance(self.kernels(params))])

    def _stack(self, params: object, ring: Ring = REALS) -> Stack:
        kernels = self.kernels(params) if ring is REALS else self._split(np.asarray(params))
        if ring is REALS and underflows(kernels):
            raise FloatingPointError(
                f"params: found layers with largest weights {', '.join(f'{np.abs(k).max():.0e}' for k in kernels)}, "
                "whose product is lost in underflow, expected moderate ones. Scale them up: capacity does not depend "
                "on the scale of a layer."
            )
        return Stack(kernels, self.dilations, ring)

    def generic_capacity(self) -> int:
        """Exact rank of the Jacobian at almost all parameters: the dimension of the model manifold (paper 1, Fig. 4).

        Closed form for disjoint supports (a tensor train), elimination over a finite field otherwise.
        """
        if self.has_disjoint_supports:
            return generic.tensor_train_dimension([self.input_dim, *self.channels, 1], self.kernel_sizes)
        return generic.exact_rank(self)


def _count_layers(channels: object, n_layers: int | None, kernel_size: object, dilations: object) -> int:
    """The number of layers, from whichever arguments determine it; raises ``ValueError`` if two disagree."""
    attributes = {}
    if n_layers is not None:
        attributes["n_layers"] = positive_integer(n_layers, "n_layers")
    lists: tuple[tuple[str, Any, int], ...] = (
        ("channels", channels, 1),
        ("kernel_size", kernel_size, 0),
        ("dilations", dilations, 0),
    )
    for name, value, extra in lists:
        if _is_list(value):
            attributes[f"the length of {name}" + (" plus one" if extra else "")] = len(value) + extra
    if not attributes:
        raise ValueError(
            "n_layers: not given, expected a number of layers, or a list of channels with one entry per hidden layer."
        )
    if len(set(attributes.values())) > 1:
        listing = ", ".join(f"{name} = {value}" for name, value in attributes.items())
        raise ValueError(
            f"n_layers: the arguments disagree: {listing}. Expected one number of layers L, L − 1 channels, "
            "and L kernel sizes and dilations where they are lists."
        )
    return positive_integer(next(iter(attributes.values())), "n_layers")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and np.ndim(value) > 0


def _per_layer(value: Any, name: str, length: int) -> list[int]:
    """``value`` as a list of positive integers; a single number is repeated."""
    if _is_list(value):
        return [positive_integer(v, f"{name}[{i}]") for i, v in enumerate(value)]
    return [positive_integer(value, name)] * length
