"""What the parameters of ``notebooks/scaling_conjecture.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Declaration, Depth, Positive, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_conjecture.ipynb``."""

    width: Width = Field(32, description="channels of the network that is drawn here")
    n_layers: Annotated[Depth, Field(ge=2, description="its layers")] = 512
    exponent: float = Field(0.5, description="a: its blocks have the scale constant / n_layers**a")
    constant: Positive = Field(2.0, description="the factor before that power")
    seed: Seed = Field(0, description="of its weights")
