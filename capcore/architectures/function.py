"""Any function params → coefficients as an architecture: a model of your own.

The Jacobian comes from automatic differentiation (JAX or PyTorch, both optional), from complex steps, which are exact
to rounding for analytic NumPy functions, or from a function of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from capcore.architectures import derivatives
from capcore.architectures.base import Architecture
from capcore.architectures.finite_field import jacobian_of_function
from capcore.checks.arguments import divided, finite_array, of_kind, one_of, positive_integer

ORDINARY = 1e32  # products of nine numbers between its inverse and itself are within double precision
SPREAD = 0.5  # standard deviation of random parameters when no example is given
NEAR = 0.1  # standard deviation around an example, relative to the example's root mean square


class Function(Architecture):
    """A class of linear models defined by any function from parameters to coefficients.

    Works with :func:`~capcore.fitting.optimum.fit` and :func:`~capcore.capacity.allocation.allocate` like every
    architecture.

    Parameters
    ----------
    function : callable
        Parameters (n_params,) → coefficients (n_inputs · input_dim,), position-major, lag 0 first.
    n_params : int
        Number of parameters.
    input_dim : int
        Components per input position.
    layers : dict, optional
        Layer name → slice of the parameter vector; every parameter belongs to exactly one layer. Default: one layer.
    derivative : str or callable
        "jax", "torch", "complex-step", a function params → Jacobian, or "auto": JAX if it is installed and can
        differentiate the function, otherwise complex steps if they agree with a central difference.
    example : (n_params,) array_like, optional
        Parameters at which the function is defined; random parameters are then drawn near them.

    Raises
    ------
    TypeError
        If ``function`` cannot be called.
    ValueError
        If what the function returns, the layers or the example do not fit, or nothing differentiates the function.
    ModuleNotFoundError
        If a library that the derivative needs is not installed.

    Examples
    --------
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
        example: object = None,
    ) -> None:
        of_kind(layers, "layers", Mapping | None, "a mapping of names to slices")
        of_kind(function, "function", Callable, "a function params → coefficients")
        self.function, self.derivative = function, derivative
        self.n_params = positive_integer(n_params, "n_params")
        self.input_dim = positive_integer(input_dim, "input_dim")
        self.layers = divided(layers or {"all parameters": slice(0, self.n_params)}, self.n_params)
        self.example = None if example is None else self.checked(example, "example")
        probe = self.init(np.random.default_rng(0)) if self.example is None else self.example
        if not callable(derivative):
            one_of(derivative, "derivative", ("auto", *derivatives.METHODS))
            derivative = derivatives.choose(function, probe) if derivative == "auto" else derivative
        self.derivative = derivative
        self._value, self._jacobian = derivatives.differentiable(function, derivative)
        size = self._returned(probe).size
        if derivative == "complex-step":
            derivatives.check_complex_steps(function, probe)
        if size % self.input_dim:
            raise ValueError(f"function: found {size} coefficients, expected a multiple of input_dim {self.input_dim}.")
        self.n_inputs = size // self.input_dim

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        how = self.derivative if isinstance(self.derivative, str) else "own derivative"
        return f"Function({name}, n_params={self.n_params}, {how})"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters: normal with variance ¼, or near the example."""
        if self.example is None:
            return rng.normal(0, SPREAD, self.n_params)
        scale = NEAR * float(np.sqrt(np.mean(np.square(self.example))))
        return self.example + (scale or SPREAD) * rng.normal(size=self.n_params)

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients.

        Raises
        ------
        ValueError
            If the function does not return them.
        """
        values = self._returned(self.checked(params))
        size = self.n_inputs * self.input_dim
        if values.size != size:
            raise ValueError(f"function: found {values.size} coefficients, expected {size} as before.")
        return values

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) derivative ∂A/∂W.

        Raises
        ------
        ValueError
            If it is not finite.
        """
        jacobian = finite_array(self._jacobian(self.checked(params)), "derivative", 2)
        expected = (self.n_inputs * self.input_dim, self.n_params)
        if jacobian.shape != expected:
            raise ValueError(f"derivative: found a Jacobian of shape {jacobian.shape}, expected {expected}.")
        return jacobian

    def jacobian_modulo(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs · input_dim, n_params) Jacobian modulo a prime.

        Raises
        ------
        TypeError
            If the function is not a polynomial.
        """
        return jacobian_of_function(self.function, params)

    def is_polynomial(self) -> bool:
        """Whether the function can be evaluated with exact arithmetic: sums, products and whole powers only."""
        try:
            self.jacobian_modulo(np.arange(1, self.n_params + 1))
        except Exception:  # whatever a reader's function does with other numbers than floats
            return False
        return True

    def at_even_scale(self, params: object) -> tuple[Function, np.ndarray]:
        """The model and its parameters (n_params,) as they are.

        Raises
        ------
        ValueError
            If products of a layer of extreme scale may leave double precision.
        """
        values = self.checked(params)
        for part in self.layers.values():
            largest = np.abs(values[part]).max()
            if largest > 0 and not 1 / ORDINARY <= largest <= ORDINARY:
                expected = f"a layer's largest between {1 / ORDINARY:.0e} and {ORDINARY:.0e}"
                raise ValueError(f"params: found values of about {largest:.0e}, expected {expected}. Change units.")
        return self, values

    def _returned(self, params: np.ndarray) -> np.ndarray:
        coefficients = self._value(params)
        if coefficients.dtype == object and coefficients.ndim == 0:
            raise ValueError(f"function: found {coefficients.item()!r} returned, expected an array of coefficients.")
        return finite_array(np.ravel(coefficients), "what the function returned", 1)
