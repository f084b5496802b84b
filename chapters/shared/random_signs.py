"""A network for which the pseudo-random limit is exact on average: linear layers with random signs between them.

With independent signs S_k, E (W₁ S₁ W₂ S₂ … W_N)_xy² = ((W₁∘W₁) (W₂∘W₂) … (W_N∘W_N))_xy, which is paper 2, Eq. 2, over
N layers: paths that differ anywhere have products of independent signs and do not interfere on average. Capacity
propagation is propagation of squared gradients whose paths are decorrelated. A single network fluctuates about that.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import f as f_distribution

from capcore.propagation.convolution import ConvolutionTransport, convolution_operator
from capcore.propagation.matrix import representable


def signed_operator(kernel: object, above: tuple[int, ...]) -> sparse.csr_array:
    """(n_in, n_out) weights W of a centred, periodic convolution, sparse; W∘W is the transport's operator.

    Parameters
    ----------
    kernel : (in, *taps, out) array_like
        Signed weights.
    above : tuple of int
        (*positions, out): shape of the outputs.

    Examples
    --------
    >>> signed_operator([[[0.5], [1.0], [-0.5]]], (3, 1)).toarray().tolist()
    [[1.0, 0.5, -0.5], [-0.5, 1.0, 0.5], [0.5, -0.5, 1.0]]
    """
    values = np.asarray(kernel, float)
    squared = ConvolutionTransport.of_weights(values)
    squared.input_shape(above)
    blocks = values.reshape(values.shape[0], -1, values.shape[-1])
    return convolution_operator(blocks, squared.offsets, above[:-1], "periodic")[0]


def squared_gradients(weights: Sequence[object], output: int, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """(n_samples, n_in) squares of a column of W₁ S₁ W₂ … S_{N−1} W_N, with new random signs S in every sample.

    Parameters
    ----------
    weights : list of (n_in, n_out) arrays
        W₁, …, W_N, dense or sparse, lowest first.
    output : int
        Index of the column.
    n_samples : int
        At least 1.
    rng : Generator

    Examples
    --------
    >>> squared_gradients([np.eye(2), [[0.6, 0.0], [0.8, 1.0]]], 0, 1, np.random.default_rng(0)).round(2).tolist()
    [[0.36, 0.64]]
    """
    *lower, top = [sparse.csr_array(w) if sparse.issparse(w) else np.asarray(w, float) for w in weights]
    gradient = np.repeat(sparse.csr_array(top)[:, [output]].toarray(), n_samples, axis=1)
    for matrix in reversed(lower):
        gradient = matrix @ (gradient * rng.choice([-1.0, 1.0], gradient.shape))
    return representable(gradient.T**2, "weights")


class ChiSquare(NamedTuple):
    """Distance of sample means from an expected vector.

    Attributes
    ----------
    statistic : float
        Squared distance, in units of the means' covariance.
    dof : int
        Degrees of freedom.
    p_value : float
        Probability of a larger distance.
    """

    statistic: float
    dof: int
    p_value: float


def mean_chi_square(samples: np.ndarray, expected: np.ndarray) -> ChiSquare:
    """Whether samples have the expected mean, allowing for the correlation of their entries.

    Hotelling's T² with the samples' covariance, on the directions in which they vary; for many samples its law is a
    chi-square with ``dof`` degrees of freedom, and the p-value uses the F law, which is exact for Gaussian samples.

    Parameters
    ----------
    samples : (m, n) array
    expected : (n,) array
        Their mean, if the law holds.

    Raises
    ------
    ValueError
        If there are no more samples than directions, or samples do not vary but differ from the expected mean.

    Examples
    --------
    >>> samples = np.random.default_rng(0).normal(size=(500, 3))
    >>> mean_chi_square(samples, np.ones(3)).p_value < 1e-9, mean_chi_square(samples, np.zeros(3)).dof
    (True, 3)
    """
    m = len(samples)
    exponent = np.frexp(max(np.abs(samples).max(), np.abs(expected).max()))[1]  # the statistic has no scale
    samples, expected = np.ldexp(samples, -exponent), np.ldexp(expected, -exponent)
    gap = samples.mean(axis=0) - expected
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(samples.T)))
    free = values > 1e-10 * max(values[-1], 0)
    dof = int(free.sum())
    if m <= dof + 1:
        raise ValueError(f"samples: found {m}, expected many more than the {dof} directions in which they vary.")
    fixed = np.abs(vectors[:, ~free].T @ gap)
    if fixed.size and fixed.max() > 1e-7:
        raise ValueError("samples: they do not vary in a direction in which they differ from what is expected.")
    if not dof:
        return ChiSquare(0.0, 0, 1.0)
    statistic = m * float(np.sum((vectors[:, free].T @ gap) ** 2 / values[free]))
    scaled = statistic * (m - dof) / (dof * (m - 1))
    return ChiSquare(statistic, dof, float(f_distribution.sf(scaled, dof, m - dof)))
