"""A network with batch normalisation: convolution by brute force, and invariance under a factor on its kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.spectra_metrics import study
from tests.strategies import seeds


def test_the_convolution_is_circular():
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 3, 3))
    found = study._circular(x, kernel)
    for m, o, h, w in np.ndindex(2, 2, 4, 5):
        expected = sum(
            kernel[o, c, i, j] * x[m, c, (h + i - 1) % 4, (w + j - 1) % 5] for c, i, j in np.ndindex(3, 3, 3)
        )
        assert found[m, o, h, w] == pytest.approx(expected, abs=1e-12)


@given(seeds, st.floats(1e-3, 1e3))
def test_outputs_do_not_depend_on_the_factor(seed, factor):
    rng = np.random.default_rng(seed)
    weights, inputs = study.random_weights(3, 3, 4, rng), rng.normal(size=(5, 3, 4, 4))
    before, after = study.outputs(weights, inputs), study.outputs(study.rescaled(weights, factor), inputs)
    np.testing.assert_allclose(after, before, atol=1e-10 * np.abs(before).max())


def test_without_normalised_variance_they_do():
    rng = np.random.default_rng(0)
    weights, inputs = study.random_weights(3, 3, 4, rng), rng.normal(size=(5, 3, 4, 4))
    before, after = (study.outputs(w, inputs, epsilon=1.0) for w in (weights, study.rescaled(weights, 10.0)))
    assert np.abs(after - before).max() > 0.01


def test_alpha_stays_and_alpha_hat_moves_by_the_law():
    weights = study.random_weights(12, 3, 10, np.random.default_rng(0))
    before, after = study.report(weights), study.report(study.rescaled(weights, 10.0))
    kernels = sum(row.alpha for row in before.spectra if row.layer.startswith("conv"))
    assert after.model.sum_alpha_hat - before.model.sum_alpha_hat == pytest.approx(2 * kernels, abs=1e-9)
    assert after.model.mean_alpha == pytest.approx(before.model.mean_alpha, abs=1e-12)
    assert len(before.spectra) == 19  # 2 · 9 slices and the linear layer


def test_it_wants_whole_numbers():
    with pytest.raises(ValueError, match="channels: found 0"):
        study.random_weights(0, 3, 2, np.random.default_rng(0))
