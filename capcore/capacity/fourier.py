"""Real Fourier modes of a window of inputs: the directions of a frequency analysis (paper 1, §4.3).

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


def mode_frequencies(n_inputs: int) -> np.ndarray:
    """(n,) index into :func:`fourier_frequencies` of every column of :func:`fourier_modes`.

    >>> mode_frequencies(5).tolist(), mode_frequencies(4).tolist()
    ([0, 1, 1, 2, 2], [0, 1, 1, 2])
    """
    return (np.arange(positive_integer(n_inputs, "n_inputs")) + 1) // 2


def fourier_modes(n_inputs: int) -> np.ndarray:
    """(n, n) orthonormal real Fourier modes as columns: constant, cosine and sine of 1/n, of 2/n, …

    >>> modes = fourier_modes(5)
    >>> bool(np.allclose(modes.T @ modes, np.eye(5)))
    True
    """
    index = mode_frequencies(n_inputs)
    angles = 2 * np.pi * np.arange(n_inputs)[:, None] * index / n_inputs
    is_sine = (np.arange(n_inputs) % 2 == 0) & (index > 0)
    modes = np.where(is_sine, np.sin(angles), np.cos(angles))
    return modes / np.linalg.norm(modes, axis=0)


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
