"""What the parameters of ``notebooks/feature_space.ipynb`` may be."""

from typing import Annotated, Literal

from annotated_types import Ge, MinLen
from pydantic import Field

from chapters.kit.parameters import Count, Positive, Power, Process, Seed, Width, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/feature_space.ipynb``."""

    picture_process: Process = Field("DampedCosine", description="family of the first picture")
    bases: Annotated[list[Literal["Hermite", "Monomials", "Fourier", "PiecewiseLinear"]], MinLen(1)] = Field(
        ["Hermite", "Fourier", "PiecewiseLinear"], description="features to compare"
    )
    count: Width = Field(3, description="features per input, d")
    period: Positive = Field(8.0, description="of the first Fourier features, in standard deviations")
    target: Literal["value", "square", "square plus value", "cube", "absolute value", "sign"] = Field(
        "square plus value", description="function of the next value to predict"
    )
    channels: Width = Field(2, description="hidden channels")
    n_layers: Power = Field(4, description="layers of kernel size 2")
    n_samples: Annotated[Count, Ge(2)] = Field(100_000, description="samples behind the second route to the covariance")
    seed: Seed = Field(0, description="of all random draws")
