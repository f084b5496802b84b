"""What the parameters of ``notebooks/frequency_allocation.ipynb`` may be."""

from typing import Annotated, Self

from annotated_types import Ge
from pydantic import Field, model_validator

from chapters.kit.parameters import Count, Models, Power, Seed, WithProcess, check_layers


class Parameters(WithProcess):
    """Parameters of ``notebooks/frequency_allocation.ipynb``."""

    channel_list: Models = Field(
        [1, 2, 4, 8],
        description="channels of the hierarchical models, a model each; an entry may list its hidden layers",
    )
    n_layers: Annotated[Power, Ge(4)] = Field(6, description="layers of two taps, so that there are 2**n_layers inputs")
    longest: Annotated[Power, Ge(6)] = Field(
        8, description="layers of the longest window whose eigenvectors are compared"
    )
    n_draws: Count = Field(60, description="random parameter vectors")
    seed: Seed = Field(0, description="of all random draws")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        check_layers("channel_list", self.channel_list, self.n_layers)
        return self
