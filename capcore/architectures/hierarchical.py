"""Hierarchical (dilated convolutional) linear models: paper 1, §5.1, Eqs 19–20, and Appendix C.

A stack of L convolution layers, f(X) = W⁽ᴸ⁾ ∗ … ∗ W⁽¹⁾ ∗ X, with dilations d_1, …, d_L. The coefficient
at lag τ is the sum, over all choices of one tap t_l per layer with Σ t_l d_l = τ, of the matrix
products W⁽¹⁾[:, t_1, :] ⋯ W⁽ᴸ⁾[:, t_L, :]. With the default dilations (d_1 = 1, d_{l+1} = n_l d_l) the
supports are disjoint, the choice is unique (the digits of τ), and the model is a tensor train.
"""

import operator
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeGuard

import numpy as np

from capcore.architectures.balance import balance
from capcore.architectures.base import Architecture, Product
from capcore.architectures.finite_field import PRIME
from capcore.architectures.stack import Stack, stack_jacobian, stack_pullback, stack_tangents
from capcore.architectures.tensor_train import attainable_ranks, tensor_train_dimension, tt_svd, widen
from capcore.checks.arguments import no_overflow, of_kind, plain_array, positive_integer
from capcore.checks.double_precision import underflows
from capcore.checks.memory import arrays, check_memory

MOST_LAYERS = 4096  # more would give more inputs than a float can hold, and take minutes to count


class Hierarchical(Architecture):
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
        n_layers = _count_layers(channels, n_layers, kernel_size, dilations)
        if n_layers > MOST_LAYERS:
            raise ValueError(f"n_layers: found {n_layers:,}, expected at most {MOST_LAYERS:,}.")
        self.n_layers = n_layers
        self.channels = per_layer(channels, "channels", n_layers - 1)
        self.kernel_sizes = per_layer(kernel_size, "kernel_size", n_layers)
        self.input_dim = positive_integer(input_dim, "input_dim")
        disjoint = list(accumulate(self.kernel_sizes[:-1], operator.mul, initial=1))
        self.dilations = disjoint if dilations is None else per_layer(dilations, "dilations", n_layers)
        self.has_disjoint_supports = self.dilations == disjoint
        self.n_inputs = 1 + sum((k - 1) * d for k, d in zip(self.kernel_sizes, self.dilations, strict=True))
        self.widths = [self.input_dim, *self.channels, 1]
        self.kernel_shapes = list(zip(self.widths[:-1], self.kernel_sizes, self.widths[1:], strict=True))
        ends = list(accumulate((i * k * o for i, k, o in self.kernel_shapes), initial=0))
        self.n_params = ends[-1]
        size = f"channels: found {max(self.widths):,} of {n_layers} layers, {min(ends[-1], 10**99):.2e} parameters"
        check_memory(arrays(self.n_params, copies=4), size, "Use fewer channels, layers or taps.")
        self.layers = {f"layer {l}": slice(*ends) for l, ends in enumerate(pairwise(ends), 1)}
        self.homogeneous = tuple(self.layers)

    def __repr__(self) -> str:
        channels, kernels = (one[0] if len(set(one)) == 1 else one for one in (self.channels, self.kernel_sizes))
        dilations = "" if self.has_disjoint_supports else f", dilations={self.dilations}"
        components = f", input_dim={self.input_dim}" if self.input_dim > 1 else ""
        shape = f"channels={channels}, n_layers={self.n_layers}, kernel_size={kernels}"
        return f"Hierarchical({shape}{dilations}{components})"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters: normal with variance 1/(c_{l−1} n_l), the fan-in of each layer."""
        return np.concatenate([rng.normal(0, (i * k) ** -0.5, i * k * o) for i, k, o in self.kernel_shapes])

    def kernels(self, params: object) -> list[np.ndarray]:
        """The kernels as arrays (in, taps, out), layer 1 first."""
        parts = zip(self.layers.values(), self.kernel_shapes, strict=True)
        vector = self.checked(params)
        return [vector[part].reshape(shape) for part, shape in parts]

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients A of the linear model, lag 0 first (paper 1, Eq. 20)."""
        return self._stack(params).prefixes[-1].reshape(-1)

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative J = ∂A/∂W (paper 1, Eq. 16).

        The model is linear in each layer, so the derivative with respect to one weight is the product of everything
        below that layer with everything above it, shifted by the weight's tap.
        """
        self._check_room(2, "Use allocate(…, method='auto'), which does not store it.")
        stack = self._stack(params)
        no_overflow(stack.kernels, lambda: stack_jacobian(stack))
        return stack_jacobian(stack)

    def jacobian_modulo(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobian at integer parameters, reduced modulo a prime, exact."""
        self._check_room(8, "Use fewer inputs, or disjoint supports, for which a closed form needs no Jacobian.")
        kernels = [kernel.astype(np.int64) % PRIME for kernel in self.kernels(params)]
        return stack_jacobian(Stack(kernels, self.dilations))

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """For each layer, (n, ≤ n) columns that span its part of the Jacobian, scaled to unit length and compressed.

        For disjoint supports the span is exact, and small even where the Jacobian has half a million columns.
        """
        if not self.has_disjoint_supports:
            return super().tangents(params)
        _, even = self.at_even_scale(params)
        return dict(zip(self.layers, stack_tangents(self._stack(even)), strict=True))

    def linearise(self, params: object) -> tuple[np.ndarray, Product]:
        """Coefficients (n_inputs · input_dim,) and the function v ↦ Jᵀv, from one composition of the stack."""
        stack = self._stack(params)
        return stack.prefixes[-1].reshape(-1), lambda vector: flattened(stack_pullback(stack, vector))

    def tangent_kernel(self, params: object) -> np.ndarray:
        """(n, n) matrix JJᵀ, the neural tangent kernel in coefficient space; n = n_inputs · input_dim.

        For disjoint supports it is computed layer by layer, JJᵀ = Σ_l (S_lᵀS_l) ⊗ I ⊗ (P_lP_lᵀ) with the
        highest layers as the slowest factor, at a cost that does not grow with the parameter count.
        """
        if not self.has_disjoint_supports:
            return super().tangent_kernel(params)
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
        target = self.checked(target, "target", self.n_inputs * self.input_dim)
        if not self.has_disjoint_supports:
            overlap = f"'tensor-train' for overlapping dilations {self.dilations}"
            raise ValueError(f"start: found {overlap}, expected disjoint supports. Use start='random'.")
        ranks = attainable_ranks(self.widths, self.kernel_sizes)
        cores = tt_svd(target, self.input_dim, self.kernel_sizes, ranks)
        return flattened(widen(cores, self.widths, rng))

    def rebalance(self, params: object, rng: np.random.Generator | None = None) -> np.ndarray:
        """(n_params,) parameters with the same coefficients and evenly scaled layers.

        For disjoint supports they come from the TT-SVD of the coefficients (idle channels are filled from ``rng``, by
        default with seed 0), otherwise from :func:`~capcore.architectures.balance.balance`.
        """
        if self.has_disjoint_supports:
            return self.best_start(self.coefficients(params), np.random.default_rng(0) if rng is None else rng)
        return flattened(balance(self.kernels(params)))

    def _check_room(self, copies: int, advice: str) -> None:
        size = f"jacobian: found {self.n_inputs * self.input_dim:,} coefficients of {self.n_params:,} parameters"
        check_memory(arrays(self.n_inputs, self.input_dim, self.n_params, copies=copies), size, advice)

    def _stack(self, params: object) -> Stack:
        kernels = self.kernels(params)
        if underflows(kernels):
            raise FloatingPointError(
                f"params: found layers with largest weights {', '.join(f'{np.abs(k).max():.0e}' for k in kernels)}, "
                "whose product is lost in underflow, expected moderate ones. Scale them up."
            )
        return Stack(kernels, self.dilations)

    def generic_capacity(self) -> int:
        """Exact rank of the Jacobian at almost all parameters: the dimension of the model manifold (paper 1, Fig. 4).

        Closed form for disjoint supports (a tensor train), elimination over a finite field otherwise.
        """
        if self.has_disjoint_supports:
            return tensor_train_dimension(self.widths, self.kernel_sizes)
        return super().generic_capacity()


