"""What the parameters of ``notebooks/spectra_metrics.ipynb`` may be."""

from typing import Annotated, Self

from annotated_types import Ge, Gt
from pydantic import Field, model_validator

from chapters.kit.parameters import Count, Declaration, Positive, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/spectra_metrics.ipynb``."""

    channels: Annotated[Width, Ge(10)] = Field(16, description="of the network whose kernels are rescaled")
    factor: Positive = Field(10.0, description="on its kernels, other than 1")
    size: Annotated[Width, Ge(20)] = Field(300, description="rows and columns of the heavy-tailed matrices")
    n_draws: Annotated[Count, Ge(2)] = Field(20, description="matrices for each tail index")
    small: Annotated[float, Gt(1.5)] = Field(2.5, description="largest exponent that counts as small in the ResNets")
    seed: Seed = Field(0, description="of all random draws")

    @model_validator(mode="after")
    def _rescaled(self) -> Self:
        if self.factor == 1:
            raise ValueError(f"factor: found {self.factor}, expected a positive number other than 1.")
        return self
