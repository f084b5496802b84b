"""Models of sets and of sequences with two labels, and the target functions that they are asked to express."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import chi2

from chapters.shared.complexity import Network, SetNetwork, as_network
from chapters.shared.side_by_side import as_pairs, draw_layers, through_layers, train_side_by_side

N_ITEMS, ITEM_DIM = 4, 3
ALL_ITEMS = N_ITEMS * ITEM_DIM
TrainedModel = Network | SetNetwork


def closed_under_exchange(items: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Items (2n, m, d) and labels (2n,): the given ones, then each with items 1 and 2 exchanged and the label negated.

    >>> [part.ravel().tolist() for part in closed_under_exchange(np.array([[[2.0], [1.0]]]), np.array([1.0]))]
    [[2.0, 1.0, 1.0, 2.0], [1.0, -1.0]]
    """
    order = [1, 0, *range(2, items.shape[1])]
    return np.concatenate([items, items[:, order]]), np.concatenate([labels, -labels])


def with_places(items: np.ndarray) -> np.ndarray:
    """(n, m, d + m) items that carry the number of their place, as a 1 among zeros.

    A model of sets that reads these sees the order.

    >>> with_places(np.array([[[5.0], [7.0]]])).tolist()
    [[[5.0, 1.0, 0.0], [7.0, 0.0, 1.0]]]
    """
    places = np.broadcast_to(np.eye(items.shape[1]), (len(items), items.shape[1], items.shape[1]))
    return np.concatenate([items, places], axis=2)


def twofold_order(items: np.ndarray) -> np.ndarray:
    """(n,) +1 where item 1 is above item 2 exactly if item 3 is above item 4, in the first coordinate; −1 elsewhere.

    Exchanging items 1 and 2 changes every label, and no linear function of the items gives it.

    >>> twofold_order(np.array([[[1.0], [0.0], [1.0], [0.0]], [[0.0], [1.0], [1.0], [0.0]]])).tolist()
    [1.0, -1.0]
    """
    first = items[:, :, 0]
    return np.where((first[:, 0] - first[:, 1]) * (first[:, 2] - first[:, 3]) > 0, 1.0, -1.0)


def single_order(items: np.ndarray) -> np.ndarray:
    """(n,) +1 where item 1 is above item 2 in the first coordinate: an order that a linear function sees.

    >>> single_order(np.array([[[1.0], [0.0]], [[0.0], [1.0]]])).tolist()
    [1.0, -1.0]
    """
    return np.where(items[:, 0, 0] > items[:, 1, 0], 1.0, -1.0)


def squared_length(items: np.ndarray) -> np.ndarray:
    """(n,) +1 where the items' squared lengths add up to more than their median for normal items; blind to order.

    >>> squared_length(np.array([[[1.0], [0.0]], [[2.0], [1.0]]])).tolist()
    [-1.0, 1.0]
    """
    median = chi2.median(items.shape[1] * items.shape[2])
    return np.where(np.square(items).sum(axis=(1, 2)) > median, 1.0, -1.0)


TARGETS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "order": twofold_order,
    "simple order": single_order,
    "invariant": squared_length,
    "orbit-closed": twofold_order,
}
"""Name → a function of items (n, 4, 3) with values ±1 (n,)."""


def draw_target(name: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Normal items (n, 4, 3) and their labels (n,); for "orbit-closed" each also with items 1 and 2 exchanged."""
    if name == "orbit-closed":
        items = rng.normal(size=(n // 2, N_ITEMS, ITEM_DIM))
        return closed_under_exchange(items, TARGETS[name](items))
    items = rng.normal(size=(n, N_ITEMS, ITEM_DIM))
    return items, TARGETS[name](items)


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


def train_models(
    name: str, items: np.ndarray, labels: np.ndarray, *, seeds: Sequence[int], learning_rate: float, **options: Any
) -> list[TrainedModel]:
    """One model of that name per seed, trained on items (seeds, n, 4, 3) and labels (seeds, n) of ±1.

    The loss is the mean of log(1 + exp(−y f(x))), in nats. ``options`` : as ``train_side_by_side`` has them.
    """
    model = MODELS[name]
    params = train_side_by_side(
        model.initial,
        lambda params, x, y: jax.nn.softplus(-y * model.logits(params, x)).mean(),
        np.stack([model.prepared(part) for part in items]).astype(np.float32),
        labels.astype(np.float32),
        learning_rates=[learning_rate],
        seeds=seeds,
        **options,
    )
    return [model.trained(params, 0, s) for s in range(len(seeds))]


def accuracies(name: str, models: Sequence[TrainedModel], items: np.ndarray, labels: np.ndarray) -> list[float]:
    """For each model the share of its labels (n,) that the sign of its logit meets; a logit of zero counts as −1."""
    trials = zip(models, items, labels, strict=True)
    return [
        float(np.mean(np.where(model(MODELS[name].prepared(x))[:, 0] > 0, 1.0, -1.0) == y)) for model, x, y in trials
    ]
