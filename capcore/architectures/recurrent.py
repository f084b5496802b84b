"""Recurrent linear models: one recurrent layer without links across channels (paper 1, §5.2, Eq. 21).

The coefficient at lag τ is A_τ = Σ_j in_j · rec_j^τ · out_j: a sum of c exponentials. (The paper counts positions from
the oldest, i = n − τ.) The recurrent weights are the poles of the model, in_j · out_j their weights. A pole contributes
two directions to the Jacobian, rec^τ and τ rec^{τ−1}, so that κ = min(2c, n) for distinct poles and non-zero weights,
while there are 3c parameters: in_j and out_j enter only through their product.
"""

import numpy as np

from capcore.architectures.base import Architecture, Product
from capcore.architectures.finite_field import jacobian_of_function
from capcore.checks.arguments import finite_array, no_overflow, positive_integer


class Recurrent(Architecture):
    """A linear model with one recurrent layer of independent channels and one output (paper 1, Eq. 21).

    Parameters
    ----------
    n_inputs : int
        Number of input positions n, lags 0 … n − 1.
    channels : int
        Number of channels c.

    Attributes
    ----------
    n_params : int
        3c.
    layers : dict
        Slices of the input, recurrent and output weights, c each, in this order.

    Examples
    --------
    >>> arch = Recurrent(n_inputs=4, channels=1)
    >>> arch.coefficients([2.0, 0.5, 3.0]).tolist(), arch.generic_capacity()
    ([6.0, 3.0, 1.5, 0.75], 2)
    """

    input_dim = 1
    homogeneous = ("input", "output")

    def __init__(self, n_inputs: int, channels: int) -> None:
        self.n_inputs = positive_integer(n_inputs, "n_inputs")
        self.channels = positive_integer(channels, "channels")
        c = self.channels
        self.n_params = 3 * c
        self.layers = {"input": slice(0, c), "recurrent": slice(c, 2 * c), "output": slice(2 * c, 3 * c)}

    def __repr__(self) -> str:
        return f"Recurrent(n_inputs={self.n_inputs}, channels={self.channels})"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) random parameters: poles uniform in (0, 1), the other weights normal with variance 1/c."""
        c = self.channels
        return np.concatenate([rng.normal(0, c**-0.5, c), rng.uniform(0, 1, c), rng.normal(0, c**-0.5, c)])

    def poles(self, params: object) -> np.ndarray:
        """(channels,) recurrent weights."""
        return self._split(params)[1]

    def weights(self, params: object) -> np.ndarray:
        """(channels,) weights of the poles, in_j · out_j."""
        first, _, last = self._split(params)
        return first * last

    def assemble(self, poles: object, weights: object) -> np.ndarray:
        """(n_params,) parameters with these poles and weights, each weight shared evenly by input and output."""
        r, w = finite_array(poles, "poles", 1), finite_array(weights, "weights", 1)
        c = self.channels
        if r.size != c or w.size != c:
            raise ValueError(f"poles, weights: found {r.size} and {w.size} values, expected {c} (channels).")
        size = np.sqrt(np.abs(w))
        return np.concatenate([size, r, np.sign(w) * size])

    def basis(self, poles: object) -> tuple[np.ndarray, np.ndarray]:
        """(n, c) matrices of r_j^τ and of their derivatives τ r_j^{τ−1}."""
        filters = np.vander(np.asarray(poles, float), self.n_inputs, increasing=True).T
        slopes = np.zeros_like(filters)
        slopes[1:] = np.arange(1, self.n_inputs)[:, None] * filters[:-1]
        return filters, slopes

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs,) coefficients A, lag 0 first (paper 1, Eq. 21)."""
        return self.linearise(params)[0]

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs, n_params) derivative ∂A/∂W; columns of input and output weights of a channel are parallel."""
        first, poles, last = self._split(params)
        filters, slopes = self.basis(poles)
        with np.errstate(over="ignore", invalid="ignore"):
            jacobian = np.hstack([filters * last, slopes * (first * last), filters * first])
        no_overflow([first, poles, last], lambda: jacobian, self.n_inputs)
        return jacobian

    def jacobian_modulo(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs, n_params) Jacobian at integer parameters, reduced modulo a prime, exact."""

        def polynomial(w: np.ndarray) -> np.ndarray:
            first, poles, last = np.split(w, 3)
            return (first * last) @ poles[:, None] ** np.arange(self.n_inputs)

        return jacobian_of_function(polynomial, self.checked(params))

    def linearise(self, params: object) -> tuple[np.ndarray, Product]:
        """Coefficients (n_inputs,) and the function v ↦ Jᵀv."""
        first, poles, last = self._split(params)
        filters, slopes = self.basis(poles)

        def pullback(vector: np.ndarray) -> np.ndarray:
            along, across = filters.T @ vector, slopes.T @ vector
            return np.concatenate([along * last, across * first * last, along * first])

        return filters @ (first * last), pullback

    def generic_capacity(self) -> int:
        """Exact rank of the Jacobian at almost all parameters, min(2c, n): a confluent Vandermonde matrix.

        Paper 1, Fig. 10, draws it as the number of effective parameters.
        """
        return min(2 * self.channels, self.n_inputs)

    def _split(self, params: object) -> list[np.ndarray]:
        return np.split(self.checked(params), 3)
