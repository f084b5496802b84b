"""What the parameters of ``notebooks/pretrained_spectra.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge, Le
from pydantic import Field

from chapters.kit.parameters import Declaration


class Parameters(Declaration):
    """Parameters of ``notebooks/pretrained_spectra.ipynb``."""

    fewest: Annotated[int, Ge(10), Le(256)] = Field(
        10, description="rows and columns, at least, of the layers in the picture"
    )
