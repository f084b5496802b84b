"""What the parameters of ``notebooks/trajectories.ipynb`` may be."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/trajectories.ipynb``."""

    width: Annotated[Width, Ge(2)] = Field(32, description="inputs, and units of every hidden layer")
    n_layers: Annotated[Depth, Ge(2)] = Field(8, description="hidden layers")
    n_networks: Annotated[Count, Ge(3)] = Field(100, description="random networks behind every mean")
    seed: Seed = Field(0, description="of all random draws")
