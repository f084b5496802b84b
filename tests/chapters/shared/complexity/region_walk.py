"""Regions on a segment counted once more, by walking it: from each breakpoint to the next one, unit by unit.

``trace_curves`` goes through the layers and cuts all segments at every layer. A walk goes
along the segment instead. It knows which units are on, hence an affine formula of every pre-activation, and looks for
the first unit that reaches zero. That one is switched, and the formulas above it are made anew. The two have no code in
common but that of :class:`~chapters.shared.complexity.network.Network`.

Both counts of patterns are exact. A linear region is begun here by every unit that is heard;
:func:`~chapters.shared.complexity.regions.curve_regions` compares maps. They differ where units cancel exactly, e.g.
relu(x) − relu(−x), which random or trained weights do not.
"""

from __future__ import annotations

import numpy as np

from capcore.checks.arguments import finite_array
from chapters.shared.complexity.network import Network, as_network

SAME_PLACE = 1e-13
"""Breakpoints closer than this share of the segment are one; those as near to an end are none."""


def walk_regions(network: object, starts: object, stops: object) -> tuple[np.ndarray, np.ndarray]:
    """(n,) activation patterns and (n,) linear regions that segments meet, of a ReLU network.

    A breakpoint begins a linear region if the unit that switches is heard: if a path of weights other than zero leads
    from it, through units that are on, to an output. No maps are compared, so no tolerance decides which breakpoints
    bend; ``SAME_PLACE``, the same as that of ``trace``, decides which are one. A segment of
    length zero has one pattern and one region.

    Parameters
    ----------
    network : as ``as_network`` takes it. starts, stops : (n, d) ends of the segments.

    Raises ``ValueError`` for another activation, and for ends that do not fit each other or the network.

    >>> net = Network([[[1.0, 1.0]], [[1.0], [-1.0]], [[1.0]]], [[0.0, -0.5], [-2.0], [0.0]])
    >>> [count.tolist() for count in walk_regions(net, [[-1.0]], [[1.0]])]
    [[3], [1]]
    """
    net = as_network(network)
    if net.activation != "relu":
        raise ValueError(f"activation: found {net.activation!r}, expected 'relu': only its one kink is looked for.")
    first, last = net.check_inputs(starts), finite_array(stops, "stops", 2)
    if last.shape != first.shape:
        raise ValueError(f"stops: found shape {last.shape}, expected {first.shape}, one for each start.")
    lines = np.stack([first, last - first], axis=1)  # (n, 2, d): x = c₀ + c₁ t
    patterns, linear = np.ones(len(lines), int), np.ones(len(lines), int)
    if not net.n_hidden:
        return patterns, linear
    lowest = _affine(lines, net, 0)
    on = _first_pattern(lowest, net)
    at, before = np.zeros(len(lines)), on.copy()  # the last breakpoint, and which units were on ahead of it
    alive = np.arange(len(lines))
    while alive.size:
        unit, place = _next_switch(lowest[alive], on[alive], at[alive], net)
        within = place < 1 - SAME_PLACE
        left = alive[(place > at[alive] + SAME_PLACE) | ~within]  # the breakpoint, with all that switches there
        switched = (on[left] != before[left]) & (at[left] > SAME_PLACE)[:, None]
        patterns[left] += switched.any(axis=1)
        linear[left] += (switched & (_heard(on[left], net) | _heard(before[left], net))).any(axis=1)
        before[left], at[alive] = on[left], np.maximum(place, at[alive])
        alive, unit = alive[within], unit[within]
        on[alive, unit] ^= True
    return patterns, linear


def _affine(lines: np.ndarray, net: Network, layer: int) -> np.ndarray:
    """What a layer makes of formulas (n, 2, fan_in) before its activation, (n, 2, fan_out)."""
    found = lines @ net.weights[layer]
    found[:, 0] += net.biases[layer]
    return found


def _split(on: np.ndarray, net: Network) -> list[np.ndarray]:
    """(n, n_hidden) layer by layer."""
    return np.split(on, np.cumsum(net.widths[1:-1])[:-1], axis=1)


def _first_pattern(lowest: np.ndarray, net: Network) -> np.ndarray:
    """(n, n_hidden) which units are on where the segments begin; at zero the slope decides."""
    found: list[np.ndarray] = []
    z = lowest
    for layer in range(len(net.weights) - 1):
        z = lowest if layer == 0 else _affine(z * found[-1][:, None], net, layer)
        found.append(np.where(z[:, 0] == 0, z[:, 1], z[:, 0]) > 0)
    return np.concatenate(found, axis=1)


def _next_switch(lowest: np.ndarray, on: np.ndarray, at: np.ndarray, net: Network) -> tuple[np.ndarray, np.ndarray]:
    """(n,) the first unit that comes to zero from the side it is on, and (n,) where; infinity if none does.

    A unit without bias, above a layer that is off, rests at zero: it is on no longer.
    """
    places, z = [], lowest
    for layer, active in enumerate(_split(on, net)):
        z = lowest if layer == 0 else _affine(z, net, layer)
        value, slope = z[:, 0], z[:, 1]
        nears, rests = np.where(active, slope < 0, slope > 0), active & (value == 0) & (slope == 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            zero = np.maximum(-value / slope, at[:, None])
        places.append(np.where(rests, at[:, None], np.where(nears, zero, np.inf)))
        z = z * active[:, None]
    found = np.concatenate(places, axis=1)
    unit = found.argmin(axis=1)
    return unit, found[np.arange(len(found)), unit]


def _heard(on: np.ndarray, net: Network) -> np.ndarray:
    """(n, n_hidden) units that are on, and from which a path through units that are on leads to an output."""
    found = [_split(on, net)[-1] & (net.weights[-1] != 0).any(axis=1)]
    for active, w in zip(_split(on, net)[-2::-1], net.weights[-2:0:-1], strict=True):
        found.append(active & (found[-1] @ (w != 0).T))
    return np.concatenate(found[::-1], axis=1)
