"""Networks that learn digits with right and with shuffled labels, their measures, and the stored experiment.

40 networks along training, and 100 in a factorial of activation, width, learning rate and labels, with F-tests.
Slides: effective complexity "is affected by" framework, size, optimisation and data, and the structure alone does not
determine it. ``python -m chapters run effective_complexity`` makes it again, in about a minute on one core. Needs
scikit-learn for its digits, imported when they are read.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.stats import ttest_ind
from tqdm import tqdm

from chapters.effective_complexity.factorial import FACTORS, Factorial
from chapters.effective_complexity.images import Images, images
from chapters.effective_complexity.tangent_networks import segment_pieces, tangent_network, uniform_tangents
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.adam import train
from chapters.shared.complexity import Network, closed_form_fisher_rao, fisher_rao, random_network, sensitivity
from chapters.shared.complexity.gradients import output_errors

ERROR = 0.1  # of tangents, in standard deviations of the logits
SETTINGS: dict[str, Any] = {
    "n_images": 600,
    "activations": ["relu", "tanh"],
    "width": 64,
    "learning_rate": 0.002,
    "n_epochs": 100,
    "snapshots": [0, 1, 3, 10, 30, 100],
    "seeds": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "error": ERROR,
    "factorial_seeds": 5,
    "equal_loss": 0.05,
    "tolerances": [0.3, 0.03],
    "literal_tolerance": 0.1,
}
QUICK: dict[str, Any] = {
    "n_images": 60,
    "width": 8,
    "n_epochs": 1,
    "snapshots": [0, 1],
    "seeds": [0],
    "factorial_seeds": 1,
    "equal_loss": 10.0,
}
WITNESS = Witness(["activations seeds"], fixed={"snapshots": [0, 1, 3], "n_epochs": 3, "factorial_seeds": 0}, **CHAOTIC)
PACKAGES = ("scikit-learn",)
DIGITS = 7
KINDS = ("right", "shuffled")
MEASURES = ("probabilities.test", "logits.test", "fisher", "pieces")
"""The four measures, of which logarithms are compared."""

WEIGHT_SCALES = {"relu": 2**0.5, "tanh": 1.0}
"""Standard deviations of initial weights times √fan_in, which keep signals from vanishing or exploding."""


def shuffled(labels: np.ndarray, seed: int) -> np.ndarray:
    """(n,) the same labels in another order, which belongs to the seed."""
    return np.random.default_rng([1, seed]).permutation(labels)


def trained(
    data: Images,
    seeds: Sequence[int],
    labels: Sequence[str],
    activation: str = "relu",
    width: int = 64,
    learning_rate: float | Sequence[float] = 0.002,
    n_epochs: int = 100,
    snapshots: Sequence[int] = (),
) -> tuple[list[tuple[Network, ...]], np.ndarray]:
    """Networks of every snapshot, and the labels (n_runs, n) they learn; two hidden layers of ``width`` units.

    Parameters
    ----------
    seeds, labels : one for each run; labels are "right" or "shuffled". Runs of one seed start from the same weights.
    """
    rngs = [np.random.default_rng([0, seed]) for seed in seeds]
    widths, scale = [64, width, width, 10], WEIGHT_SCALES[activation]
    networks = [random_network(widths, rng, scale, activation=activation) for rng in rngs]
    kinds = zip(seeds, labels, strict=True)
    targets = np.stack([data.y if kind == "right" else shuffled(data.y, seed) for seed, kind in kinds])
    return train(networks, data.x, targets, rngs, learning_rate, n_epochs, 50, snapshots), targets


def trained_in_pairs(data: Images, seeds: Sequence[int], *options: Any) -> tuple[list[tuple[Network, ...]], np.ndarray]:
    """:func:`trained` with each of ``KINDS`` of labels, one after the other, from the same seeds."""
    return trained(data, [*seeds] * len(KINDS), np.repeat(KINDS, len(seeds)).tolist(), *options)


def by_kind(rows: Sequence[Sequence[Mapping[str, float]]]) -> dict[str, dict[str, np.ndarray]]:
    """Kind of labels → measure → (n_rows that have it, n_seeds), from rows of measures of networks in pairs."""
    n, names = len(rows[0]) // len(KINDS), dict.fromkeys(name for row in rows for name in row[0])
    table = {name: np.array([[values[name] for values in row] for row in rows if name in row[0]]) for name in names}
    return {kind: {name: values[:, i * n :][:, :n] for name, values in table.items()} for i, kind in enumerate(KINDS)}


def fit(network: Network, data: Images, labels: np.ndarray) -> dict[str, float]:
    """Training loss (nats), training accuracy on the labels that were learnt, and test accuracy on the right ones."""
    logits = network(data.x)
    return {
        "loss": float(output_errors(logits, labels, "cross_entropy")[0].mean()),
        "accuracy": float(np.mean(logits.argmax(axis=1) == labels)),
        "test_accuracy": float(np.mean(network(data.x_test).argmax(axis=1) == data.y_test)),
    }


def sensitivities(network: Network, data: Images) -> dict[str, float]:
    """Mean norms "probabilities.test" and so on for both outputs and all places; mean logs as "log probabilities.…"."""
    means = {}
    for of in ("probabilities", "logits"):
        for place, points in data.places.items():
            norms = sensitivity(network, points, of)
            means[f"{of}.{place}"] = float(norms.mean())
            means[f"log {of}.{place}"] = float(np.log(np.maximum(norms, 1e-300)).mean())
    return means


def norms(network: Network, data: Images, labels: np.ndarray) -> dict[str, float]:
    """Squared Fisher–Rao norms at the training images, what the closed form gives, and at twice the parameters."""
    model = fisher_rao(network, data.x)
    twice = Network(tuple(2 * w for w in network.weights), tuple(2 * b for b in network.biases), network.activation)
    return {
        "fisher": model,
        "empirical_fisher": fisher_rao(network, data.x, labels, "empirical"),
        "closed_form": closed_form_fisher_rao(network, data.x),
        "doubled_fisher": fisher_rao(twice, data.x),
    }


def pieces(network: Network, data: Images) -> dict[str, float]:
    """Mean number of linear pieces on the segments, and the complexity of Hu et al.

    Of a ReLU network itself; of others with tangents, within ``ERROR`` standard deviations of the logits on average.
    """
    linear = uniform_tangents(network)
    if not network.phi.piecewise_linear:
        linear = tangent_network(network, data.x, ERROR * float(network(data.x).std()))
    number = float(segment_pieces(linear, data.starts, data.ends).mean())
    return {"pieces": number, "curve_complexity": linear.complexity}


def measures(network: Network, data: Images, labels: np.ndarray) -> dict[str, float]:
    """All measures of one network, by name."""
    of_labels = fit(network, data, labels) | norms(network, data, labels)
    return of_labels | sensitivities(network, data) | pieces(network, data)


def run_factorial(data: Images, n_seeds: int, n_epochs: int) -> tuple[Factorial, Factorial, dict[str, list]]:
    """The factorial after training, the same networks before, and the final networks by "activation width".

    Every network has a seed of its own, cell by cell.
    """
    logs: list[list[list[float]]] = [[], []]  # before and after
    last = {}
    cells = list(product(FACTORS["optimisation"], FACTORS["data"], range(n_seeds)))
    rates, labels, _ = zip(*cells, strict=True)
    for i, (activation, width) in enumerate(product(FACTORS["framework"], FACTORS["size"])):
        seeds = [1000 * (i + 1) + j for j in range(len(cells))]
        networks, targets = trained(data, seeds, labels, activation, width, rates, n_epochs, [0])
        for store, nets in zip(logs, networks, strict=True):
            for net, y in zip(nets, targets, strict=True):
                values = measures(net, data, y)
                store.append([np.log(values[name]) for name in MEASURES])
        last[f"{activation} {width}"] = list(networks[-1])
    columns = (np.reshape(np.transpose(store), (len(MEASURES), 2, 2, 2, 2, n_seeds)) for store in logs)
    before, after = (Factorial(dict(zip(MEASURES, column, strict=True))) for column in columns)
    return after, before, last


def at_equal_loss(data: Images, n_seeds: int, loss: float) -> dict[str, np.ndarray]:
    """Measure → (2, n_seeds) logarithms at both learning rates, at the first epoch whose training loss is below.

    ReLU, 64 units, right labels. "epoch" → that epoch.
    """
    rates = [rate for rate in FACTORS["optimisation"] for _ in range(n_seeds)]
    seeds = range(9000, 9000 + len(rates))
    epochs = range(1, 61)
    networks, targets = trained(data, seeds, ["right"] * len(rates), "relu", 64, rates, 60, epochs)
    rows = []
    for run, labels in enumerate(targets):
        path = zip(epochs, (nets[run] for nets in networks), strict=True)
        epoch, network = next(each for each in path if fit(each[1], data, labels)["loss"] < loss)
        values = measures(network, data, labels)
        rows.append([epoch, *(np.log(values[name]) for name in MEASURES)])
    return dict(zip(("epoch", *MEASURES), np.array(rows).T.reshape(5, 2, n_seeds), strict=True))


def moved_at_equal_loss(values: Mapping[str, np.ndarray]) -> list[str]:
    """The measures whose means differ between the two rows, by Welch's t-test."""
    return [name for name in MEASURES if ttest_ind(*values[name], equal_var=False).pvalue < 0.001]


