"""What the parameters of ``notebooks/cumulated_capacity.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Power, Seed, Whole, Width, Widths, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/cumulated_capacity.ipynb``."""

    channels: Width = Field(4, description="of every hidden layer")
    widths: Widths = Field([1, 2, 4, 8], description="numbers of channels that are compared; 1 always is")
    n_layers: Annotated[Power, Field(ge=2, description="layers")] = 6
    kernel_size: Whole = Field(2, description="taps per layer")
    n_draws: Annotated[Count, Field(ge=2, description="of random signs")] = 2_000
    n_rotations: Count = Field(20, description="of the hidden channels")
    seed: Seed = Field(0, description="of all random draws")
