"""What the parameters of ``notebooks/hierarchical_errors.ipynb`` may be."""

from typing import Annotated, Self

from annotated_types import Ge
from pydantic import Field, model_validator

from chapters.kit.parameters import ByLayer, Count, Models, Seed, Whole, Width, WithProcess, check_layers


class Parameters(WithProcess):
    """Parameters of ``notebooks/hierarchical_errors.ipynb``."""

    channels: Width = Field(4, description="hidden channels")
    channels_by_layer: ByLayer = Field([], description="hidden channels of each hidden layer; empty: channels in all")
    n_runs: Annotated[Count, Ge(2)] = Field(10, description="live runs of L-BFGS-B from random starts")
    max_iterations: Whole = Field(300, description="of each of them")
    n_converged: Annotated[Count, Ge(2)] = Field(30, description="live runs of Gauss–Newton from random starts")
    channel_sweep: Models = Field(
        [1, 2, 4], description="channels in the comparison of the two forces; an entry may list its five hidden layers"
    )
    seed: Seed = Field(0, description="of all random draws")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        check_layers("channels_by_layer", [self.channels_by_layer or self.channels], n_layers=6)
        check_layers("channel_sweep", self.channel_sweep, n_layers=6)
        return self
