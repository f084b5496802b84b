"""What the parameters of ``notebooks/recurrent.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Seed, Square, Width, Widths, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/recurrent.ipynb``."""

    n_inputs: Annotated[Square, Field(ge=4, description="inputs")] = 64
    channel_list: Widths = Field([1, 2, 4, 8, 16, 32, 64, 128, 256], description="channels, a model each")
    profile_channels: Widths = Field([1, 2, 4, 8], description="models whose profiles are shown")
    law_channels: Width = Field(8, description="1, 2, … up to this many for the law of the loss")
    many: Width = Field(16, description="channels of the model seen in many digits; at most half the inputs are used")
    digits: Annotated[Count, Field(ge=50, description="how many")] = 200
    n_runs: Count = Field(2, description="runs of L-BFGS-B for a process or a window without stored ones")
    seed: Seed = Field(0, description="of all random draws")
