"""What a saved network allocation keeps of its network: parameters and outputs on the data, and not the function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np


@dataclass(frozen=True, eq=False)
class RememberedDerivatives:
    """In the place of :class:`~capcore.networks.derivatives.Derivatives` after loading.

    Attributes
    ----------
    params : (p,) array
        Where the network was.
    at_params : (N, K) array
        Its outputs there, on the data.
    layers : dict
        Name → slice of the parameters.
    """

    params: np.ndarray = field(repr=False)
    at_params: np.ndarray = field(repr=False)
    layers: Mapping[str, slice] = field(repr=False)

    @property
    def n_params(self) -> int:
        """Number p of parameters."""
        return self.params.size

    def outputs(self, w: np.ndarray, inputs: np.ndarray | None = None) -> np.ndarray:
        """(N, K) outputs that are remembered; raises ``ValueError`` at other parameters or inputs."""
        if inputs is not None or not np.array_equal(w, self.params):
            self._refuse()
        return self.at_params

    def jvp(self, *given: Any) -> NoReturn:
        """Raise ``ValueError``: the function is not at hand."""
        self._refuse()

    jacobian = vjp = hvp = scalar = tree = jvp

    def _refuse(self) -> NoReturn:
        raise ValueError(
            "apply: found a loaded result without its network, which no file can hold, expected the function itself. "
            "Call allocate_network again, or ask for this before saving."
        )
