"""What the parameters of ``notebooks/feature_space.ipynb`` may be."""

from typing import Annotated, Literal

from pydantic import Field

from chapters.kit.parameters import Count, Positive, Power, Process, Seed, Width, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/feature_space.ipynb``."""

    picture_process: Process = Field("DampedCosine", description="family of the first picture")
    bases: list[Literal["Hermite", "Monomials", "Fourier", "PiecewiseLinear"]] = Field(
        ["Hermite", "Fourier", "PiecewiseLinear"], min_length=1, description="features to compare"
    )
    count: Width = Field(3, description="features per input, d")
    period: Positive = Field(8.0, description="of the first Fourier features, in standard deviations")
    target: Literal["value", "square", "square plus value", "cube", "absolute value", "sign"] = Field(
        "square plus value", description="function of the next value to predict"
    )
    channels: Width = Field(2, description="hidden channels")
    n_layers: Power = Field(4, description="layers of kernel size 2")
    n_samples: Annotated[Count, Field(ge=2, description="samples behind the second route to the covariance")] = 100_000
    seed: Seed = Field(0, description="of all random draws")
