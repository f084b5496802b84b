"""Boundary density without following a line: how steep units are where they are about to switch (coarea formula).

Boundary per volume is Σ over units and kinks of the mean of ‖∇z‖ δ(z − kink) over the volume, and the delta function
is a window of width 2h over 2h. Points and gradients, no crossings: the second route to
:func:`~capcore.complexity.boundaries.boundary_density`.
"""

from __future__ import annotations

import numpy as np

from capcore.complexity.network import Network


def ball_points(centre: np.ndarray, radius: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points, uniform in a ball around ``centre`` (d,)."""
    found = rng.normal(size=(n, len(centre)))
    found *= rng.random((n, 1)) ** (1 / len(centre)) / np.linalg.norm(found, axis=1, keepdims=True)
    return centre + radius * found


def coarea_density(network: Network, points: np.ndarray, window: float = 0.02) -> tuple[float, float]:
    """Boundary per volume around points (n, d) of that volume, and its standard error.

    Parameters
    ----------
    window : h, in standard deviations of each unit's pre-activation over the points. The bias is of order h².

    >>> line = Network([np.eye(2)[:, :1], [[1.0]]], [[0.0], [0.0]])
    >>> mean, error = coarea_density(line, ball_points(np.zeros(2), 1.0, 20_000, np.random.default_rng(0)))
    >>> abs(mean - 2 / np.pi) < 4 * error
    True
    """
    levels = network.pre_activations(points)[:-1]
    found = np.zeros(len(points))
    for layer, z in enumerate(levels):
        half = np.maximum(window * z.std(axis=0), 1e-12)
        below = Network(network.weights[: layer + 1], network.biases[: layer + 1], network.activation, network.slope)
        for kink in network.phi.kinks:
            close = np.abs(z - kink) < half
            rows = np.flatnonzero(close.any(axis=1))
            if rows.size:
                steepness = np.linalg.norm(below.jacobian(points[rows]), axis=2)
                found[rows] += (close[rows] * steepness / (2 * half)).sum(axis=1)
    return float(found.mean()), float(found.std(ddof=1) / len(found) ** 0.5)
