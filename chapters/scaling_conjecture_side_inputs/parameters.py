"""What the parameters of ``notebooks/scaling_conjecture_side_inputs.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_conjecture_side_inputs.ipynb``."""

    units: Annotated[Width, Ge(2)] = Field(16, description="of the linear networks whose capacity is computed here")
    layers: Annotated[Depth, Ge(2)] = Field(64, description="of these networks")
    draws: Annotated[Count, Ge(3)] = Field(16, description="of them")
    samples: Annotated[Count, Ge(2)] = Field(4_000, description="random signs for the law of biases")
    bias_layers: Annotated[Count, Ge(2)] = Field(256, description="of the network with random signs")
    seed: Seed = Field(0, description="of all random draws but the stored ones")
