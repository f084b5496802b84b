"""What the parameters of ``notebooks/scaling_conjecture_recurrent.ipynb`` may be."""

from typing import Annotated, Self

from annotated_types import Ge, Gt, Len, MinLen
from pydantic import Field, model_validator

from chapters.kit.least_memory import Size
from chapters.kit.parameters import Count, Declaration, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_conjecture_recurrent.ipynb``."""

    n_steps: Annotated[Count, Ge(2)] = Field(256, description="N, steps of the network whose forgetting is followed")
    alpha: Annotated[float, Gt(0.6932)] = Field(
        1.0,
        description="what all inputs together take of the capacity on its way, Eq. 30, enough for memory to halve",
    )
    n_units: Annotated[Width, Ge(3)] = Field(64, description="units of the state")
    lengths: Annotated[list[Annotated[Count, Ge(2)]], MinLen(2), Size.COUNT] = Field(
        [16, 64, 256, 1024], description="numbers of steps at which growth is measured"
    )
    compared: Annotated[list[Count], Len(2, 2)] = Field(
        [64, 1024], description="two of them, the shorter first, whose gains should agree if there is a limit"
    )
    exponents: list[float] = Field([0.25, 0.5, 0.75, 1.0], description="a: transitions are 1 + A/N^a")
    n_draws: Annotated[Count, Ge(2)] = Field(40, description="of random matrices")
    seed: Seed = Field(0, description="of all random draws but the stored ones")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        from chapters.scaling_conjecture_recurrent.study import compared_lengths

        compared_lengths(self.compared, sorted(set(self.lengths)))
        if self.alpha > self.n_steps:
            raise ValueError(f"alpha: found {self.alpha:g}, expected at most n_steps = {self.n_steps}, one per step.")
        return self
