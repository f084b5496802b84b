"""Any function params → coefficients as an architecture: the reader's own model.

The Jacobian comes from automatic differentiation (JAX or PyTorch, both optional), from complex steps, which are exact
to rounding for analytic NumPy functions, or from finite differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from capcore import generic
from capcore.architectures import derivatives
from capcore.constraints import ConstraintSpace, compress_columns, equilibrate
from capcore.finite_field import jacobian_of_function
from capcore.validation import finite_array, one_of, positive_integer

N_DRAWS = 3


class Function:
    """A class of linear models given by any function from parameters to coefficients.

    Parameters
    ----------
    function : params (n_params,) → coefficients (n_inputs · input_dim,), position-major, lag 0 first.
    n_params : number of parameters. input_dim : components per input position.
    layers : layer name → slice of the parameter vector; default: one layer.
    derivative : "jax", "torch", "complex-step", "finite-differences", a function params → Jacobian, or "auto": JAX if
        it is installed and can trace the function, otherwise complex steps where they agree with finite differences,
        otherwise finite differences.

    Works with :func:`capcore.fit` and :func:`capcore.allocate` like every architecture.

    >>> model = Function(lambda w: np.convolve(w[:2], w[2:]), n_params=4)
    >>> model.n_inputs, model.generic_capacity(), model.jacobian([1.0, 2.0, 3.0, 4.0])[0].round(9).tolist()
    (3, 3, [3.0, 0.0, 1.0, 0.0])
    """

    def __init__(
        self,
        function: Callable[..., object],
        n_params: int,
        *,
        input_dim: int = 1,
        layers: Mapping[str, slice] | None = None,
        derivative: str | Callable[[np.ndarray], object] = "auto",
    ) -> None:
        if not callable(function):
            raise TypeError(f"function: found {type(function).__name__}, expected a function params → coefficients.")
        self.function = function
        self.n_params = positive_integer(n_params, "n_params")
        self.input_dim = positive_integer(input_dim, "input_dim")
        self.layers = dict(layers) if layers else {"all parameters": slice(0, self.n_params)}
        probe = self.init(np.random.default_rng(0))
        if not callable(derivative):
            one_of(derivative, "derivative", ("auto", *derivatives.METHODS))
            derivative = derivatives.choose(function, probe) if derivative == "auto" else derivative
        self.derivative = derivative
        size = self.coefficients(probe, check=False).size
        if size % self.input_dim:
            raise ValueError(f"function: found {size} coefficients, expected a multiple of input_dim {self.input_dim}.")
        self.n_inputs = size // self.input_dim

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        how = self.derivative if isinstance(self.derivative, str) else "own derivative"
        return f"Function({name}, n_params={self.n_params}, n_inputs={getattr(self, 'n_inputs', '?')}, {how})"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters: normal with variance 1/4."""
        return rng.normal(0, 0.5, self.n_params)

    def coefficients(self, params: object, check: bool = True) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients. Raises ``ValueError`` where the function does not return them."""
        w = self._checked(params)
        returned = derivatives.evaluate(self.function, w, self.derivative)
        values = finite_array(np.ravel(np.asarray(returned)), "what the function returned", 1)
        if check and values.size != self.n_inputs * self.input_dim:
            raise ValueError(
                f"function: found {values.size} coefficients, expected {self.n_inputs * self.input_dim} as before. "
                "Their number must not depend on the parameters."
            )
        return values

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative ∂A/∂W."""
        found = derivatives.jacobian(self.function, self._checked(params), self.derivative)
        expected = (self.n_inputs * self.input_dim, self.n_params)
        if found.shape != expected:
            raise ValueError(f"derivative: found a Jacobian of shape {found.shape}, expected {expected}.")
        return found

    def jacobian_modulo(self, params: np.ndarray, prime: int) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobian modulo a prime. Raises ``TypeError`` unless it is a polynomial."""
        return jacobian_of_function(self.function, params, prime)

    def linearise(self, params: object) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Coefficients and the function v ↦ Jᵀv."""
        jacobian = self.jacobian(params)
        return self.coefficients(params), lambda vector: jacobian.T @ vector

    def vjp(self, params: object, vector: np.ndarray) -> np.ndarray:
        """(n_params,) product Jᵀv."""
        return self.jacobian(params).T @ vector

    def tangent_kernel(self, params: object) -> np.ndarray:
        """(n, n) product JJᵀ."""
        jacobian = self.jacobian(params)
        return jacobian @ jacobian.T

    def tangents(self, params: object) -> dict[str, np.ndarray]:
        """For each layer, columns that span its part of the Jacobian, scaled to unit length and compressed."""
        jacobian = equilibrate(self.jacobian(params))
        return {name: compress_columns(jacobian[:, part]) for name, part in self.layers.items()}

    def is_polynomial(self) -> bool:
        """Whether the function can be evaluated with exact arithmetic: sums, products and whole powers only."""
        try:
            self.jacobian_modulo(np.ones(self.n_params, np.int64), generic.PRIME)
        except (TypeError, ValueError):
            return False
        return True

    def generic_capacity(self) -> int:
        """Exact generic rank where the function is polynomial, else the largest numerical rank at random parameters."""
        if self.is_polynomial():
            return generic.exact_rank(self)
        rng = np.random.default_rng(0)
        draws = [equilibrate(self.jacobian(self.init(rng))) for _ in range(N_DRAWS)]
        return max(ConstraintSpace.from_columns(columns, equilibrated=True).dimension for columns in draws)

    def _checked(self, params: object) -> np.ndarray:
        w = finite_array(params, "params", 1)
        if w.size != self.n_params:
            raise ValueError(f"params: found {w.size} values, expected {self.n_params} for {self!r}.")
        return w
