"""What the parameters of ``notebooks/spectra_choices.ipynb`` may be."""

from typing import Annotated, Literal

from annotated_types import Gt, Lt
from pydantic import Field

from chapters.kit.parameters import Declaration


class Parameters(Declaration):
    """Parameters of ``notebooks/spectra_choices.ipynb``."""

    column: Literal["α, slices", "α, pooled", "α̂"] = Field("α, slices", description="metric of the second picture")
    power: Annotated[float, Gt(0), Lt(1)] = Field(0.8, description="chance with which a correlation should be found")
