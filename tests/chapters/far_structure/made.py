"""Stored values with an effect that is planted."""

import numpy as np

from chapters.far_structure.series import NULLS, SERIES
from chapters.far_structure.stacks import all_stacks

KINDS = ("linear", "tanh", "gated")


def made(slope, rng, noise=0.5, n_seeds=5):
    """What ``experiment.run`` returns, were the logarithm of the far error −slope times the far share, and noise."""
    stacks = all_stacks()
    names = [*SERIES, *NULLS]
    models = list(dict.fromkeys(each.model for each in stacks))
    of = [models.index(each.model) for each in stacks]
    shares = {name: rng.uniform(0, 0.5, size=len(models))[of] for name in names}

    def networks(name):
        mean = -slope * (name in SERIES) * shares[name] + noise * rng.normal(size=len(stacks))
        far = np.exp(mean + 0.1 * rng.normal(size=(n_seeds, len(stacks))))
        loss = np.exp(0.05 * rng.normal(size=(n_seeds, len(stacks))))
        return {"loss": loss.tolist(), "far": np.round(1000 * far).tolist()}

    return {
        "stacks": [
            {
                "kernels": each.kernels,
                "channels": each.channels,
                "field": each.n_inputs,
                "capacity": each.capacity,
                "parameters": [each.n_params] * len(KINDS),
            }
            for each in stacks
        ],
        "series": {
            name: {
                "autocorrelation": [0.2 * (name in SERIES)] * 65,
                "far share": shares[name].tolist(),
                "validation": rng.uniform(1, 2, size=len(stacks)).tolist(),
            }
            for name in names
        },
        "networks": {kind: {name: networks(name) for name in names} for kind in KINDS},
    }
