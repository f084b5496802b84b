"""The adding task at several lengths, for every transition of a recurrent network: the stored experiment.

The task is to add the two marked numbers of a sequence (Hochreiter and Schmidhuber 1997). One mark falls in the first
half of the sequence, one in the second. Answering 1 always, the mean of the sum, costs 1/6.

Transitions depart from passing the state on by weights of order N^−a (paper 2, §3.9). The state is
x_t = tanh(W_t x_{t−1} + N^−b y_t), Eq. 13 with time for depth, and the answer a linear reading of the last state.
Inputs u_t come as y_t = tanh(V u_t + c), so that only memory is left for the transition to do.

Every arm is searched over the same learning rates, and judged at its best one. Where that is the first or the last, the
next one (a third, or three times as much) is tried too, for that arm, up to twice.

``python -m chapters run recurrent_memory`` makes it again, in about twenty minutes on one core.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from tqdm import tqdm

from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import CHAOTIC, Witness
from chapters.scaling_conjecture.experiment import at_edge, search
from chapters.shared.training import Params, train

SETTINGS: dict[str, Any] = {
    "lengths": [16, 64, 200],
    "arms": [  # structure, one matrix for all steps, exponent of its scale
        ["dense", True, 0.0],
        ["dense", True, 0.5],
        ["dense", True, 1.0],
        ["local", True, 0.5],
        ["local", True, 1.0],
        ["dense", False, 0.5],
        ["dense", False, 1.0],
        ["local", False, 0.5],
        ["local", False, 1.0],
        ["antisymmetric", True, 0.5],
        ["orthogonal", True, 0.5],
        ["orthogonal", True, 0.0],
    ],
    "width": 32,
    "batch_size": 32,
    "n_steps": 2000,
    "learning_rates": [3e-4, 1e-3, 3e-3, 1e-2],
    "extensions": 2,
    "seeds": [0, 1, 2],
    "optimiser": "adam",
}
QUICK: dict[str, Any] = {
    "lengths": [4],
    "arms": [["dense", True, 0.0], ["local", False, 0.5], ["antisymmetric", True, 0.5], ["orthogonal", True, 0.5]],
    "n_steps": 2,
    "learning_rates": [1e-3],
    "extensions": 0,
    "seeds": [0],
}
WITNESS = Witness(["lengths arms"], fixed={"lengths": [16]}, **CHAOTIC)
PACKAGES = ("jax", "optax", "scikit-learn")
BASELINE = 1 / 6
"""Mean squared error of the best constant answer: twice the variance 1/12 of a number between 0 and 1."""


def adding_batches(n_steps: int, batch_size: int) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    """Random key → inputs (n_steps, batch, 2) and sums (batch,), for ``train``.

    An input is a number between 0 and 1, less its mean of ½, and a mark, 0 or 1. Index 0 is the first step.

    >>> inputs, sums = adding_batches(6, 3)(jax.random.key(0))
    >>> inputs.shape, inputs[..., 1].sum(axis=0).tolist()
    ((6, 3, 2), [2.0, 2.0, 2.0])
    """
    half = n_steps // 2

    def sample(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        for_values, for_first, for_second = jax.random.split(key, 3)
        values = jax.random.uniform(for_values, (n_steps, batch_size))
        first = jax.random.randint(for_first, (batch_size,), 0, half)
        second = jax.random.randint(for_second, (batch_size,), half, n_steps)
        steps = jnp.arange(n_steps)[:, None]
        marks = ((steps == first) | (steps == second)).astype(values.dtype)
        return jnp.stack([values - 0.5, marks], axis=-1), (values * marks).sum(axis=0)

    return sample


class RecurrentNetwork(NamedTuple):
    """A network that reads a sequence of inputs of two components.

    Attributes
    ----------
    n_steps : N, the length of the sequence. width : units of the state.
    structure : of A. ``dense``: W = 1 + N^−a A. ``local``: the same, each unit reads itself and its two neighbours on a
        circle. ``antisymmetric``: the same with A = (B − Bᵀ)/√2. ``orthogonal``: with such an A, the Cayley transform
        W = (1 − N^−a A/2)⁻¹ (1 + N^−a A/2), the rotation exp(N^−a A) up to third order.
    exponent : a. shared : one A for all steps, or one for each.

    Columns of A start with a squared length of one in expectation.

    >>> RecurrentNetwork(16, 8, "local", 0.5).initial(jax.random.key(0))["A"].shape
    (3, 8)
    """

    n_steps: int
    width: int = 32
    structure: str = "dense"
    exponent: float = 0.5
    shared: bool = True

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
        encoded = float(self.n_steps) ** -0.5 * jnp.tanh(inputs @ params["V"] + params["c"])
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


def search_arm(network: RecurrentNetwork, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """One arm at every learning rate of the grid, and beyond it where the best one is at its edge; plain types.

    Returns
    -------
    ``learning_rates`` (r,) in rising order, ``final`` (r, s) losses, the means over the last tenth of the steps;
    ``best``: index of the rate with the lowest median final loss; ``at_edge``: is it still the first or the last.
    """
    options = {key: settings[key] for key in ("seeds", "n_steps", "optimiser")}
    data = adding_batches(network.n_steps, settings["batch_size"])
    run = partial(train, network.initial, network.loss, data, **options)
    runs = search(run, settings["learning_rates"], settings["extensions"], factor=3.0)
    return {
        "learning_rates": runs.learning_rates.tolist(),
        "final": plain(runs.final),
        "best": runs.best,
        "at_edge": at_edge(runs),
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``baseline``, and ``arms``: length → label of the arm → :func:`search_arm`."""
    arms: dict[str, dict[str, Any]] = {str(n): {} for n in settings["lengths"]}
    for n, (kind, shared, a) in tqdm([*product(settings["lengths"], settings["arms"])], disable=not progress):
        network = RecurrentNetwork(n, settings["width"], kind, a, shared)
        arms[str(n)][network.label] = search_arm(network, settings)
    return {"baseline": BASELINE, "arms": arms}
