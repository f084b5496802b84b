"""What the parameters of ``notebooks/gaussian_prediction.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Models, Power, Seed, Whole, Width, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/gaussian_prediction.ipynb``."""

    channel_list: Models = Field([1, 2, 4], description="channels, a model each; an entry may list its hidden layers")
    n_layers: Power = Field(6, description="layers of every model")
    kernel_size: Whole = Field(2, description="taps per layer")
    wide_channels: Width = Field(8, description="channels of a model wide enough to attain the target")
    n_samples: Annotated[Count, Field(ge=2, description="windows of the process drawn to check the loss")] = 100_000
    seed: Seed = Field(0, description="of everything random")
