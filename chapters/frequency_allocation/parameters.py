"""What the parameters of ``notebooks/frequency_allocation.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Models, Power, Seed, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/frequency_allocation.ipynb``."""

    channel_list: Models = Field(
        [1, 2, 4, 8],
        description="channels of the hierarchical models, a model each; an entry may list its hidden layers",
    )
    n_layers: Annotated[Power, Field(ge=4, description="layers of two taps, so that there are 2**n_layers inputs")] = 6
    longest: Annotated[
        Power, Field(ge=6, description="layers of the longest window whose eigenvectors are compared")
    ] = 8
    n_draws: Count = Field(60, description="random parameter vectors")
    seed: Seed = Field(0, description="of all random draws")
