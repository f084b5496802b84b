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

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from capcore.capacity.constraints import ConstraintSpace
from capcore.checks.arguments import finite_array
from chapters.shared.complexity.gradients import point_gradients
from chapters.shared.complexity.network import Network, as_network
from chapters.shared.complexity.sets import SetNetwork, orbit_indices


def parameter_jacobian(network: object, inputs: object) -> np.ndarray:
    """(n · n_outputs, n_params) derivatives of the logits at inputs (n, …), input by input, by all parameters.

    Parameters come network by network and layer by layer, lowest first: weights row by row, then biases.

    Parameters
    ----------
    network : Network or SetNetwork
        Or what :func:`~chapters.shared.complexity.network.as_network` takes.
    inputs : (n, d) array_like
        One point a row; (n, items, d) for sets.

    Examples
    --------
    >>> parameter_jacobian([([[2.0]], [0.0])], [[3.0], [4.0]]).tolist()
    [[3.0, 1.0], [4.0, 1.0]]
    """
    if isinstance(network, SetNetwork):
        return network.parameter_jacobian(inputs)
    net = as_network(network)
    points = net.check_inputs(inputs)
    parts = []
    for output in range(net.widths[-1]):
        errors = np.zeros((len(points), net.widths[-1]))
        errors[:, output] = 1.0
        parts.append(point_gradients(net, points, errors))
    return np.stack(parts, axis=1).reshape(-1, net.n_params)


@dataclass(frozen=True, eq=False)
class ParameterRank:
    """The tangent space of a network on data.

    Attributes
    ----------
    space : ConstraintSpace
        The column space of the parameter Jacobian, in R^N with N = n · n_outputs; ``space.capacity(S)`` is what it
        allocates to a set of functions S on the data.
    n_params : int
        Number P of parameters.
    bound : int
        No more is possible, see :func:`rank_bound`.
    n_outputs : int
        Number of outputs per example.
    """

    space: ConstraintSpace = field(repr=False)
    n_params: int
    bound: int
    n_outputs: int = 1

    @property
    def rank(self) -> int:
        """The numerical rank, by the package's tolerance (:func:`~capcore.architectures.columns.rank_tolerance`)."""
        return self.space.dimension

    @cached_property
    def per_example(self) -> np.ndarray:
        """(n,) leverage of each example, between 0 and n_outputs: how freely its outputs move. They sum to the rank."""
        return self.space.per_input(self.n_outputs)

    def share(self, functions: object) -> float:
        """κ(S)/κ in [0, 1]: the part of the space that lies in the span S of ``functions`` (N,) or (N, m).

        Raises
        ------
        ValueError
            For a space without dimension.
        """
        if not self.rank:
            raise ValueError("rank: found 0, expected a network with some output that depends on a parameter.")
        return self.space.capacity(functions) / self.rank

    def odd_share(self) -> float:
        """κ(S)/κ for data in two halves, S the functions whose values on the second half are minus those on the first.

        Where the second half are the first sets with two items exchanged, it is the part of the space that sees the
        exchange: 0 for a permutation-invariant network, ½ for a space without preference.
        """
        n_rows = self.space.n_inputs
        if n_rows % (2 * self.n_outputs) or not self.rank:
            raise ValueError(
                f"inputs: found {n_rows} outputs of rank {self.rank}, expected two halves and a rank above 0."
            )
        first, second = np.split(self.space.basis, 2)
        return float(np.square(first - second).sum() / 2 / self.rank)


def parameter_rank(network: object, inputs: object, tolerance: float | None = None) -> ParameterRank:
    """The rank of the parameter Jacobian at inputs (n, …), and the space behind it.

    Parameters
    ----------
    network : Network or SetNetwork
        This and the inputs as :func:`parameter_jacobian` takes them.
    inputs : (n, d) array_like
    tolerance : float, optional
        Relative to the largest singular value of the unit-length columns; by default the package's.

    Examples
    --------
    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> found = parameter_rank(random_network([2, 3, 1], rng, bias_scale=0.5), 2 * rng.normal(size=(400, 2)))
    >>> found.n_params, found.bound, found.rank
    (13, 10, 10)
    """
    net = network if isinstance(network, SetNetwork) else as_network(network)
    jacobian = parameter_jacobian(net, inputs)
    space = ConstraintSpace.from_columns(jacobian, tolerance)
    n_outputs = net.n_outputs if isinstance(net, SetNetwork) else net.widths[-1]
    return ParameterRank(space, net.n_params, rank_bound(net, inputs), n_outputs)


def rank_bound(network: object, inputs: object) -> int:
    """The largest rank that the parameter Jacobian can have on inputs (n, …), whatever the parameters.

    - Never more than parameters, or than outputs on *different* examples. For a
      :class:`~chapters.shared.complexity.sets.SetNetwork` examples are different if their orbits are.
    - Units of ReLU or leaky ReLU: one less per hidden unit. Its incoming weights and bias times c, its outgoing ones
      over c, leave the function as it is, and so does the direction of that change. In a set network the units of the
      item network count once.
    - No activation ("identity"): the outputs are affine in the inputs, which leaves (d + 1) · n_outputs dimensions.

    For tanh no such symmetry is continuous, and P is reached at almost all parameters if there are enough examples.

    Parameters
    ----------
    network : Network or SetNetwork
        This and the inputs as :func:`parameter_jacobian` takes them.
    inputs : (n, d) array_like

    Examples
    --------
    >>> rank_bound([([[2.0]], [0.0])], [[3.0], [4.0], [5.0]])
    2
    """
    net = network if isinstance(network, SetNetwork) else as_network(network)
    if isinstance(net, SetNetwork):
        examples = int(orbit_indices(inputs).max()) + 1
        pieces = [(net.items, net.items.n_hidden + net.items.widths[-1]), (net.rest, net.rest.n_hidden)]
        parameters = sum(_free(part, units) for part, units in pieces)
        return min(examples * net.n_outputs, parameters)
    points = np.unique(finite_array(inputs, "inputs", 2), axis=0)
    parameters = _free(net, net.n_hidden)
    if net.activation == "identity":
        parameters = min(parameters, (net.widths[0] + 1) * net.widths[-1])
    return min(len(points) * net.widths[-1], parameters)


def _free(network: Network, n_units: int) -> int:
    """Parameters but for one per rescalable unit."""
    return network.n_params - (n_units if network.activation in ("relu", "leaky_relu") else 0)
