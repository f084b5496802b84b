"""What the parameters of ``notebooks/mimicry.ipynb`` may be."""

from pydantic import Field

from chapters.kit.parameters import Declaration, Depth, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/mimicry.ipynb``."""

    teacher_layers: Depth = Field(3, description="hidden layers of the teacher that is mimicked live")
    teacher_width: Width = Field(32, description="units in each of them")
