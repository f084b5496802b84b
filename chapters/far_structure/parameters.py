"""What the parameters of ``notebooks/far_structure.ipynb`` may be."""

from typing import Literal

from pydantic import Field

from chapters.far_structure.series import NULLS, SERIES
from chapters.kit.parameters import Declaration


class Parameters(Declaration):
    """Parameters of ``notebooks/far_structure.ipynb``."""

    source: Literal[(*SERIES, *NULLS)] = Field(  # type: ignore[valid-type]
        "warped season", description="series of the run on this page, one of the first picture"
    )
    units: Literal["linear", "tanh", "gated"] = Field("tanh", description="of the stack that is trained")
