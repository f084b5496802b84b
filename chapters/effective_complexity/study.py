"""The stored experiment on effective complexity, read, and how live networks and other routes compare with it."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.special import softmax

from chapters.effective_complexity.factorial import Factorial
from chapters.effective_complexity.images import PLACES
from chapters.kit.stored import arrays, stored
from chapters.shared.complexity import Network, closed_form_fisher_rao, fisher_rao, random_network
from chapters.shared.complexity.gradients import output_errors, point_gradients
from chapters.shared.intervals import geometric_interval, student_interval
from chapters.shared.numbers import with_error

Table = Mapping[str, np.ndarray]  # measure → (n_snapshots, n_seeds)
OFF = PLACES[1:]
"""The places that are compared with training images."""
ROWS = {
    "training loss (nats)": ("loss", "relu"),
    "test accuracy": ("test_accuracy", "relu"),
    "sensitivity of probabilities, training images": ("probabilities.training", "relu"),
    "sensitivity of probabilities, test images": ("probabilities.test", "relu"),
    "sensitivity of logits, test images": ("logits.test", "relu"),
    "Fisher–Rao norm (squared), model": ("fisher", "relu"),
    "Fisher–Rao norm (squared), empirical": ("empirical_fisher", "relu"),
    "linear pieces between test images, ReLU": ("pieces", "relu"),
    "linear pieces between test images, tanh": ("pieces", "tanh"),
    "curve complexity (nats), tanh": ("curve_complexity", "tanh"),
}
"""Label of the table's row → the measure and the activation."""
KINDS = tuple(product(("model", "empirical"), ("cross_entropy", "squared")))


class Stored:
    """The stored experiment, as arrays.

    Attributes
    ----------
    settings : what it was made with.
    along : activation → labels → measure → (n_snapshots, n_seeds).
    after, before : the factorial after and before training.
    equal_loss : measure → (2, n_seeds), logarithms at equal training loss for both learning rates.
    tolerances : curve complexities (20,) of tanh networks by tolerance.
    """

    def __init__(self) -> None:
        content = stored("effective_complexity")
        values = arrays(content["values"])
        self.settings: dict[str, Any] = content["settings"]
        self.along: dict[str, dict[str, dict[str, np.ndarray]]] = values["along"]
        self.after, self.before = Factorial(values["after"]), Factorial(values["before"])
        self.equal_loss, self.tolerances = values["equal_loss"], values["tolerances"]

    def final(self, name: str) -> np.ndarray:
        """(n_seeds,) a measure at the last snapshot."""
        return self.along["relu"]["right"][name][-1]


def place_ratios(table: Table, of: str, snapshot: int = -1) -> np.ndarray:
    """(4, 3) mean sensitivity at :data:`OFF` over that at training images: low end, mean and high end.

    Student's 95 % interval over seeds for the logarithm.
    """
    ratios = np.stack([table[f"{of}.{p}"][snapshot] / table[f"{of}.training"][snapshot] for p in OFF], axis=1)
    mean, low, high = geometric_interval(ratios)
    return np.stack([low, mean, high], axis=1)


def confidence_share(table: Table) -> float:
    """Median over seeds of the share of the log ratio of probabilities' sensitivities that the logits' do not have."""
    full, logits = (
        table[f"log {of}.pixels"][-1] - table[f"log {of}.training"][-1] for of in ("probabilities", "logits")
    )
    return float(np.median((full - logits) / full))


