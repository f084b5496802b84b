"""What the parameters of ``notebooks/your_trained_network.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge, Le
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Positive, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/your_trained_network.ipynb``."""

    width: Annotated[Width, Ge(2)] = Field(10, description="units of the hidden layer")
    n_images: Annotated[Count, Ge(100), Le(1437)] = Field(300, description="training images")
    decay: Positive = Field(
        1.0,
        description="weight decay beside the sum of the losses: without it the images can be fitted whatever they show",
    )
    seed: Seed = Field(0, description="of the first weights")
