"""What the parameters of ``notebooks/hierarchical.ipynb`` may be."""

from pydantic import Field

from chapters.kit.parameters import Models, Seed, Whole, Width, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/hierarchical.ipynb``."""

    channel_list: Models = Field(
        [1, 2, 4, 8, 16, 32, 64, 128, 256],
        description="channels, a model each; an entry may list its five hidden layers",
    )
    large: Width = Field(512, description="channels of the model with millions of parameters")
    max_iterations: Whole = Field(2000, description="of L-BFGS-B")
    seed: Seed = Field(0, description="of all random draws")
