"""What the parameters of ``notebooks/hierarchical_layers.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import ByLayer, Count, Power, Seed, Whole, Width, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/hierarchical_layers.ipynb``."""

    channels: Width = Field(4, description="hidden channels")
    channels_by_layer: ByLayer = Field([], description="hidden channels of each hidden layer; empty: channels in all")
    n_layers: Annotated[Power, Field(ge=2, description="layers")] = 6
    kernel_size: Whole = Field(2, description="taps per layer")
    n_draws: Count = Field(12, description="parameter vectors that give the same model")
    seed: Seed = Field(0, description="of all random draws")
