"""What the parameters of ``notebooks/double_descent.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge, Le
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Seed, Share


class Parameters(Declaration):
    """Parameters of ``notebooks/double_descent.ipynb``."""

    n_train: Annotated[Count, Ge(40), Le(800)] = Field(
        200, description="training images; numbers of features are multiples of it"
    )
    n_seeds: Annotated[Count, Ge(2)] = Field(20, description="draws of images and features")
    n_draws: Annotated[Count, Ge(10)] = Field(
        200, description="samples drawn at every size, for separation and for the tolerance"
    )
    wrong: Share = Field(0.2, description="share of wrong training labels")
    seed: Seed = Field(0, description="of all random draws")
