"""What the parameters of ``notebooks/layer_redundancy.ipynb`` may be."""

from pydantic import Field

from chapters.kit.parameters import ByLayer, Count, Power, Seed, Width, Widths, WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/layer_redundancy.ipynb``."""

    channel_list: Widths = Field([2, 4], description="channels of the models whose layers are frozen")
    shown_channels: Widths = Field([2, 3, 4], description="channels of the models whose redundant sets are listed")
    guided: ByLayer = Field([2, 4, 6, 4, 2], description="hidden channels of the guided design")
    uniform: Width = Field(4, description="hidden channels of the uniform design")
    n_layers: Power = Field(6, description="layers")
    n_subsets: Count = Field(200, description="random sets of parameters")
    n_values: Count = Field(200, description="random values of a frozen weight")
    n_draws: Count = Field(10, description="random values of frozen layers")
    n_starts: Count = Field(5, description="random starts for each of them")
    seed: Seed = Field(0, description="of all random draws")
