"""What the parameters of ``notebooks/events.ipynb`` may be."""

from typing import Annotated

from annotated_types import Le
from pydantic import Field

from chapters.kit.parameters import Declaration, Positive, Process, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/events.ipynb``."""

    process: Process = Field("PowerLaw", description="family of the series")
    channels: Annotated[Width, Le(4)] = Field(1, description="of the stack that reads 64 inputs")
    size: Annotated[Positive, Le(1)] = Field(0.1, description="of the event, in units of the least forecast error")
