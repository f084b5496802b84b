"""What the parameters of ``notebooks/trained_capacity.ipynb`` may be."""

from typing import Annotated, Literal

from annotated_types import Ge
from pydantic import Field

from chapters.kit.parameters import Count, Declaration, Seed


class Parameters(Declaration):
    """Parameters of ``notebooks/trained_capacity.ipynb``."""

    source: Literal["power law", "fractional Gaussian noise", "rational quadratic", "damped cosine"] = Field(
        "power law", description="of the stack trained on this page"
    )
    warped: bool = Field(True, description="whether values are seen as sign(v)|v|^1.5")
    units: Literal["tanh", "gated"] = Field("tanh", description="of that stack")
    n_examples: Annotated[Count, Ge(200)] = Field(800, description="windows that it learns")
    seed: Seed = Field(0, description="of windows and first weights")
