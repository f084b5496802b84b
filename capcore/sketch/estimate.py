"""Capacity of a model whose Jacobian is known by its products only."""

from __future__ import annotations

import warnings

import numpy as np
from tqdm import tqdm

from capcore.allocation import CapacityWarning
from capcore.architectures.base import Architecture
from capcore.architectures.frozen import Frozen
from capcore.architectures.function import Function
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.architectures.scales import with_even_layers
from capcore.optimum import Problem
from capcore.processes import Process
from capcore.sketch.covariance import covariance_product
from capcore.sketch.exact import leverage_by_range
from capcore.sketch.operators import ConstraintOperator
from capcore.sketch.products import JacobianProducts
from capcore.sketch.result import CapacityEstimate


def estimate_capacity(
    model: Architecture | JacobianProducts,
    params: object,
    process: Process | Problem,
    *,
    rng: np.random.Generator | int | None = None,
    progress: bool = False,
) -> CapacityEstimate:
    """Capacity per input and per octave of lags, exact but for rounding, from products with J, Jᵀ and Σ.

    Parameters
    ----------
    model : an architecture, or :class:`~capcore.sketch.products.JacobianProducts`. params : (n_params,), or None
        beside products. process : whose covariance enters, or the problem it poses.
    rng : a ``numpy.random.Generator`` or a seed for the sketch. Default: seed 0.
    progress : show a progress bar.

    Warns with :class:`~capcore.allocation.CapacityWarning` where the numerical rank is below the generic one. Layers of
    any scale are evened first. Raises :class:`~capcore.memory.TooLargeError` where 3 n κ numbers would not fit into
    memory, ``ValueError`` for arguments that cannot be used and for products that are not finite.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=2, dilations=[1, 2, 4, 1, 2, 4])
    >>> estimate = estimate_capacity(arch, arch.init(np.random.default_rng(0)), PowerLaw())
    >>> estimate.total, estimate.per_octave.round(6).sum()
    (15, np.float64(15.0))
    """
    rng = np.random.default_rng(0 if rng is None else rng)
    if isinstance(model, Frozen | Function | Hierarchical | Recurrent) and params is not None:
        model, params = with_even_layers(model, params)
    products = JacobianProducts.of(model, params)
    covariance = covariance_product(process, products.n_inputs, products.input_dim)
    operator = ConstraintOperator.balanced(products, covariance, rng)
    bound = products.generic_total
    with tqdm(desc="capacity", unit="product", disable=not progress) as bar:
        found = leverage_by_range(operator, bound, rng, bar)
    if bound is not None and found.rank < min(bound, products.n_rows, products.n_params):
        warnings.warn(
            f"numerical capacity {found.rank} is below the exact generic capacity {bound}: the parameters are singular "
            "or nearly so. Look at singular_values.",
            CapacityWarning,
            stacklevel=2,
        )
    per_input = found.scores.reshape(products.n_inputs, products.input_dim).sum(axis=1)
    per_input = np.minimum(per_input, products.input_dim)
    return CapacityEstimate(found.rank, bound, per_input, found.rounding, found.singular_values)
