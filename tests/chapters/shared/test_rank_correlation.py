import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from chapters.shared.rank_correlation import partial_spearman, spearman


def test_it_agrees_with_scipy_also_with_ties(rng):
    x, y = rng.integers(0, 6, (2, 50))
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_only_ranks_matter(rng):
    x, y = rng.normal(size=(2, 30))
    assert spearman(np.exp(x), y**3) == pytest.approx(spearman(x, y))


def test_the_partial_one_is_the_correlation_of_residuals_of_ranks(rng):
    x, y, z = (rankdata(each) for each in rng.normal(size=(3, 40)) + rng.normal(size=40))
    design = np.column_stack([np.ones(40), z])
    left_x, left_y = (each - design @ np.linalg.lstsq(design, each)[0] for each in (x, y))
    assert partial_spearman(x, y, z) == pytest.approx(np.corrcoef(left_x, left_y)[0, 1])


def test_what_follows_the_given_quantity_leaves_nothing(rng):
    x, y = rng.normal(size=(2, 20))
    assert partial_spearman(x, y, np.exp(x)) == 0
    assert spearman(x, np.ones(20)) == 0


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="found 2 values beside 3 in x"):
        spearman([1, 2, 3], [1, 2])
