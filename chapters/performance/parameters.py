"""What the parameters of ``notebooks/performance.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Declaration, Power, Seed, Whole, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/performance.ipynb``."""

    threads: Whole = Field(1, description="BLAS threads of the stored run that is shown")
    more_threads: Whole = Field(2, description="those of the run it is compared with")
    n_layers: Annotated[
        Power, Field(ge=2, description="layers of kernel size 2 of the model that is computed here, four ways")
    ] = 10
    channels: Width = Field(4, description="its hidden channels")
    seed: Seed = Field(0, description="of all random draws")
