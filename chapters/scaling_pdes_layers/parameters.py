"""What the parameters of ``notebooks/scaling_pdes_layers.ipynb`` may be."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from chapters.kit.parameters import Count, Declaration, Depths, Positive


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_pdes_layers.ipynb``."""

    diffusion: Positive = Field(
        4.0, description="D, in positions squared: jumps to either neighbour at rate D over the whole network"
    )
    depths: Depths = Field([2**k for k in range(3, 13)], description="layers L, the output layer included")
    spreads: list[Positive] = Field(
        [1, 2, 4, 8, 16, 32, 64], min_length=2, description="further diffusion coefficients, for the limit of large D"
    )
    very_deep: Annotated[Count, Field(ge=2, description="layers where depth is to be no limit")] = 2**20
    leak: Positive = Field(1.5, description="α, constant, and the mean of the α(t) that grows with t")
    strengths: list[Annotated[float, Field(ge=0)]] = Field(
        [1.0, 0.25, 0.75, 0.5],
        min_length=1,
        description="capacity of the layers, in equal parts of the network from the output down",
    )

    @model_validator(mode="after")
    def _capacity_can_move(self) -> Self:
        from chapters.scaling_pdes import study
        from chapters.scaling_pdes_layers.leaks import checked_slope

        rates = study.neighbours(self.diffusion)
        everywhere = study.usable_depths(self.depths, study.neighbours(0.25))
        study.usable_depths(self.depths, rates)
        study.usable_depths([self.very_deep], rates, 1)
        study.checked_spreads(self.spreads), checked_slope(self.leak, everywhere[0])
        if not any(self.strengths):
            raise ValueError(f"strengths: found {self.strengths}, expected a number above 0 among them.")
        return self
