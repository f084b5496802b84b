"""What the parameters of ``notebooks/linear_systems.ipynb`` may be."""

from typing import Annotated, Self

from annotated_types import Ge
from pydantic import Field, model_validator

from chapters.kit.parameters import ByLayer, Count, Power, Seed, Whole, Width, WithProcess, check_layers


class Parameters(WithProcess):
    """Parameters of ``notebooks/linear_systems.ipynb``."""

    channels: Width = Field(4, description="hidden channels")
    channels_by_layer: ByLayer = Field([], description="hidden channels of each hidden layer; empty: channels in all")
    n_layers: Power = Field(6, description="layers of the trained model")
    kernel_size: Whole = Field(2, description="taps per layer")
    n_spaces: Annotated[Count, Ge(2)] = Field(100, description="random constraint spaces in each sweep")
    n_samples: Annotated[Count, Ge(2)] = Field(20_000, description="random errors in the simulation of Eq. 6")
    seed: Seed = Field(0, description="of all random draws")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        check_layers("channels_by_layer", [self.channels_by_layer or self.channels], self.n_layers)
        return self
