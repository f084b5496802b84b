"""Real Fourier modes: an orthonormal basis, and capacities that do not depend on where the window starts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore import allocate, fit
from capcore.architectures import Hierarchical
from capcore.capacity import fourier
from capcore.capacity.constraints import ConstraintSpace
from capcore.processes import PowerLaw
from chapters.frequency_allocation.study import fourier_modes, mode_frequencies
from tests.strategies import seeds

SIZES = st.integers(1, 24)


def space(n, dimension, seed):
    return ConstraintSpace.from_columns(np.random.default_rng(seed).normal(size=(n, dimension)))


@given(SIZES)
def test_modes_are_orthonormal_and_have_their_frequency(n):
    modes = fourier_modes(n)
    assert modes.T @ modes == pytest.approx(np.eye(n), abs=1e-12)
    power = np.square(np.abs(np.fft.rfft(modes, axis=0)))
    assert power.argmax(axis=0).tolist() == mode_frequencies(n).tolist()
    assert power.max(axis=0) == pytest.approx(power.sum(axis=0)), "nothing at any other frequency"


@pytest.mark.parametrize(
    ("n", "frequencies", "modes"),
    [(1, [0], [[1]]), (2, [0, 0.5], [[1, 1], [1, -1]]), (3, [0, 1 / 3], None), (4, [0, 0.25, 0.5], None)],
)
def test_the_smallest_windows(n, frequencies, modes):
    assert fourier.fourier_frequencies(n) == pytest.approx(frequencies)
    if modes is not None:
        assert fourier_modes(n) == pytest.approx(np.array(modes) / np.sqrt(n))
    whole = fourier.per_frequency(ConstraintSpace.from_columns(np.eye(n)))
    assert whole == pytest.approx(np.bincount(mode_frequencies(n))), "all of R^n: every mode counts one"


@given(SIZES, st.integers(1, 24), st.integers(1, 3), seeds)
def test_the_fast_route_gives_the_capacity_of_the_modes(n, dimension, input_dim, seed):
    found = space(n * input_dim, min(dimension, n * input_dim), seed)
    by_frequency = fourier.per_frequency(found, input_dim)
    modes, index = fourier_modes(n), mode_frequencies(n)
    for k, value in enumerate(by_frequency):
        subspace = np.kron(modes[:, index == k], np.eye(input_dim))
        assert value == pytest.approx(found.capacity(subspace), abs=1e-9)
        assert -1e-9 <= value <= np.count_nonzero(index == k) * input_dim + 1e-9
    assert by_frequency.sum() == pytest.approx(found.dimension)


@given(SIZES, st.integers(1, 24), st.integers(-30, 30), seeds)
def test_a_circular_shift_of_the_window_changes_nothing(n, dimension, shift, seed):
    basis = space(n, min(dimension, n), seed).basis
    one, shifted = (ConstraintSpace.from_columns(np.roll(basis, by, axis=0)) for by in (0, shift))
    assert fourier.per_frequency(shifted) == pytest.approx(fourier.per_frequency(one), abs=1e-10)


def test_of_an_allocation():
    arch = Hierarchical(channels=2, n_layers=4)
    found = allocate(arch, fit(arch, PowerLaw()).params, PowerLaw())
    assert found.per_frequency.shape == found.frequencies.shape == (9,)
    assert found.per_frequency.sum() == pytest.approx(found.total)
    cosine_and_sine = fourier_modes(16)[:, 5:7]
    assert found.per_frequency[3] == pytest.approx(found.capacity(cosine_and_sine))


def test_refusals():
    for function in (fourier.fourier_frequencies,):
        with pytest.raises(ValueError, match="n_inputs: found 0"):
            function(0)
    with pytest.raises(ValueError, match="input_dim: found 2, expected a divisor of the 5 rows"):
        fourier.per_frequency(ConstraintSpace.from_columns(np.eye(5)), 2)
