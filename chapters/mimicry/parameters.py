"""What the parameters of ``notebooks/mimicry.ipynb`` may be."""

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Depth, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/mimicry.ipynb``."""

    teacher_layers: Depth = Field(3, description="hidden layers of the teacher that is mimicked live")
    teacher_width: Width = Field(32, description="units in each of them")
    n_trials: Annotated[Count, Ge(2)] = Field(3, description="students of every kind for it")
    n_steps: Count = Field(1000, description="that each of them is trained")
