"""What the parameters of ``notebooks/spectra_training.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Seed


class Parameters(Declaration):
    """Parameters of ``notebooks/spectra_training.ipynb``."""

    n_resamples: Annotated[Count, Ge(100)] = Field(2_000, description="of the networks of each family, for intervals")
    seed: Seed = Field(0, description="of the resamples; the networks have their own seeds")
