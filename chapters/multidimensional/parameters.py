"""What the parameters of ``notebooks/multidimensional.ipynb`` may be."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from chapters.kit.parameters import Ascending, Declaration, Family, Power, Seed, Whole


class Parameters(Declaration):
    """Parameters of ``notebooks/multidimensional.ipynb``."""

    process: Family = Field("PowerLaw", description="family of all components")
    low: float | None = Field(None, description="its parameter in the first component; None: as stored")
    high: float | None = Field(None, description="and in the last; None: as stored")
    dims: Annotated[Ascending, Field(min_length=2)] = Field(
        [1, 4, 16], description="components per position, ascending"
    )
    channel_list: Ascending = Field(
        [1, 2, 4, 8, 16], description="channels of every hidden layer, a model each, ascending"
    )
    base_channels: Ascending = Field([1, 2, 4], description="c₀ of the scaling c = c₀√d, ascending")
    n_layers: Annotated[Power, Field(ge=2, description="layers")] = 6
    kernel_size: Whole = Field(2, description="taps per layer")
    seed: Seed = Field(0, description="of all random draws")

    @model_validator(mode="after")
    def _spread(self) -> Self:
        from chapters.multidimensional.experiment import spread_components

        spread_components(self.process, 2, self.low, self.high)
        return self
