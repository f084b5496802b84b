"""Models of sets and of sequences with two labels, and the target functions that they are asked to express."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import chi2

from capcore.checks.arguments import finite_array, one_of, positive_integer
from chapters.shared.complexity.network import Network, as_network
from chapters.shared.complexity.sets import SetNetwork
from chapters.shared.side_by_side import as_pairs, draw_layers, through_layers, train_side_by_side

N_ITEMS, ITEM_DIM = 4, 3
ALL_ITEMS = N_ITEMS * ITEM_DIM
TrainedModel = Network | SetNetwork


def closed_under_exchange(
    inputs: object, labels: object, places: Sequence[int] = (0, 1)
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (2n, items, d) and labels (2n,): the given ones, then each with two items exchanged and the label negated.

    Parameters
    ----------
    inputs : (n, items, d). labels : (n,) of ±1. places : which two items are exchanged.

    >>> [part.ravel().tolist() for part in closed_under_exchange([[[2.0], [1.0]]], [1])]
    [[2.0, 1.0, 1.0, 2.0], [1.0, -1.0]]
    """
    items = finite_array(inputs, "inputs", 3)
    values = labels_of(labels, len(items))
    if len(set(places)) != 2 or not all(0 <= place < items.shape[1] for place in places):
        raise ValueError(f"places: found {tuple(places)}, expected two different ones of 0 … {items.shape[1] - 1}.")
    order = np.arange(items.shape[1])
    order[list(places)] = order[list(places)[::-1]]
    return np.concatenate([items, items[:, order]]), np.concatenate([values, -values])


def with_places(inputs: object) -> np.ndarray:
    """(n, items, d + items) inputs whose items carry the number of their place, as a 1 among zeros.

    A model of sets that reads these sees the order.

    >>> with_places([[[5.0], [7.0]]]).tolist()
    [[[5.0, 1.0, 0.0], [7.0, 0.0, 1.0]]]
    """
    items = finite_array(inputs, "inputs", 3)
    places = np.broadcast_to(np.eye(items.shape[1]), (len(items), items.shape[1], items.shape[1]))
    return np.concatenate([items, places], axis=2)


def labels_of(labels: object, count: int) -> np.ndarray:
    """``labels`` as floats (count,), or an error that says how many are missing."""
    values = finite_array(labels, "labels", 1)
    if len(values) != count:
        raise ValueError(f"labels: found {len(values)}, expected {count}, one for each input.")
    return values


