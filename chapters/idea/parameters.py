"""What the parameters of ``notebooks/idea.ipynb`` may be."""

from typing import Annotated

from annotated_types import Gt, Lt
from pydantic import Field

from chapters.kit.parameters import Declaration, Process, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/idea.ipynb``."""

    correlation: Annotated[float, Gt(-1), Lt(1)] = Field(0.5, description="of two inputs")
    channels: Width = Field(2, description="of the model that reads 64 inputs")
    process: Process = Field("PowerLaw", description="family of the series that it predicts")
