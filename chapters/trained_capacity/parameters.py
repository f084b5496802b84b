"""What the parameters of ``notebooks/trained_capacity.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge, Le
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Positive, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/trained_capacity.ipynb``."""

    channels: Annotated[Width, Le(8)] = Field(4, description="of the TCN that is trained on this page")
    size: Annotated[Positive, Le(1)] = Field(0.2, description="of the event, in units of the network's error")
    steps: Annotated[Count, Ge(100)] = Field(1500, description="of Adam, at first")
    seed: Seed = Field(0, description="of the first weights")
