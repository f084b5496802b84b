"""What the parameters of ``notebooks/spectra_counterexample.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Seed


class Parameters(Declaration):
    """Parameters of ``notebooks/spectra_counterexample.ipynb``."""

    n_resamples: Annotated[Count, Ge(99)] = Field(9_999, description="of the bootstrap over layers")
    seed: Seed = Field(0, description="of the bootstrap")
