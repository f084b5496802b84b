"""Capacity of the frequencies of a window of inputs, by real Fourier modes (paper 1, §4.3).

A frequency k/n in cycles per input spans two modes, a cosine and a sine; frequency 0 and, for even n, one half span one
each. A cosine alone depends on where the window starts; the span of the pair does not.
"""

import numpy as np

from capcore.capacity.constraints import ConstraintSpace
from capcore.checks.arguments import positive_integer


def fourier_frequencies(n_inputs: int) -> np.ndarray:
    """(n // 2 + 1,) frequencies 0, 1/n, 2/n, … ≤ ½, in cycles per input.

    >>> fourier_frequencies(4).tolist()
    [0.0, 0.25, 0.5]
    """
    return np.fft.rfftfreq(positive_integer(n_inputs, "n_inputs"))


def per_frequency(space: ConstraintSpace, input_dim: int = 1) -> np.ndarray:
    """(n // 2 + 1,) capacity of each frequency, summed over its modes and the components of the inputs.

    The values sum to κ; each is at most the number of its modes times ``input_dim``.

    Parameters
    ----------
    space : ConstraintSpace
        In R^(n · input_dim), position-major.
    input_dim : int
        Components per position.

    Raises
    ------
    ValueError
        If ``input_dim`` does not divide the dimension of the space around it.
    """
    rows = space.n_coefficients
    if rows % positive_integer(input_dim, "input_dim"):
        raise ValueError(f"input_dim: found {input_dim}, expected a divisor of the {rows} rows of the basis.")
    n = rows // input_dim
    spectrum = np.fft.rfft(space.basis.reshape(n, -1), axis=0, norm="ortho")
    power = np.square(np.abs(spectrum)).sum(axis=1)
    power[1 : (n + 1) // 2] *= 2  # the conjugate half
    return power
