"""What the parameters of ``notebooks/five_families.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Declaration, Family, Power, Seed, Width


class Parameters(Declaration):
    """Parameters of ``notebooks/five_families.ipynb``."""

    process: Family = Field("PowerLaw", description="family of the hierarchical models that are recomputed here")
    n_layers: Annotated[Power, Field(ge=2, description="their layers")] = 4
    channels: Width = Field(2, description="their hidden channels")
    seed: Seed = Field(0, description="of their fits")
