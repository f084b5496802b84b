"""What the parameters of ``notebooks/scaling_pdes_architectures.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import Field

from chapters.kit.least_memory import Size
from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_pdes_architectures.ipynb``."""

    rate: Annotated[float, Gt(0), Le(4)] = Field(1.0, description="a, jumps to either side over the whole network")
    deepest: Annotated[Count, Ge(32)] = Field(4096, description="layers of the deepest network")
    layers: Annotated[Depth, Ge(8), Le(500)] = Field(
        64, description="layers of the dilated network that is looked at closely"
    )
    largest: Annotated[float, Gt(1)] = Field(16.0, description="R, the fixed ratio of dilations where it is held fixed")
    channel_list: Annotated[list[Annotated[Width, Ge(2)]], MinLen(1), Size.WIDTH] = Field(
        [2, 4, 8, 16], description="numbers of channels"
    )
    seed: Seed = Field(0, description="of all random draws")