def intervals(stored: Stored, name: str, activation: str = "relu") -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Labels → mean (n_snapshots,) of a measure over seeds and the half-width of its 95 % interval."""
    return {kind: student_interval(stored.along[activation][kind][name].T) for kind in stored.along[activation]}


def overview(stored: Stored) -> dict[str, list[str]]:
    """Label → at the start, after training on right labels, and on shuffled ones: means with half-widths."""
    table = {}
    for label, (name, activation) in ROWS.items():
        ranges = intervals(stored, name, activation)
        cells = [(ranges["right"], 0), (ranges["right"], -1), (ranges["shuffled"], -1)]
        table[label] = [with_error(mean[k], half[k]) for (mean, half), k in cells]
    return table


def random_cases(
    n_networks: int, bias_scale: float, activations: tuple[str, ...], rng: np.random.Generator
) -> Iterator[tuple[Network, np.ndarray, dict[str, np.ndarray]]]:
    """Networks with 1 to 3 hidden layers, inputs (20, 4), and targets for both losses."""
    for i in range(n_networks):
        hidden = rng.integers(3, 7, rng.integers(1, 4)).tolist()
        activation = activations[i % len(activations)]
        network = random_network([4, *hidden, 3], rng, bias_scale=bias_scale, activation=activation)
        targets = {"cross_entropy": rng.integers(0, 3, 20), "squared": rng.normal(size=(20, 3))}
        yield network, rng.normal(size=(20, 4)), targets


def fisher_matrix(net: Network, inputs: np.ndarray, targets: np.ndarray, fisher: str, loss: str) -> np.ndarray:
    """(n_params, n_params) Fisher information, written out: for small networks, and for checking the other routes.

    Parameters in the order of ``point_gradients``; the rest as ``fisher_rao``.
    """
    logits = net(inputs)
    if fisher == "empirical":
        errors = output_errors(logits, targets, loss)[1]
        rows = point_gradients(net, inputs, errors)
        return rows.T @ rows / len(rows)
    total = np.zeros((net.n_params, net.n_params))
    for k, chances in enumerate(softmax(logits, axis=1).T):
        if loss == "cross_entropy":  # outcome k, with its probability at every point
            errors, weight = output_errors(logits, np.full(len(logits), k), loss)[1], chances
        else:  # E[e eᵀ] is the identity for normal outcomes: one output at a time
            errors, weight = np.eye(logits.shape[1])[np.full(len(logits), k)], np.ones(len(logits))
        rows = point_gradients(net, inputs, errors)
        total += rows.T @ (weight[:, None] * rows) / len(rows)
    return total


def parameter_vector(net: Network) -> np.ndarray:
    """(n_params,) θ in the order of ``fisher_matrix``: layer by layer, weights row by row, then biases."""
    return np.concatenate([part.ravel() for pair in zip(net.weights, net.biases, strict=True) for part in pair])


def rescaled_units(net: Network, factors: list[np.ndarray]) -> Network:
    """The same function in other parameters: weights into hidden units times ``factors``, weights out divided by them.

    Parameters
    ----------
    factors : one positive array (width,) for every hidden layer; biases go with the weights into the unit.
    """
    ends = [np.ones(net.widths[0]), *factors, np.ones(net.widths[-1])]
    weights = [w * above / below[:, None] for w, (below, above) in zip(net.weights, pairwise(ends), strict=True)]
    biases = [b * above for b, above in zip(net.biases, ends[1:], strict=True)]
    return Network(tuple(weights), tuple(biases), net.activation)


def explicit(network: Network, inputs: np.ndarray, targets: np.ndarray, fisher: str, loss: str) -> float:
    """⟨θ, I(θ)θ⟩ with the matrix written out."""
    theta = parameter_vector(network)
    return float(theta @ fisher_matrix(network, inputs, targets, fisher, loss) @ theta)


def closed_form_difference(n_networks: int, rng: np.random.Generator) -> float:
    """Largest relative difference of the closed form from the explicit matrix; ReLU without biases, all kinds."""
    return _route_difference(closed_form_fisher_rao, random_cases(n_networks, 0.0, ("relu",), rng))


def one_pass_difference(n_networks: int, rng: np.random.Generator) -> float:
    """Largest relative difference of the one forward pass from the explicit matrix; ReLU and tanh with biases."""
    return _route_difference(fisher_rao, random_cases(n_networks, 0.5, ("relu", "tanh"), rng))


def _route_difference(route: Callable[..., float], cases: Iterator) -> float:
    """Largest relative difference of a route from the matrix written out, over networks, Fishers and losses."""
    return max(
        _relative(route(net, x, y[loss], fisher, loss), explicit(net, x, y[loss], fisher, loss))
        for net, x, y in cases
        for fisher, loss in KINDS
    )


def rescaling_difference(n_networks: int, rng: np.random.Generator) -> float:
    """Largest relative change when units are rescaled by factors from 0.1 to 10; ReLU with and without biases."""
    worst = 0.0
    for bias_scale in (0.0, 0.5):
        for net, x, y in random_cases(n_networks, bias_scale, ("relu",), rng):
            other = rescaled_units(net, [10.0 ** rng.uniform(-1, 1, m) for m in net.widths[1:-1]])
            for fisher, loss in KINDS:
                args = (x, y[loss], fisher, loss)
                worst = max(worst, _relative(fisher_rao(other, *args), fisher_rao(net, *args)))
    return worst


def _relative(value: float, expected: float) -> float:
    return abs(value - expected) / expected if expected else abs(value)
