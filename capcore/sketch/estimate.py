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
from capcore.sketch.exact import OVERSAMPLING, leverage_by_range, leverage_by_whitening
from capcore.sketch.hutchinson import Flattened, project_probes
from capcore.sketch.operators import ConstraintOperator
from capcore.sketch.products import JacobianProducts
from capcore.sketch.result import CapacityEstimate
from capcore.validation import finite_number, one_of, positive_integer

METHODS = ("auto", "range", "whitened", "hutchinson")


def estimate_capacity(
    model: Architecture | JacobianProducts,
    params: object,
    process: Process | Problem,
    *,
    method: str = "auto",
    n_probes: int = 64,
    rng: np.random.Generator | int | None = None,
    confidence: float = 0.95,
    memory: float = 2e9,
    ridge: float = 1e-3,
    deflate: int = 256,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
    progress: bool = False,
) -> CapacityEstimate:
    """Capacity per input, per octave of lags and of any groups, with limits, from products with J, Jᵀ and Σ.

    Parameters
    ----------
    model : an architecture, or :class:`~capcore.sketch.products.JacobianProducts`. params : (n_params,), or None
        beside products. process : whose covariance enters, or the problem it poses.
    method : "range" (exact, n × κ numbers), "whitened" (exact, n_params × 1.5 κ numbers, 4.5 times the products),
        "hutchinson" (random probes; neither array) or "auto": the first of the three that fits into ``memory``.
    memory : bytes that the arrays of an exact method may take.
    rng : a ``numpy.random.Generator`` or a seed. Default: seed 0.
    confidence : of the limits; those of exact methods hold to first order in rounding, whatever this says.
    n_probes : random vectors of "hutchinson", as all that follow.
    ridge : √μ relative to the largest singular value of the flattened constraint matrix.
    deflate : number of singular values that are flattened (n_params × deflate numbers).
    tolerance : solver error per probe.
    max_iterations : conjugate-gradient steps.
    progress : show a progress bar.

    Limits enclose the capacity itself, also where a ridge or a numerical rank below the generic one hides part of it,
    as long as ``generic_total`` is known. Warns with :class:`~capcore.allocation.CapacityWarning` where the numerical
    rank is below it, or the solver stopped early. Layers of any scale are evened first. Raises ``ValueError`` for
    arguments that cannot be used and for products that are not finite.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=2, dilations=[1, 2, 4, 1, 2, 4])
    >>> estimate = estimate_capacity(arch, arch.init(np.random.default_rng(0)), PowerLaw())
    >>> estimate.method, estimate.rank, estimate.per_octave.value.round(6).sum()
    ('range', 15, np.float64(15.0))
    """
    one_of(method, "method", METHODS)
    rng = np.random.default_rng(0 if rng is None else rng)
    level = _between(confidence, "confidence", 1.0)
    shrink = _between(ridge, "ridge", 1.0)
    target = _between(tolerance, "tolerance", np.inf)
    space = _between(memory, "memory", np.inf)
    positive_integer(n_probes, "n_probes")
    positive_integer(deflate, "deflate", 0)
    positive_integer(max_iterations, "max_iterations")
    if isinstance(model, Frozen | Function | Hierarchical | Recurrent) and params is not None:
        model, params = with_even_layers(model, params)
    products = JacobianProducts.of(model, params)
    covariance = covariance_product(process, products.n_inputs, products.input_dim)
    operator = ConstraintOperator.balanced(products, covariance, rng)
    bound = products.generic_total
    limit = min(products.n_rows, products.n_params)
    if method == "auto":
        method = choose_method(products, space)
    common = (products.n_inputs, products.input_dim)
    with tqdm(desc=f"capacity, {method}", unit="product", disable=not progress) as bar:
        if method != "hutchinson":
            solve = leverage_by_range if method == "range" else leverage_by_whitening
            found = solve(operator, bound, rng, bar)
            largest = found.rank if bound is None else max(min(bound, limit), found.rank)
            _warn_of_rank(found.rank, largest)
            outside = np.maximum(1 - found.scores, 0)
            return CapacityEstimate(
                method, *common, found.rank, largest, bound, level, found.scores, outside, found.rounding,
                singular_values=found.singular_values,
            )  # fmt: skip
        flat = Flattened(operator, deflate, rng, bar)
        probes = project_probes(flat, n_probes, shrink, rng, target, max_iterations, bar)
    if probes.n_iterations == max_iterations and probes.error > 10 * target * np.sqrt(n_probes):
        warnings.warn(
            f"hutchinson: after {probes.n_iterations} steps the solver's error is up to {probes.error:.1e}, expected "
            f"{target * np.sqrt(n_probes):.1e}. The limits allow for it. Raise max_iterations, deflate or ridge.",
            CapacityWarning,
            stacklevel=2,
        )
    largest = limit if bound is None else min(bound, limit)
    return CapacityEstimate(
        method, *common, None, largest, bound, level, probes.inside, probes.outside, probes.error, n_probes, shrink
    )


def choose_method(products: JacobianProducts, memory: float) -> str:
    """The first of the methods whose arrays fit into ``memory`` bytes.

    >>> choose_method(JacobianProducts.dense(np.eye(8)), 1e9)
    'range'
    """
    n, p = products.n_rows, products.n_params
    most = min(n, p) if products.generic_total is None else min(products.generic_total, n, p)
    if 8 * 3 * n * min(most + OVERSAMPLING, p) <= memory:
        return "range"
    if 8 * (3 * p * (1.5 * most + OVERSAMPLING) + 3 * most**2) <= memory:
        return "whitened"
    return "hutchinson"


def _warn_of_rank(rank: int, largest: int) -> None:
    if rank < largest:
        warnings.warn(
            f"numerical capacity {rank} is below the exact generic capacity {largest}: the parameters are singular or "
            "nearly so. The limits allow for the difference; look at singular_values.",
            CapacityWarning,
            stacklevel=3,
        )


def _between(value: object, name: str, top: float) -> float:
    expected = f"a number above 0 and below {top:g}" if np.isfinite(top) else "a positive number"
    number = finite_number(value, name, expected)
    if not 0 < number < top:
        raise ValueError(f"{name}: found {value!r}, expected {expected}.")
    return number
