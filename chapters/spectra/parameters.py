"""What the parameters of ``notebooks/spectra.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Positive, Seed, Whole, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/spectra.ipynb``."""

    width: Annotated[Width, Ge(128)] = Field(256, description="units of both hidden layers")
    epochs: Whole = Field(60, description="passes over the training images")
    decay: Annotated[float, Ge(0)] = Field(1.0, description="weight decay of one network, scikit-learn's alpha")
    fast_rate: Positive = Field(1e-2, description="learning rate of another; the others have 0.001")
    n_draws: Annotated[Count, Ge(20)] = Field(400, description="random matrices of each shape")
    n_resamples: Annotated[Count, Ge(20)] = Field(400, description="of the bootstrap")
    n_seeds: Count = Field(5, description="trainings of all networks, with seeds from the next one on")
    seed: Seed = Field(0, description="of weights, batches, labels and all other draws")
