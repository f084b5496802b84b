"""What the parameters of ``notebooks/audio_scale.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Positive, Power, Seed, Width, Widths, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/audio_scale.ipynb``."""

    n_layers: Annotated[Power, Field(ge=7, description="layers of kernel size 2: 2**n_layers inputs")] = 14
    channels: Width = Field(4, description="hidden channels of every layer")
    widths: Widths = Field([1, 2, 4, 8], description="numbers of channels to compare")
    sample_rate: Positive = Field(16_000.0, description="of the audio, in Hz")
    seed: Seed = Field(0, description="of all random draws")
