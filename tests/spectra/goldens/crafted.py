"""Layers that take the reference tool into its corners; the goldens' script and the tests build the same ones."""

import numpy as np


def crafted_layers():
    """Float32 weights by layer name: small samples, ties, zeros, every orientation, even and 1×1 kernels."""
    rng = np.random.default_rng(20)

    def normal(*shape, scale=1.0):
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    heavy = np.linalg.qr(rng.standard_normal((60, 40)))[0] * (rng.pareto(2.0, size=40) + 1.0)
    return {
        "wide": normal(24, 70),
        "tall": normal(90, 30, scale=0.05),
        "square": normal(32, 32),
        "heavy": heavy.astype(np.float32),
        "seven": normal(7, 50),  # below eight eigenvalues: not listed
        "eight": normal(8, 50),
        "nineteen": normal(19, 40),
        "twenty": normal(20, 40),
        "tied": np.eye(10, 12, dtype=np.float32),  # ten equal eigenvalues, small sample
        "tied_large": 2.0 * np.eye(30, 40, dtype=np.float32),
        "nearly_tied": np.diag(np.repeat([1.0, 2.0, 3.0, 5.0], 8)).astype(np.float32),
        "tiny": normal(30, 30, scale=1e-4),  # every eigenvalue below the threshold
        "mostly_tiny": np.diag(np.r_[np.full(20, 1e-3), [1.0, 2.0, 3.0]]).astype(np.float32),  # three remain
        "one_left": np.diag(np.r_[np.full(20, 1e-3), [1.5]]).astype(np.float32),
        "zero": np.zeros((12, 16), dtype=np.float32),
        "conv": normal(16, 8, 3, 3),
        "conv_wide": normal(8, 16, 3, 3),
        "conv_even": normal(8, 12, 2, 2),
        "conv_stem": normal(16, 3, 3, 3),
        "conv_point": normal(12, 24, 1, 1),
        "bias_like": normal(40),  # one dimension: not listed
        "conv1d": normal(16, 8, 3),  # three dimensions: not listed
    }
