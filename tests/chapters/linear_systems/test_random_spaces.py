import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.linear_systems.systems import pair_at_angle, random_basis, spanning_columns


@given(st.integers(1, 12), st.data(), st.integers(0, 1000))
def test_a_random_basis_is_orthonormal(n, data, seed):
    k = data.draw(st.integers(1, n))
    basis = random_basis(n, k, np.random.default_rng(seed))
    assert basis.shape == (n, k)
    assert np.allclose(basis.T @ basis, np.eye(k), atol=1e-12)


def test_random_spaces_favour_no_direction(rng):
    """The mean projector is (k/n)·I; each entry's standard error is below 0.01 with 3,000 draws."""
    mean = np.mean([basis @ basis.T for basis in (random_basis(5, 2, rng) for _ in range(3000))], axis=0)
    assert np.allclose(mean, 0.4 * np.eye(5), atol=0.04)


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e3])
def test_spanning_columns_have_the_condition_asked_for_and_one_to_spare(rng, condition):
    basis = random_basis(9, 4, rng)
    columns = spanning_columns(basis, condition, rng)
    values = np.linalg.svd(columns, compute_uv=False)
    assert columns.shape == (9, 5)
    assert values[3] * condition == pytest.approx(values[0])
    assert values[4] < 1e-14
    assert np.allclose(basis @ (basis.T @ columns), columns)


@pytest.mark.parametrize("dimensions", [(2, 5), (5, 2), (3, 3), (1, 1)])
@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.3, np.pi / 2])
def test_a_pair_has_the_smallest_angle_asked_for(rng, dimensions, angle):
    first, second = pair_at_angle(11, dimensions, angle, rng)
    assert (first.shape[1], second.shape[1]) == dimensions
    for basis in (first, second):
        assert np.allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    # sines of the angles from the smaller space to the other: exact near 0, where cosines are not
    small, large = sorted((first, second), key=lambda basis: basis.shape[1])
    sines = np.linalg.svd(small - large @ (large.T @ small), compute_uv=False)
    assert sines.min() == pytest.approx(np.sin(angle), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: random_basis(3, 4, rng), "dimension: found 4, expected at most n = 3"),
        (lambda rng: random_basis(0, 1, rng), "n: found 0"),
        (lambda rng: spanning_columns(np.eye(3), 0.5, rng), "condition: found 0.5"),
        (lambda rng: pair_at_angle(4, (3, 2), 0.1, rng), r"found 2 \+ 3, expected a sum of at most n = 4"),
        (lambda rng: pair_at_angle(9, (3, 2), 2.0, rng), "angle: found 2.0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rng, call, message):
    with pytest.raises(ValueError, match=message):
        call(rng)
