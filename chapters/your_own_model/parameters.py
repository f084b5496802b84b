"""What the parameters of ``notebooks/your_own_model.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge, MultipleOf
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Path, Seed, Square, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/your_own_model.ipynb``."""

    series: Path = Field(
        "", description="path of a .csv, .npy or .npz file with a series; empty: Google's daily volume of trade"
    )
    column: str = Field("", description="its column; empty: the only numeric one, and Google's volume without a series")
    logarithm: bool = Field(True, description="take the logarithm of the series")
    n_inputs: Annotated[Square, Ge(16), MultipleOf(8)] = Field(64, description="inputs of the models")
    channels: Width = Field(1, description="of the gated network")
    n_bootstrap: Count = Field(30, description="simulated series")
    seed: Seed = Field(0, description="of all random draws")
