"""What the parameters of ``notebooks/linear_regions.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Positive, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/linear_regions.ipynb``."""

    n_networks: Annotated[Count, Ge(3)] = Field(60, description="random networks behind every mean")
    width: Width = Field(32, description="units of a hidden layer")
    n_layers: Depth = Field(3, description="hidden layers")
    bias_scale: Positive = Field(0.5, description="standard deviation of the biases; weights have √2/√fan-in")
    n_segments: Annotated[Count, Ge(2)] = Field(20, description="segments in each network")
    n_lines: Annotated[Count, Ge(2)] = Field(100, description="random lines through the unit ball in each network")
    seed: Seed = Field(0, description="of all random draws")
