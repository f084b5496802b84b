"""What the parameters of ``notebooks/random_signs.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Positive, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/random_signs.ipynb``."""

    width: Annotated[Width, Ge(3)] = Field(
        16, description="units of a dense layer, and positions of a convolutional one"
    )
    channels: Width = Field(2, description="of the convolutional network")
    n_layers: Annotated[Depth, Ge(3)] = Field(
        5, description="matrices, of which all but the uppermost are followed by an activation"
    )
    frequency: Positive = Field(50.0, description="ω of the sine units sin(ωx)")
    n_draws: Annotated[Count, Ge(200)] = Field(20_000, description="of signs, or of inputs")
    n_networks: Count = Field(20, description="in the picture over depth")
    seed: Seed = Field(0, description="of all random draws")
