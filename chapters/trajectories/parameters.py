"""What the parameters of ``notebooks/trajectories.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/trajectories.ipynb``."""

    width: Annotated[Width, Field(ge=2, description="inputs, and units of every hidden layer")] = 32
    n_layers: Annotated[Depth, Field(ge=2, description="hidden layers")] = 8
    n_networks: Annotated[Count, Field(ge=3, description="random networks behind every mean")] = 100
    seed: Seed = Field(0, description="of all random draws")
