"""What the parameters of ``notebooks/dilated_blocks.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Power, Whole, Width, Widths, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/dilated_blocks.ipynb``."""

    channels: Width = Field(4, description="hidden channels of every layer")
    n_dilations: Power = Field(8, description="dilations 1, 2, 4, … in a block")
    n_blocks: Whole = Field(3, description="how often each dilation occurs")
    widths: Widths = Field([1, 2, 3, 4, 6, 8], description="numbers of channels with exact capacities")
    n_starts: Count = Field(1, description="random starts of a live fit")
    max_iterations: Annotated[Whole, Field(ge=4, description="iterations of a live fit")] = 100
