"""What the parameters of ``notebooks/idea.ipynb`` may be."""

from pydantic import Field

from chapters.kit.parameters import Declaration, Process, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/idea.ipynb``."""

    correlation: float = Field(0.5, gt=-1, lt=1, description="of two inputs")
    channels: Width = Field(1, description="of the model that reads 64 inputs")
    process: Process = Field("PowerLaw", description="family of the series that it predicts")
