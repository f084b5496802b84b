"""What the parameters of ``notebooks/far_structure.ipynb`` may be."""

from typing import Literal

from pydantic import Field

from chapters.kit.parameters import Declaration


class Parameters(Declaration):
    """Parameters of ``notebooks/far_structure.ipynb``."""

    source: Literal[
        "fractional Gaussian noise", "power law", "warped season", "two warped seasons", "threshold autoregression",
        "Mackey–Glass", "Lorenz", "switching levels", "volume of trade", "membrane current", "elevation", "head scan",
        "temple", "flower", "white noise", "AR(1)", "shuffled volume",
    ] = Field("warped season", description="series of the run on this page, one of the first picture")  # fmt: skip
    units: Literal["linear", "tanh", "gated"] = Field("tanh", description="of the stack that is trained")
