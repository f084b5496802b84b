"""What the parameters of ``notebooks/receptive_field.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/receptive_field.ipynb``."""

    deepest: Annotated[Count, Field(ge=32, description="layers of the deepest stack")] = 4096
    jump: float = Field(0.25, gt=0, le=0.5, description="squared weight at either side where it stays fixed")
    rate: float = Field(1.0, gt=0, le=4, description="a, where it is a/N: jumps to either side over the whole network")
    channels: Width = Field(8, description="of the random networks")
    network_depth: Annotated[Depth, Field(ge=32, description="layers of the deepest random network")] = 512
    network_jump: float = Field(0.5, gt=0, lt=1, description="squared scale of its residual branches")
    draws: Annotated[Count, Field(ge=2, description="random networks of every depth")] = 32
    wide: Width = Field(32, description="channels of the wider ones, of which a quarter as many are drawn")
    seed: Seed = Field(0, description="of all random draws")