@dataclass(frozen=True)
class Target:
    """A function of m items in R^d with values ±1.

    Attributes
    ----------
    label : (n, m, d) → (n,) of ±1. sees_order : whether some reordering changes it.
    closed : whether every input comes with items 1 and 2 exchanged.
    """

    label: Callable[[np.ndarray], np.ndarray]
    sees_order: bool
    closed: bool = False

    def draw(self, n: int, rng: np.random.Generator, m: int = 4, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """Normal items (n, m, d) and their labels (n,); n even for a closed target."""
        n = positive_integer(n, "n")
        if not self.closed:
            items = rng.normal(size=(n, m, d))
            return items, self.label(items)
        if n % 2:
            raise ValueError(f"n: found {n}, expected an even number, as inputs come in pairs.")
        items = rng.normal(size=(n // 2, m, d))
        return closed_under_exchange(items, self.label(items))


def twofold_order(items: object) -> np.ndarray:
    """(n,) +1 where item 1 is above item 2 exactly if item 3 is above item 4, in the first coordinate; −1 elsewhere.

    Exchanging items 1 and 2 changes every label, and no linear function of the items gives it.

    >>> twofold_order([[[1.0], [0.0], [1.0], [0.0]], [[0.0], [1.0], [1.0], [0.0]]]).tolist()
    [1.0, -1.0]
    """
    first = finite_array(items, "items", 3)[:, :, 0]
    return np.where((first[:, 0] - first[:, 1]) * (first[:, 2] - first[:, 3]) > 0, 1.0, -1.0)


def single_order(items: object) -> np.ndarray:
    """(n,) +1 where item 1 is above item 2 in the first coordinate: an order that a linear function sees.

    >>> single_order([[[1.0], [0.0]], [[0.0], [1.0]]]).tolist()
    [1.0, -1.0]
    """
    first = finite_array(items, "items", 3)[:, :, 0]
    return np.where(first[:, 0] > first[:, 1], 1.0, -1.0)


def squared_length(items: object) -> np.ndarray:
    """(n,) +1 where the items' squared lengths add up to more than their median for normal items; blind to order.

    >>> squared_length([[[1.0], [0.0]], [[2.0], [1.0]]]).tolist()
    [-1.0, 1.0]
    """
    values = finite_array(items, "items", 3)
    median = chi2.median(values.shape[1] * values.shape[2])
    return np.where(np.square(values).sum(axis=(1, 2)) > median, 1.0, -1.0)


TARGETS: Mapping[str, Target] = {
    "order": Target(twofold_order, sees_order=True),
    "simple order": Target(single_order, sees_order=True),
    "invariant": Target(squared_length, sees_order=False),
    "orbit-closed": Target(twofold_order, sees_order=True, closed=True),
}
"""The targets of the chapter on capacity and expressivity, by name."""


def target(name: str) -> Target:
    """The target of that name. Raises ``ValueError`` for an unknown one.

    >>> target("order").sees_order
    True
    """
    return TARGETS[one_of(name, "target", TARGETS)]


@dataclass(frozen=True)
class SetModel:
    """One architecture, tanh units throughout.

    Attributes
    ----------
    widths : of the network that reads the sum over the items, or all items one after the other.
    item_widths : of the network that reads one item; none for a model that reads all of them.
    places : whether items carry the number of their place.
    """

    widths: tuple[int, ...]
    item_widths: tuple[int, ...] = ()
    places: bool = False

    def prepared(self, items: np.ndarray) -> np.ndarray:
        """Items (n, 4, 3) as the model reads them: (n, 12), or (n, 4, 3), or (n, 4, 7) with places."""
        if not self.item_widths:
            return items.reshape(len(items), -1)
        return with_places(items) if self.places else items

    def initial(self, key: jax.Array) -> Any:
        """Random key → parameters."""
        below, above = jax.random.split(key)
        return {"rest": draw_layers(above, self.widths), "items": draw_layers(below, self.item_widths or (1, 1))}

    def logits(self, params: Any, x: jax.Array) -> jax.Array:
        """(n,) at prepared inputs."""
        if self.item_widths:
            x = jnp.tanh(through_layers(params["items"], x, jnp.tanh)).sum(axis=-2)
        return through_layers(params["rest"], x, jnp.tanh)[..., 0]

    def trained(self, params: Any, *index: int) -> TrainedModel:
        """One run's model in double precision."""
        rest = as_network(as_pairs(params["rest"], *index), "tanh")
        if not self.item_widths:
            return rest
        return SetNetwork(as_network(as_pairs(params["items"], *index), "tanh"), rest)

    @property
    def n_params(self) -> int:
        """The number of weights and biases."""
        sides = [self.widths, self.item_widths]
        return sum((a + 1) * b for widths in sides for a, b in pairwise(widths))


MODELS: Mapping[str, SetModel] = {
    "invariant": SetModel((18, 22, 1), (ITEM_DIM, 22, 18)),
    "invariant + places": SetModel((18, 20, 1), (ITEM_DIM + N_ITEMS, 20, 18), places=True),
    "order-aware": SetModel((ALL_ITEMS, 24, 24, 1)),
    "narrow": SetModel((ALL_ITEMS, 6, 1)),
    "linear": SetModel((ALL_ITEMS, 1)),
    "small invariant": SetModel((6, 8, 1), (ITEM_DIM, 8, 6)),
    "small order-aware": SetModel((ALL_ITEMS, 8, 8, 1)),
}


def logistic_loss(model: SetModel, params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Mean of log(1 + exp(−y f(x))), labels ±1, in nats."""
    return jax.nn.softplus(-y * model.logits(params, x)).mean()


def train_models(
    name: str,
    items: np.ndarray,
    labels: np.ndarray,
    *,
    learning_rates: Sequence[float],
    n_steps: int,
    batch_size: int,
    seeds: Sequence[int],
) -> list[list[TrainedModel]]:
    """[rate][seed] → the model of that name, trained on items (seeds, n, 4, 3) and labels (seeds, n) of ±1."""
    model = MODELS[name]
    inputs = np.stack([model.prepared(each) for each in items]).astype(np.float32)
    params = train_side_by_side(
        model.initial,
        lambda p, x, y: logistic_loss(model, p, x, y),
        inputs,
        labels.astype(np.float32),
        learning_rates=learning_rates,
        n_steps=n_steps,
        batch_size=batch_size,
        seeds=seeds,
    )
    return [[model.trained(params, q, s) for s in range(len(seeds))] for q in range(len(learning_rates))]


def accuracy(name: str, model: TrainedModel, items: np.ndarray, labels: np.ndarray) -> float:
    """Share of labels (n,) that the sign of the model's logit meets; a logit of zero counts as −1."""
    said = np.where(model(MODELS[name].prepared(items))[:, 0] > 0, 1.0, -1.0)
    return float(np.mean(said == labels))
