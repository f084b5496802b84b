"""What the parameters of ``notebooks/design_bound.ipynb`` may be."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from chapters.kit.parameters import Count, Square, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/design_bound.ipynb``."""

    n_inputs: Annotated[Square, Field(ge=16, description="inputs, a power of two")] = 128
    max_params: Annotated[Count, Field(ge=16, description="parameters at most")] = 64

    @model_validator(mode="after")
    def _cut_in_two(self) -> Self:
        if self.n_inputs & (self.n_inputs - 1):
            raise ValueError(f"n_inputs: found {self.n_inputs}, expected a power of two, such as 128.")
        if self.max_params < (least := 4 * (self.n_inputs.bit_length() - 1)):
            raise ValueError(f"max_params: found {self.max_params}, expected at least {least}, for two stacks.")
        return self
