"""What the parameters of ``notebooks/hierarchical.ipynb`` may be."""

from typing import Self

from pydantic import Field, model_validator

from chapters.kit.parameters import Models, Seed, Whole, Width, WithProcess, check_layers


class Parameters(WithProcess):
    """Parameters of ``notebooks/hierarchical.ipynb``."""

    channel_list: Models = Field(
        [1, 2, 4, 8, 16, 32, 64, 128, 256],
        description="channels, a model each; an entry may list its five hidden layers",
    )
    large: Width = Field(512, description="channels of the model with millions of parameters")
    max_iterations: Whole = Field(2000, description="of L-BFGS-B")
    seed: Seed = Field(0, description="of all random draws")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        check_layers("channel_list", self.channel_list, n_layers=6)
        return self
