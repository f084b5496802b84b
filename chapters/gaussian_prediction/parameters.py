"""What the parameters of ``notebooks/gaussian_prediction.ipynb`` may be."""

from typing import Annotated, Self

from annotated_types import Ge
from pydantic import Field, model_validator

from chapters.kit.parameters import Count, Models, Power, Seed, Whole, Width, WithProcess, check_layers


class Parameters(WithProcess):
    """Parameters of ``notebooks/gaussian_prediction.ipynb``."""

    channel_list: Models = Field([1, 2, 4], description="channels, a model each; an entry may list its hidden layers")
    n_layers: Power = Field(6, description="layers of every model")
    kernel_size: Whole = Field(2, description="taps per layer")
    wide_channels: Width = Field(8, description="channels of a model wide enough to attain the target")
    n_samples: Annotated[Count, Ge(2)] = Field(100_000, description="windows of the process drawn to check the loss")
    seed: Seed = Field(0, description="of everything random")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        check_layers("channel_list", self.channel_list, self.n_layers)
        return self
