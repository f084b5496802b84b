"""Tails that the goldens of the powerlaw package and the tests share."""

import numpy as np


def samples():
    """Values and a fixed x_min by name: each law in turn, and two spectra of matrices."""
    rng = np.random.default_rng(7)
    wishart = np.linalg.svd(rng.standard_normal((60, 200)), compute_uv=False) ** 2
    heavy = np.linalg.svd(rng.standard_normal((80, 80)) * (1 + rng.pareto(2.0, size=80)), compute_uv=False) ** 2
    return {
        "power law": (np.r_[rng.pareto(1.5, 300) + 1, rng.uniform(0.1, 1, 100)], 1.0),
        "exponential": (3 + rng.exponential(2.0, 300), 3.0),
        "lognormal": (rng.lognormal(0.0, 1.0, 400), 0.8),
        "cut-off": (rng.gamma(0.5, 4.0, 800), 0.5),
        "wishart": (wishart, float(np.median(wishart))),
        "heavy": (heavy, float(np.median(heavy))),
    }