def order_changes(first: Sequence[float], second: Sequence[float]) -> float:
    """Share of pairs that the two lists put in opposite orders.

    >>> order_changes([1, 2, 3], [1, 3, 2])
    0.3333333333333333
    """
    pairs = list(combinations(range(len(first)), 2))
    return sum((first[i] - first[j]) * (second[i] - second[j]) < 0 for i, j in pairs) / len(pairs)


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """All numbers of the experiment, as plain lists; see :class:`Stored` for what they are."""
    data = images(settings["n_images"])
    along, n_seeds = {}, settings["factorial_seeds"]
    options = [settings[name] for name in ("width", "learning_rate", "n_epochs", "snapshots")]
    for activation in tqdm(settings["activations"], unit="activation", disable=not progress):
        networks, targets = trained_in_pairs(data, settings["seeds"], activation, *options)
        rows = [[measures(net, data, y) for net, y in zip(nets, targets, strict=True)] for nets in networks]
        along[activation] = by_kind(rows)
    table: dict[str, Any] = {"along": along}
    if n_seeds:
        after, before, last = run_factorial(data, n_seeds, settings["n_epochs"])
        table |= {"after": after.values, "before": before.values}
        table["equal_loss"] = at_equal_loss(data, 2 * n_seeds, settings["equal_loss"])
        levels = settings["tolerances"], settings["literal_tolerance"]
        table["tolerances"] = tolerances(last["tanh 64"], data, *levels)
    return dict(plain(table, DIGITS))


def tolerances(networks: list[Network], data: Images, relative: list[float], literal: float) -> dict[str, list[float]]:
    """Curve complexities of networks: at tolerances relative to the logits' deviation, and at one taken literally.

    "literal" is at ``literal`` units of the logits, "rescaled" the same after multiplying the logits by ten.
    """
    complexities: dict[str, list[float]] = {name: [] for name in (*map(str, relative), "literal", "rescaled")}
    for net in networks:
        top = (*net.weights[:-1], 10 * net.weights[-1]), (*net.biases[:-1], 10 * net.biases[-1])
        cases = {str(share): (net, share * float(net(data.x).std())) for share in relative}
        cases |= {"literal": (net, literal), "rescaled": (Network(*top, net.activation), literal)}
        for name, (network, error) in cases.items():
            complexities[name].append(tangent_network(network, data.x, error).complexity)
    return complexities
