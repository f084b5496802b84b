"""What the parameters of ``notebooks/scaling_pdes.ipynb`` may be."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from chapters.kit.parameters import Count, Declaration, Depths, Positive, Whole


def _whole_keys(value: Any) -> Any:
    """Offsets may be text, as in a JSON file and in what papermill injects."""
    whole = isinstance(value, dict) and all(re.fullmatch(r"-?\d{1,9}", str(offset)) for offset in value)
    return {int(offset): rate for offset, rate in value.items()} if whole else value


Rates = Annotated[dict[int, Annotated[float, Field(ge=0)]], Field(min_length=1), BeforeValidator(_whole_keys)]


class Parameters(Declaration):
    """Parameters of ``notebooks/scaling_pdes.ipynb``."""

    kernel: Rates = Field(
        {-1: 1.0, 1: 1.0}, description="rates of the jumps by offset, over the whole network; they set D and the drift"
    )
    depths: Depths = Field([2**k for k in range(3, 13)], description="layers L, the output layer included")
    spreads: list[Positive] = Field(
        [1, 2, 4, 8, 16, 32, 64], min_length=2, description="diffusion coefficients D, in positions squared"
    )
    very_deep: Annotated[Count, Field(ge=2, description="layers where depth is to be no limit")] = 2**20
    boundary: Literal["absorbing", "reflecting", "renormalised"] = Field(
        "absorbing", description="what the end of a finite input does (zero padding absorbs)"
    )
    n_positions: Count = Field(7, description="positions of the drawn networks")
    drawn_layers: Annotated[Whole, Field(ge=2, description="their layers L")] = 5
    target: list[Whole] = Field(
        [2, 2],
        min_length=2,
        max_length=2,
        description="layer and position, both counted from 1, whose capacity paths are drawn",
    )

    @model_validator(mode="after")
    def _capacity_can_move(self) -> Self:
        from chapters.scaling_pdes import paths, study

        rates = study.rates_of_kernel(self.kernel)
        depths, spreads = study.usable_depths(self.depths, rates), study.checked_spreads(self.spreads)
        for needed in (study.neighbours(spreads[-1]), study.neighbours(4.0, causal=True)):
            study.usable_depths([depths[-1]], needed, 1)
            study.usable_depths([self.very_deep], needed, 1)
        paths.node_of(paths.example("plain", self.n_positions, self.drawn_layers), self.target)
        return self
