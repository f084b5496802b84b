"""What the parameters of ``notebooks/linear_systems.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import ByLayer, Count, Power, Seed, Whole, Width, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/linear_systems.ipynb``."""

    channels: Width = Field(4, description="hidden channels")
    channels_by_layer: ByLayer = Field([], description="hidden channels of each hidden layer; empty: channels in all")
    n_layers: Power = Field(6, description="layers of the trained model")
    kernel_size: Whole = Field(2, description="taps per layer")
    n_spaces: Annotated[Count, Field(ge=2, description="random constraint spaces in each sweep")] = 100
    n_samples: Annotated[Count, Field(ge=2, description="random errors in the simulation of Eq. 6")] = 20_000
    seed: Seed = Field(0, description="of all random draws")
