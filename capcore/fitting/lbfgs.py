"""The paper's optimiser, L-BFGS-B (paper 1, Fig. 4 and Appendix B.2), through SciPy, with an analytic gradient.

L-BFGS-B is a quasi-Newton method (the paper calls it second order); it is kept for comparison.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from capcore.architectures.base import Architecture
from capcore.fitting.gauss_newton import Minimum


def minimise_lbfgs(
    arch: Architecture,
    target: np.ndarray,
    covariance: np.ndarray,
    params: np.ndarray,
    max_iterations: int = 20_000,
    ftol: float = 0.0,
    callback: Callable[[float], None] | None = None,
) -> Minimum:
    """Minimise (A(W) − A*)ᵀ Σ (A(W) − A*) over the parameters with ``scipy.optimize.minimize``: paper 1, Eq. 15.

    Parameters
    ----------
    target : (n,) array
        A*.
    covariance : (n, n) array
        Σ.
    params : (n_params,) array
        The start.
    ftol : float
        SciPy's stopping tolerance, which compares the decrease of the loss with ``ftol * max(loss, 1)``, an absolute
        threshold here; the default of 0 never stops it.
    """

    def loss_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        coefficients, pullback = arch.linearise(w)
        error = coefficients - target
        pull = covariance @ error
        return float(error @ pull), 2 * pullback(pull)

    history = [loss_and_gradient(params)[0]]

    def record(intermediate_result: object) -> None:
        history.append(float(intermediate_result.fun))  # type: ignore[attr-defined]
        if callback:
            callback(history[-1])

    options = {"maxiter": max_iterations, "maxfun": 3 * max_iterations, "ftol": ftol, "gtol": 0.0}
    result = minimize(loss_and_gradient, params, jac=True, method="L-BFGS-B", callback=record, options=options)
    return Minimum(result.x, history, bool(result.success), f"L-BFGS-B: {result.message}".rstrip(": "))
