"""Nulls: what they keep, and that each layer has its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capcore.checkpoints import read_checkpoint
from capcore.spectra import DensityOptions, layer_generator, null_weights
from tests.spectra.whole_networks import spectral_densities
from tests.strategies import seeds


@given(seed=seeds, name=st.text(max_size=8))
def test_shuffling_keeps_every_entry(seed, name):
    weights = np.random.default_rng(0).normal(size=(3, 4, 5))
    found = null_weights(weights, "shuffled", seed=seed, name=name)
    np.testing.assert_array_equal(np.sort(found, axis=None), np.sort(weights, axis=None))


def test_shuffling_is_uniform():
    """Each of the six orders of three entries, a sixth of the time."""
    orders = [tuple(null_weights(np.arange(3.0), "shuffled", seed=0, name="w", draw=i)) for i in range(3000)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3


def test_gaussian_nulls_have_the_variance_and_no_mean():
    weights = np.random.default_rng(0).gamma(4.0, size=(300, 300)).astype(np.float32)
    found = null_weights(weights, "gaussian", seed=0, name="w")
    assert found.mean() == pytest.approx(0, abs=4 * 2 / 300)  # four standard errors
    assert found.std() == pytest.approx(weights.std(dtype=float), rel=4 / (300 * np.sqrt(2)))
    assert stats.kstest(found.ravel() / weights.std(dtype=float), "norm").pvalue > 1e-3


@pytest.mark.parametrize("null", ["shuffled", "gaussian"])
def test_a_layer_more_changes_no_other(null):
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=(20, 30)) for name in "abc"}
    options = DensityOptions(null=null, seed=7)
    few = {
        d.name: d.eigenvalues
        for d in spectral_densities(read_checkpoint({"c": arrays["c"], "a": arrays["a"]}), options)
    }
    many = {d.name: d.eigenvalues for d in spectral_densities(read_checkpoint(arrays), options)}
    for name in few:
        np.testing.assert_array_equal(few[name], many[name])


def test_seeds_names_purposes_and_draws_tell_generators_apart():
    generators = [
        layer_generator(*arguments)
        for arguments in [(0, "a"), (1, "a"), (0, "b"), (0, "a", "p"), (0, "a", "q"), (0, "pa"), (0, "a", "", 1)]
    ]
    assert len({generator.integers(2**62) for generator in generators}) == len(generators)


def test_numbers_are_the_same_on_every_machine():
    """Fixed by the seed, the name and NumPy's PCG64, whose stream does not change."""
    assert layer_generator(0, "layer1.0.conv1.weight", "shuffled").integers(10**6, size=3).tolist() == EXPECTED


EXPECTED = [214269, 645077, 926945]


@pytest.mark.parametrize("options", [{"seed": -1}, {"seed": 0.5}, {"draw": -1}])
def test_seeds_that_are_none(options):
    with pytest.raises(ValueError, match="expected a whole number"):
        null_weights(np.ones((2, 2)), "shuffled", name="w", **{"seed": 0, **options})


def test_an_unknown_null():
    with pytest.raises(ValueError, match="Did you mean 'gaussian'"):
        null_weights(np.ones((2, 2)), "gauss", seed=0, name="w")
