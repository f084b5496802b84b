"""What the parameters of ``notebooks/spectra_accuracy.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Seed


class Parameters(Declaration):
    """Parameters of ``notebooks/spectra_accuracy.ipynb``."""

    n_studies: Annotated[Count, Ge(20)] = Field(200, description="simulated tables")
    knows: float = Field(1.0, description="weight of quality in the second simulated metric; 0 is nothing but size")
    seed: Seed = Field(0, description="of all random draws")
