"""What the parameters of ``notebooks/effective_complexity.ipynb`` may be."""

from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Positive, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/effective_complexity.ipynb``."""

    activation: Literal["relu", "tanh"] = Field("relu", description="of the two networks trained here")
    width: Width = Field(64, description="units in each of their two hidden layers")
    n_images: Annotated[Count, Ge(20), Le(1437)] = Field(600, description="training images")
    learning_rate: Positive = Field(0.002, description="of Adam")
    n_epochs: Count = Field(100, description="passes over the images")
    error: Annotated[float, Ge(1e-9)] = Field(0.1, description="of the tangents of a tanh in the picture")
    seed: Seed = Field(0, description="of the networks trained here, and of the random networks behind the checks")
