"""The rank of a network's parameter Jacobian on data, and how many of its directions carry its motion."""

import numpy as np
from scipy.linalg import svd

from capcore.architectures.columns import equilibrate, rank_tolerance


def jacobian_rank(jacobian: np.ndarray) -> int:
    """The dimension of the column space of D (n · n_outputs, n_params), as ``tangent_space`` has it, without a basis.

    >>> from chapters.shared.complexity import parameter_jacobian, random_network
    >>> rng = np.random.default_rng(0)
    >>> network = random_network([2, 3, 1], rng, bias_scale=0.5)
    >>> jacobian_rank(parameter_jacobian(network, 2 * rng.normal(size=(400, 2))))
    10
    """
    values = svd(equilibrate(jacobian), compute_uv=False, check_finite=False)
    return int(np.count_nonzero(values > rank_tolerance(jacobian.shape, values[0])))


def participation_ratio(jacobian: np.ndarray) -> float:
    """(Σσ²)²/Σσ⁴ of the singular values σ of D: how many directions carry its motion, 1 to the rank.

    If the parameters move at random, alike in all directions, the logits move by σ along each singular vector. Unlike
    the rank it depends on the parametrisation: scaling a ReLU unit's weights in, and those out back, changes it.

    >>> participation_ratio(np.diag([2.0, 2.0, 0.0]))
    2.0
    """
    gram = jacobian.T @ jacobian
    return float(np.trace(gram) ** 2 / np.vdot(gram, gram))
