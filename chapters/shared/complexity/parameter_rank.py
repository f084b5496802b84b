"""Rank of a network's parameter Jacobian on data: how many of its outputs it can move on their own, to first order.

The columns of D = ∂f(x_i)/∂w span a subspace of R^N, one dimension per output on the data: the changes that a small
step of the parameters can make. Its dimension is a local effective number of parameters, and as a
:class:`~capcore.capacity.constraints.ConstraintSpace` it can be asked how much of it lies on an example, or on a set of
functions.

It is a cousin of paper 1's κ. For a linear model with coefficients A(w), J = ∂A/∂w, and N normal inputs X (N, n) of an
invertible covariance Σ, D = XJ, and

- rank D = min(N, rank J) almost surely, since X restricted to the column space of J is normal again; and
  rank J = rank ΣJ = κ. So the two agree as soon as there are κ examples or more;
- XᵀD/N → ΣJ = K̃, the matrix whose column space is 𝒦. So κ's allocation over the inputs is that of XᵀD, and D's own
  allocation is over the examples.

For a network that is not linear only D is defined.
"""

import numpy as np

from capcore.capacity.constraints import ConstraintSpace
from chapters.shared.complexity.gradients import point_gradients
from chapters.shared.complexity.network import Network
from chapters.shared.complexity.sets import SetNetwork


def parameter_jacobian(network: Network | SetNetwork, inputs: np.ndarray) -> np.ndarray:
    """(n · n_outputs, n_params) derivatives of the logits at inputs (n, …), input by input, by all parameters.

    Parameters come network by network and layer by layer, lowest first: weights row by row, then biases.

    >>> parameter_jacobian(Network([[[2.0]]], [[0.0]]), np.array([[3.0], [4.0]])).tolist()
    [[3.0, 1.0], [4.0, 1.0]]
    """
    if isinstance(network, SetNetwork):
        return network.parameter_jacobian(inputs)
    outputs = np.eye(network.widths[-1])
    parts = [point_gradients(network, inputs, np.tile(output, (len(inputs), 1))) for output in outputs]
    return np.stack(parts, axis=1).reshape(-1, network.n_params)


def tangent_space(network: Network | SetNetwork, inputs: np.ndarray) -> ConstraintSpace:
    """The column space of the parameter Jacobian at inputs (n, …), in R^N with N = n · n_outputs.

    Its dimension is the rank, its capacity of functions S what it allocates to them, and per input it is the leverage.

    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> tangent_space(random_network([2, 3, 1], rng, bias_scale=0.5), 2 * rng.normal(size=(400, 2))).dimension
    10
    """
    return ConstraintSpace.from_columns(parameter_jacobian(network, inputs))


def odd_share(space: ConstraintSpace) -> float:
    """κ(S)/κ for data in two halves, S the functions whose values on the second half are minus those on the first.

    Where the second half are the first sets with two items exchanged, it is the part of the space that sees the
    exchange: 0 for a permutation-invariant network, ½ for a space without preference.
    """
    first, second = np.split(space.basis, 2)
    return float(np.square(first - second).sum() / 2 / space.dimension)