def flattened(kernels: Sequence[np.ndarray]) -> np.ndarray:
    """(n_params,) the parameters whose kernels these are."""
    return np.concatenate([kernel.reshape(-1) for kernel in kernels])


def is_train(arch: object, one_component: bool = True) -> TypeGuard[Hierarchical]:
    """Whether the model is a hierarchical one with disjoint supports, and with one component per input if asked for.

    >>> is_train(Hierarchical(channels=2, n_layers=3)), is_train(Hierarchical(channels=2, dilations=[1, 1]))
    (True, False)
    """
    return isinstance(arch, Hierarchical) and arch.has_disjoint_supports and (arch.input_dim == 1 or not one_component)


def check_train(arch: Any) -> Hierarchical:
    """The model, if :func:`is_train` says that it is one.

    Raises ``TypeError`` for another kind of model, ``ValueError`` for overlapping supports and for more components than
    one.

    >>> check_train(Hierarchical(channels=2, dilations=[1, 1]))
    Traceback (most recent call last):
    ...
    ValueError: arch: found dilations [1, 1] and input_dim=1, expected disjoint supports (dilations=None) and 1. ...
    """
    of_kind(arch, "arch", Hierarchical, "a Hierarchical model. Use method='auto'")
    if not is_train(arch):
        raise ValueError(
            f"arch: found dilations {arch.dilations} and input_dim={arch.input_dim}, expected disjoint supports "
            "(dilations=None) and 1. Use method='auto'."
        )
    return arch


def _count_layers(channels: object, n_layers: int | None, kernel_size: object, dilations: object) -> int:
    """The number of layers, from whichever arguments determine it; raises ``ValueError`` if two disagree."""
    counts = {} if n_layers is None else {"n_layers": positive_integer(n_layers, "n_layers")}
    lists: dict[str, Any] = {"channels": channels, "kernel_size": kernel_size, "dilations": dilations}
    for name, value in lists.items():
        plain_array(value, name)
        if _is_list(value):
            hidden = name == "channels"
            counts[f"the length of {name}" + " plus one" * hidden] = len(value) + hidden
    if len(set(counts.values())) != 1:
        listing = ", ".join(f"{name} = {value}" for name, value in counts.items()) or "no number of layers"
        raise ValueError(
            f"n_layers: found {listing}, expected one L, with L − 1 channels, L kernel sizes and dilations."
        )
    return positive_integer(next(iter(counts.values())), "n_layers")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and np.ndim(value) > 0


def per_layer(value: Any, name: str, length: int) -> list[int]:
    """``value`` as a list of positive integers; a single number is repeated."""
    if _is_list(value):
        return [positive_integer(v, f"{name}[{i}]") for i, v in enumerate(value)]
    return [positive_integer(value, name)] * length
