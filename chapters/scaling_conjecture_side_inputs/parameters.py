"""What the parameters of ``notebooks/scaling_conjecture_side_inputs.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_conjecture_side_inputs.ipynb``."""

    units: Annotated[Width, Field(ge=2, description="of the linear networks whose capacity is computed here")] = 16
    layers: Annotated[Depth, Field(ge=2, description="of these networks")] = 64
    draws: Annotated[Count, Field(ge=3, description="of them")] = 16
    samples: Annotated[Count, Field(ge=2, description="random signs for the law of biases")] = 4_000
    bias_layers: Annotated[Count, Field(ge=2, description="of the network with random signs")] = 256
    seed: Seed = Field(0, description="of all random draws but the stored ones")
