"""What the parameters of ``notebooks/spectra_resnets.ipynb`` may be."""

from typing import Annotated, Literal

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Path, Seed
from chapters.shared.resnets import SOURCES


class Parameters(Declaration):
    """Parameters of ``notebooks/spectra_resnets.ipynb``."""

    network: Literal[tuple(SOURCES)] = Field(  # type: ignore[valid-type]
        "resnet20", description="whose exponents are drawn layer by layer: a name of the table of networks"
    )
    checkpoint: Path = Field("", description="path of one's own, which is drawn in place of that network")
    n_gaussian: Annotated[Count, Ge(100)] = Field(2_000, description="Gaussian matrices of 16 × 16")
    seed: Seed = Field(0, description="of Gaussian weights and of resamples")
