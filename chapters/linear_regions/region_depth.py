"""How the number of regions grows with depth, over again from other random numbers: is one result luck?"""

from __future__ import annotations

import numpy as np

from chapters.linear_regions.region_laws import exponent, random_networks, regions_by_length


def depth_exponents(
    n_repeats: int, width: int, n_networks: int, bias_scale: float, n_segments: int, seed: int
) -> np.ndarray:
    """(n_repeats,) exponents of linear regions − 1 against neurons, from one to eight hidden layers of ``width`` units.

    Each is what the check `depth` of claim S4.02 measures, on segments of length 1 in networks with 8 inputs, from
    networks and segments of its own.

    >>> bool(0.5 < depth_exponents(1, 8, 4, 0.5, 10, 0)[0] < 1.2)
    True
    """
    found = []
    for repeat in range(1, n_repeats + 1):
        rng = np.random.default_rng([seed, repeat])
        counts = []
        for n_layers in (1, 8):
            networks = random_networks([8, *[width] * n_layers, 1], n_networks, bias_scale, rng)
            counts.append(regions_by_length(networks, [1.0], bias_scale, n_segments, rng)[0].mean())
        found.append(exponent([1, 8], counts))
    return np.array(found)
