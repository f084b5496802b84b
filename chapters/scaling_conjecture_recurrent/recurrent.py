"""Recurrent networks whose transition departs from passing the state on by weights of order N^−a (paper 2, §3.9).

The state is x_t = tanh(W_t x_{t−1} + N^−b y_t), Eq. 13 with time for depth, and the answer a linear reading of the last
state. Inputs u_t come as y_t = tanh(V u_t + c), so that only memory is left for the transition to do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from capcore.validation import finite_number, one_of, positive_integer
from chapters.scaling_conjecture.training import Params

STRUCTURES = ("dense", "local", "antisymmetric", "orthogonal")


@dataclass(frozen=True)
class RecurrentNetwork:
    """A network that reads a sequence of inputs of two components.

    Attributes
    ----------
    n_steps : N, the length of the sequence. width : units of the state.
    structure : of A. ``dense``: W = 1 + N^−a A. ``local``: the same, each unit reads itself and its two neighbours on a
        circle. ``antisymmetric``: the same with A = (B − Bᵀ)/√2. ``orthogonal``: with such an A, the Cayley transform
        W = (1 − N^−a A/2)⁻¹ (1 + N^−a A/2), the rotation exp(N^−a A) up to third order.
    exponent : a. shared : one A for all steps, or one for each. input_exponent : b; ½ is √(α/N) with α = 1.

    Columns of A start with a squared length of one in expectation.

    Raises ``ValueError`` for an unknown structure, a width below three, or antisymmetric and orthogonal matrices that
    are not shared.

    >>> RecurrentNetwork(16, 8, "local", 0.5).initial(jax.random.key(0))["A"].shape
    (3, 8)
    """

    n_steps: int
    width: int = 32
    structure: str = "dense"
    exponent: float = 0.5
    shared: bool = True
    input_exponent: float = 0.5

    def __post_init__(self) -> None:
        one_of(self.structure, "structure", STRUCTURES)
        positive_integer(self.n_steps, "n_steps", 2)
        positive_integer(self.width, "width", 3)
        finite_number(self.exponent, "exponent")
        finite_number(self.input_exponent, "input_exponent")
        if not self.shared and self.structure not in ("dense", "local"):
            raise ValueError(f"shared: found False with structure {self.structure!r}, expected dense or local then.")

    @property
    def label(self) -> str:
        """Structure, one matrix or many, and exponent, as a key of stored results.

        >>> RecurrentNetwork(16, shared=False).label
        'dense fresh 0.5'
        """
        return f"{self.structure} {'shared' if self.shared else 'fresh'} {self.exponent:g}"

    def initial(self, key: jax.Array) -> Params:
        """Parameters A, V (2, width), c (width,), readout r (width,) and r0, drawn from a random key."""
        for_transition, for_inputs, for_readout = jax.random.split(key, 3)
        readers = 3 if self.structure == "local" else self.width
        shape = (() if self.shared else (self.n_steps,)) + (readers, self.width)
        return {
            "A": jax.random.normal(for_transition, shape) / readers**0.5,
            "V": 2 * jax.random.normal(for_inputs, (2, self.width)),
            "c": jnp.zeros(self.width),
            "r": jax.random.normal(for_readout, (self.width,)) / self.width**0.5,
            "r0": jnp.zeros(()),
        }

    def transition(self, A: jax.Array) -> Callable[[jax.Array], jax.Array]:
        """The map of states (batch, width) by W, for the A of one step."""
        scale = float(self.n_steps) ** -self.exponent
        if self.structure == "local":
            return lambda x: x + scale * sum(A[k] * jnp.roll(x, k - 1, axis=-1) for k in range(3))
        if self.structure in ("antisymmetric", "orthogonal"):
            A = (A - A.T) / 2**0.5
        if self.structure == "orthogonal":
            one = jnp.eye(self.width)
            W = jnp.linalg.solve(one - scale / 2 * A, one + scale / 2 * A)
            return lambda x: x @ W
        return lambda x: x + scale * (x @ A)

    def states(self, params: Params, inputs: jax.Array) -> jax.Array:
        """(batch, width) last states for inputs (n_steps, batch, 2), from a state of zero."""
        scale = float(self.n_steps) ** -self.input_exponent
        encoded = scale * jnp.tanh(inputs @ params["V"] + params["c"])
        start = jnp.zeros(encoded.shape[1:])
        if self.shared:
            move = self.transition(params["A"])
            return jax.lax.scan(lambda x, y: (jnp.tanh(move(x) + y), None), start, encoded)[0]
        return jax.lax.scan(
            lambda x, step: (jnp.tanh(self.transition(step[0])(x) + step[1]), None), start, (params["A"], encoded)
        )[0]

    def loss(self, params: Params, batch: tuple[jax.Array, ...]) -> jax.Array:
        """Mean squared error of the answers to a batch of inputs (n_steps, batch, 2) and sums (batch,)."""
        inputs, sums = batch
        answers = self.states(params, inputs) @ params["r"] + params["r0"]
        return jnp.mean((answers - sums) ** 2)
