"""What the parameters of ``notebooks/hierarchical_layers.ipynb`` may be."""

from typing import Annotated, Self

from annotated_types import Ge
from pydantic import Field, model_validator

from chapters.kit.parameters import ByLayer, Count, Power, Seed, Whole, Width, WithProcess, check_layers


class Parameters(WithProcess):
    """Parameters of ``notebooks/hierarchical_layers.ipynb``."""

    channels: Width = Field(4, description="hidden channels")
    channels_by_layer: ByLayer = Field([], description="hidden channels of each hidden layer; empty: channels in all")
    n_layers: Annotated[Power, Ge(2)] = Field(6, description="layers")
    kernel_size: Whole = Field(2, description="taps per layer")
    n_draws: Count = Field(12, description="parameter vectors that give the same model")
    seed: Seed = Field(0, description="of all random draws")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        check_layers("channels_by_layer", [self.channels_by_layer or self.channels], self.n_layers)
        return self
