"""What the parameters of ``notebooks/design_certificate.ipynb`` may be."""

from typing import Annotated

from pydantic import Field

from chapters.kit.parameters import Count, Declaration


class Parameters(Declaration):
    """Parameters of ``notebooks/design_certificate.ipynb``."""

    n_inputs: Annotated[Count, Field(ge=4, le=128, description="days that a forecast sees")] = 16
    max_params: Annotated[Count, Field(ge=4, description="weights at most")] = 12
