"""Lengths and transitions of a circle's images in random networks, against the slides' bound and the exact law."""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom

from chapters.shared.complexity import ellipse, layer_lengths, layer_transitions, random_network, trace_curves


class Growth:
    """A circle of radius √width about a standard normal point, through ``n_networks`` random networks.

    The circles and the networks' random numbers depend on the seed alone, not on the scales: the same weights, larger.

    Attributes
    ----------
    start : (n_networks, 1) lengths of the circles.
    lengths : (n_networks, n_layers) lengths of their images in the hidden layers.
    transitions : (n_networks, n_layers) how often the layers' units switch around them.
    """

    def __init__(
        self,
        weight_scale: float,
        width: int,
        n_layers: int,
        n_networks: int,
        seed: int,
        bias_scale: float = 0.0,
        activation: str = "relu",
    ) -> None:
        lengths, transitions = [], []
        for child in np.random.default_rng(seed).spawn(n_networks):
            vectors = child.normal(size=(3, width))
            plane = np.linalg.qr(vectors[1:].T)[0].T * width**0.5
            network = random_network([width] * (n_layers + 1) + [1], child, weight_scale, bias_scale, activation)
            course = trace_curves(network, ellipse(vectors[0], *plane))
            lengths.append(layer_lengths(course)[:-1, 0])
            transitions.append(layer_transitions(course)[:, 0])
        self.start, self.lengths = np.split(np.array(lengths), [1], axis=1)
        self.transitions = np.array(transitions)

    @property
    def gains(self) -> np.ndarray:
        """(n_networks, n_layers) lengths over those of the circles."""
        return self.lengths / self.start


def expected_length_gain(width: int, weight_scale: float = 2**0.5) -> float:
    """The expected factor by which a random ReLU layer lengthens any curve, exact at any width.

    (σ/√n) E[√2 Γ((K+1)/2)/Γ(K/2)] over K of the binomial law of ``width`` fair coins, with weights of standard
    deviation σ/√n and n = ``width``. At one point of the curve the active units are such a
    coin each, whatever their slopes, as a sign flip of a unit's weights and bias exchanges the two; and a sum of K
    squared normal slopes has a chi law. At most σ/√2. Biases with a symmetric law do not matter.

    >>> round(expected_length_gain(1), 4), round(expected_length_gain(1000), 4)
    (0.5642, 0.9994)
    """
    active = np.arange(1, width + 1)
    mean_chi = 2**0.5 * np.exp(gammaln((active + 1) / 2) - gammaln(active / 2))
    return float(weight_scale / width**0.5 * (binom.pmf(active, width, 0.5) @ mean_chi))


def expected_gains(weight_scale: float, width: int, n_layers: int) -> np.ndarray:
    """(n_layers,) expected lengths over that of the curve: powers of the gain of one layer, exact.

    >>> expected_gains(2**0.5, 32, 2).round(3).tolist()
    [0.98, 0.961]
    """
    return expected_length_gain(width, weight_scale) ** np.arange(1, n_layers + 1)


def bounds(weight_scale: float, width: int, n_layers: int) -> dict[str, np.ndarray]:
    """Readings of the slides' lower bound with constant 1, each (n_layers,).

    The roots are lost in the text of the slides: "root over m" and "both roots" are (σ√m/(m+1))^i and (σ√m/√(m+1))^i.

    >>> [round(float(bound[0]), 3) for bound in bounds(2.0, 4, 1).values()]
    [0.8, 1.789]
    """
    layers, m = np.arange(1, n_layers + 1), width
    bases = {"root over m": weight_scale * m**0.5 / (m + 1), "both roots": weight_scale * (m / (m + 1)) ** 0.5}
    return {name: base**layers for name, base in bases.items()}


def largest_error(growths: Sequence[Growth], laws: Sequence[np.ndarray]) -> float:
    """The largest distance of mean gains from their laws over all layers and scales, in standard errors."""
    scores = [
        np.abs(growth.gains.mean(axis=0) - law) / (growth.gains.std(axis=0, ddof=1) / len(growth.start) ** 0.5)
        for growth, law in zip(growths, laws, strict=True)
    ]
    return float(np.max(scores))
