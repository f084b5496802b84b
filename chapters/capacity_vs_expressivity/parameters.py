"""What the parameters of ``notebooks/capacity_vs_expressivity.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/capacity_vs_expressivity.ipynb``."""

    channels: Width = Field(4, description="of the widest linear model that is compared with paper 1")
    n_examples: Annotated[Count, Ge(64)] = Field(640, description="for that comparison")
    seed: Seed = Field(0, description="of all random draws")
