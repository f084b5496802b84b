"""What the parameters of ``notebooks/early_stopping.ipynb`` may be."""

from chapters.kit.parameters import WithProcess


class Parameters(WithProcess):
    """Parameters of ``notebooks/early_stopping.ipynb``."""
