"""What the parameters of ``notebooks/hierarchical_errors.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import ByLayer, Count, Models, Seed, Whole, Width, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/hierarchical_errors.ipynb``."""

    channels: Width = Field(4, description="hidden channels")
    channels_by_layer: ByLayer = Field([], description="hidden channels of each hidden layer; empty: channels in all")
    n_runs: Annotated[Count, Field(ge=2, description="live runs of L-BFGS-B from random starts")] = 10
    max_iterations: Whole = Field(300, description="of each of them")
    n_converged: Annotated[Count, Field(ge=2, description="live runs of Gauss–Newton from random starts")] = 30
    channel_sweep: Models = Field(
        [1, 2, 4], description="channels in the comparison of the two forces; an entry may list its five hidden layers"
    )
    seed: Seed = Field(0, description="of all random draws")
