"""What the parameters of ``notebooks/scaling_conjecture_recurrent.ipynb`` may be."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from chapters.kit.parameters import Count, Declaration, Depths, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_conjecture_recurrent.ipynb``."""

    n_steps: Annotated[Count, Field(ge=2, description="N, steps of the network whose forgetting is followed")] = 256
    alpha: float = Field(
        1.0,
        gt=0.6932,
        description="what all inputs together take of the capacity on its way, Eq. 30, enough for memory to halve",
    )
    n_units: Annotated[Width, Field(ge=3, description="units of the state")] = 64
    lengths: Depths = Field([16, 64, 256, 1024], description="numbers of steps at which growth is measured")
    compared: list[Count] = Field(
        [64, 1024],
        min_length=2,
        max_length=2,
        description="two of them, the shorter first, whose gains should agree if there is a limit",
    )
    exponents: list[float] = Field([0.25, 0.5, 0.75, 1.0], description="a: transitions are 1 + A/N^a")
    n_draws: Annotated[Count, Field(ge=2, description="of random matrices")] = 40
    seed: Seed = Field(0, description="of all random draws but the stored ones")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        from chapters.scaling_conjecture_recurrent.study import compared_lengths

        compared_lengths(self.compared, sorted(set(self.lengths)))
        if self.alpha > self.n_steps:
            raise ValueError(f"alpha: found {self.alpha:g}, expected at most n_steps = {self.n_steps}, one per step.")
        return self
