"""What the parameters of ``notebooks/along_training.ipynb`` may be."""

from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/along_training.ipynb``."""

    activation: Literal["relu", "tanh"] = Field("tanh", description="of the untrained network whose rank is taken")
    width: Width = Field(16, description="units in each of its two hidden layers")
    n_images: Annotated[Count, Ge(20), Le(1437)] = Field(300, description="images on which the rank is taken")
    seed: Seed = Field(0, description="of its weights")
