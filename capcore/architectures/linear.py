"""Linear models: coefficients A = B w for a fixed basis B; with B = I, the fully connected one of paper 1, Fig. 4."""

import numpy as np

from capcore.architectures.base import Architecture
from capcore.architectures.columns import equilibrate, numerical_rank
from capcore.architectures.finite_field import residues
from capcore.checks.arguments import finite_array, positive_integer


class Linear(Architecture):
    """Coefficients A = B w: a linear map from parameters to coefficients.

    The least-squares optimum is unique in A, and κ = rank B at all parameters.

    Parameters
    ----------
    basis : (n_inputs · input_dim, n_params) array_like
        The matrix B, position-major, lag 0 first.
    input_dim : int
        Components per input position.

    Examples
    --------
    >>> Linear(np.eye(4)[:, :2]).coefficients([3.0, 5.0]).tolist()
    [3.0, 5.0, 0.0, 0.0]
    """

    def __init__(self, basis: object, input_dim: int = 1) -> None:
        self.basis = finite_array(basis, "basis", 2)
        input_dim = positive_integer(input_dim, "input_dim")
        if self.basis.shape[0] % input_dim:
            raise ValueError(f"basis: found {self.basis.shape[0]} rows, expected a multiple of input_dim {input_dim}.")
        self.input_dim = input_dim
        self.n_inputs = self.basis.shape[0] // input_dim
        self.n_params = self.basis.shape[1]
        self.layers = {"layer 1": slice(0, self.n_params)}

    def __repr__(self) -> str:
        return f"Linear(<{self.basis.shape[0]} x {self.n_params} basis>)"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(n_params,) standard normal parameters."""
        return rng.normal(size=(self.n_params,))

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim,) coefficients B w."""
        return self.basis @ self.checked(params)

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs · input_dim, n_params) the basis itself, whatever the parameters."""
        return self.basis.copy()

    def jacobian_modulo(self, params: np.ndarray) -> np.ndarray:
        """(n_inputs · input_dim, n_params) the basis as exact fractions, modulo a prime."""
        return residues(self.basis).reshape(self.basis.shape)

    def generic_capacity(self) -> int:
        """Rank of the basis (numerical, since rounding hides the exact rank of a real basis)."""
        return numerical_rank(equilibrate(self.basis))
