"""The three questions put to one way of training a model: what it memorises, what it expresses, where it can move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from capcore.complexity.memorisation import fit_target, memorisation_curve
from capcore.complexity.model_axes import ModelAxes
from capcore.complexity.network import Network, as_network
from capcore.complexity.orbits import closed_under_exchange
from capcore.complexity.parameter_rank import parameter_rank
from capcore.complexity.set_networks import SetNetwork
from capcore.complexity.targets import Target
from capcore.validation import positive_integer

Trainer = Callable[[np.ndarray, np.ndarray, np.random.Generator], object]
"""(inputs (n, …) as the model reads them, labels (n,) of ±1, generator) → the trained network."""


def measure_axes(
    name: str,
    train: Trainer,
    targets: Mapping[str, Target],
    rng: np.random.Generator,
    *,
    sizes: Sequence[int],
    n_train: int,
    n_trials: int = 5,
    n_pairs: int = 100,
    prepare: Callable[[np.ndarray], np.ndarray] | None = None,
) -> ModelAxes:
    """Memorisation, targets and the parameter Jacobian's rank of one model, on sets of four normal items in R³.

    Parameters
    ----------
    train : see :data:`Trainer`; gives a :class:`~capcore.complexity.set_networks.SetNetwork`, or what
        :func:`~capcore.complexity.network.as_network` takes.
    targets : name → what is to be learnt, from ``n_train`` examples, and tested on as many fresh ones.
    sizes : numbers of random labels, ascending. n_trials : of everything.
    n_pairs : κ is taken on twice as many different examples, and its share that sees order on as many pairs, with
        items 1 and 2 exchanged; both after training on the last of the ``sizes`` of random labels.
    prepare : items (n, 4, 3) → inputs as the model reads them; by default the items as they are.

    Raises ``ValueError`` for sizes that do not ascend, and for networks and inputs that do not fit.

    >>> def least_squares(x, y, rng):
    ...     solution = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0]
    ...     return [(solution[:-1, None], solution[-1:])]
    >>> from capcore.complexity import TARGETS
    >>> flat = lambda sets: sets.reshape(len(sets), -1)
    >>> simple = {"simple order": TARGETS["simple order"]}
    >>> found = measure_axes("linear", least_squares, simple, np.random.default_rng(0), sizes=[8, 64], n_train=400,
    ...     n_trials=3, prepare=flat)
    >>> found.n_params, found.capacity, found.ranks.tolist()
    (13, '8', [13, 13, 13])
    >>> bool(found.fits["simple order"].test.min() > 0.9)
    True
    >>> found.odd_shares.round(2).tolist()  # three of thirteen directions
    [0.23, 0.23, 0.23]
    """
    trials, pairs = positive_integer(n_trials, "n_trials"), positive_integer(n_pairs, "n_pairs")
    read = prepare or (lambda sets: sets)

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(size=(n, 4, 3))

    def procedure(sets: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
        net = _network(train(read(sets), labels, rng))
        return lambda new: net(read(new))

    curve = memorisation_curve(procedure, draw, sizes, trials, rng)
    fits = {key: fit_target(procedure, each, n_train, n_train, trials, rng) for key, each in targets.items()}
    ranks, shares = np.empty(trials, int), np.empty(trials)
    last = int(curve.sizes[-1])
    for j in range(trials):
        net = _network(train(read(draw(last, rng)), rng.choice([-1.0, 1.0], last), rng))
        ranks[j] = parameter_rank(net, read(draw(2 * pairs, rng))).rank
        exchanged = closed_under_exchange(draw(pairs, rng), np.ones(pairs))[0]
        shares[j] = parameter_rank(net, read(exchanged)).odd_share()
    return ModelAxes(name, net.n_params, curve, fits, ranks, shares)


def _network(trained: object) -> Network | SetNetwork:
    return trained if isinstance(trained, SetNetwork) else as_network(trained)
