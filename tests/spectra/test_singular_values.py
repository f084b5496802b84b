"""Singular values of large matrices for the preset: against LAPACK's own, by whichever route they are taken."""

from functools import partial

import numpy as np
import pytest

from capcore.spectra import weightwatcher as preset
from capcore.spectra.weightwatcher import RELATIVE, large_singular_values

EPS = np.finfo(float).eps
SHAPES = [(60, 60), (60, 75), (240, 60), (1, 1), (1, 50), (2, 90)]


def ill_conditioned(rng, rows, columns, condition):
    n = min(rows, columns)
    left, right = (np.linalg.qr(rng.normal(size=(size, n)))[0] for size in (rows, columns))
    return (left * np.geomspace(1, 1 / condition, n)) @ right.T


MATRICES = {
    "plain": lambda rng, rows, columns: rng.normal(size=(rows, columns)),
    "by columns": lambda rng, rows, columns: np.asfortranarray(rng.normal(size=(rows, columns))),
    "condition 1e4": partial(ill_conditioned, condition=1e4),
    "condition 1e9": partial(ill_conditioned, condition=1e9),
    "graded": lambda rng, rows, columns: rng.normal(size=(rows, columns)) * np.geomspace(1, 1e-15, rows)[:, None],
    "rank one": lambda rng, rows, columns: np.outer(rng.normal(size=rows), rng.normal(size=columns)),
    "zero": lambda rng, rows, columns: np.zeros((rows, columns)),
    "rows of zeros": lambda rng, rows, columns: rng.normal(size=(rows, columns)) * (np.arange(rows) % 3 > 0)[:, None],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", MATRICES)
def test_as_lapacks_own(rng, kind, shape):
    """Within (10 + max(m, n)) ε σ_max, as any stable method, or within the relative error that is accepted."""
    matrix = MATRICES[kind](rng, *shape)
    expected = np.linalg.svd(matrix, compute_uv=False)
    values = large_singular_values(matrix)
    assert values.shape == expected.shape and (np.diff(values) <= 0).all()
    np.testing.assert_allclose(values, expected, atol=(10 + max(shape)) * EPS * expected[0], rtol=RELATIVE / 2)


def test_the_preset_takes_them_from_a_size_on(rng, monkeypatch):
    """The table is the same to nine digits; a lost rank is counted either way."""
    weights = {
        "wide.weight": rng.normal(size=(24, 90)),
        "square.weight": rng.normal(size=(32, 32)),
        "deficient.weight": np.tile(rng.normal(size=(20, 50)), (2, 1)),
        "convolution.weight": rng.normal(size=(24, 26, 3, 3)),
    }
    expected = preset.weightwatcher_details(weights)
    monkeypatch.setattr(preset, "LARGE", 24)
    table = preset.weightwatcher_details(weights)
    assert table["rank_loss"].tolist() == [0, 0, 20, 0]
    numeric = expected.select_dtypes("number")
    np.testing.assert_allclose(table[numeric.columns], numeric, rtol=1e-9, atol=1e-12)
    assert table.drop(columns=numeric.columns).equals(expected.drop(columns=numeric.columns))


def test_layers_in_parallel_give_the_same_table(rng):
    weights = {f"{i}.weight": rng.normal(size=(20 + i, 30)) for i in range(7)}
    expected = preset.weightwatcher_details(weights)
    assert preset.weightwatcher_details(weights, workers=3).equals(expected)
    with pytest.raises(ValueError, match="workers"):
        preset.weightwatcher_details(weights, workers=0)
