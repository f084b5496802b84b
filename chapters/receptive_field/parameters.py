"""What the parameters of ``notebooks/receptive_field.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/receptive_field.ipynb``."""

    deepest: Annotated[Count, Ge(32)] = Field(4096, description="layers of the deepest stack")
    jump: Annotated[float, Gt(0), Le(0.5)] = Field(
        0.25, description="squared weight at either side where it stays fixed"
    )
    rate: Annotated[float, Gt(0), Le(4)] = Field(
        1.0, description="a, where it is a/N: jumps to either side over the whole network"
    )
    channels: Width = Field(8, description="of the random networks")
    network_depth: Annotated[Depth, Ge(32)] = Field(512, description="layers of the deepest random network")
    network_jump: Annotated[float, Gt(0), Lt(1)] = Field(0.5, description="squared scale of its residual branches")
    draws: Annotated[Count, Ge(2)] = Field(32, description="random networks of every depth")
    wide: Width = Field(32, description="channels of the wider ones, of which a quarter as many are drawn")
    seed: Seed = Field(0, description="of all random draws")
