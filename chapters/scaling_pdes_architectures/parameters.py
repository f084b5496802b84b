"""What the parameters of ``notebooks/scaling_pdes_architectures.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.least_memory import Size
from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_pdes_architectures.ipynb``."""

    rate: float = Field(1.0, gt=0, le=4, description="a, jumps to either side over the whole network")
    deepest: Annotated[Count, Field(ge=32, description="layers of the deepest network")] = 4096
    layers: Annotated[
        Depth, Field(ge=8, le=500, description="layers of the dilated network that is looked at closely")
    ] = 64
    largest: float = Field(16.0, gt=1, description="R, the fixed ratio of dilations where it is held fixed")
    channel_list: Annotated[list[Annotated[Width, Field(ge=2)]], Size.WIDTH] = Field(
        [2, 4, 8, 16], min_length=1, description="numbers of channels"
    )
    seed: Seed = Field(0, description="of all random draws")
