"""The null by shape: p-values, draws that depend on seed and shape alone, and exceptions as shuffling gives them."""

from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capcore.checkpoints import of_arrays
from capcore.spectra import DensityOptions, SpectraOptions, fit_power_law
from capcore.spectra.nulls import BY_SHAPE, SHUFFLED, WITH_LARGE, Nulls, null_p_value
from tests.spectra.test_laguerre import CHANCE

OPTIONS = SpectraOptions(DensityOptions("pooled"), null="shuffled", n_null=30, alternatives=())


def layer_of(weights, options=OPTIONS, name="w"):
    return options.layers(of_arrays({name: weights})).layers[0]


def chance_of(weights, options=OPTIONS, name="w"):
    return Nulls(options).of_layer(layer_of(weights, options, name))


def shuffled(weights, options, name="w"):
    """Exponents of the layer's own weights in random order."""
    return chance_of(weights, replace(options, permute=True), name)[name].alphas


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(0, 12))
def test_p_values_count_what_is_at_least_as_extreme(draws, value):
    """By brute force over both tails, with ties on both sides."""
    low = sum(each <= value for each in draws)
    high = sum(each >= value for each in draws)
    expected = min(1.0, 2 * (1 + min(low, high)) / (len(draws) + 1))
    assert null_p_value(float(value), np.array([*draws, np.nan], float)) == pytest.approx(expected)


def test_without_an_exponent_there_is_no_p_value():
    assert np.isnan(null_p_value(np.nan, np.ones(3))) and np.isnan(null_p_value(1.0, np.full(3, np.nan)))


@pytest.mark.parametrize("shuffle", [False, True])
def test_p_values_are_uniform_for_weights_without_structure(shuffle):
    """Of 400 layers with draws of their own, each of the ten values of p, 2/20 … 20/20, comes up 40 times.

    Weights are Gaussian, or Laplace ones in random order, which are not. The statistic of the ten counts exceeds its
    1e-4 quantile once in ten thousand choices of the seed.
    """
    rng, found = np.random.default_rng(5), []
    for i in range(400):
        weights = rng.laplace(size=(24, 40)) if shuffle else rng.normal(size=(24, 40))
        alpha = fit_power_law(np.linalg.svd(weights, compute_uv=False) ** 2).alpha
        found.append(null_p_value(alpha, chance_of(weights, replace(OPTIONS, n_null=19, seed=i))["w"].alphas))
    counts = np.bincount(np.round(np.array(found) * 10).astype(int), minlength=11)[1:]
    assert counts.sum() == 400 and stats.chisquare(counts).pvalue > CHANCE


@pytest.mark.parametrize(
    ("kind", "drawn"), [("noise", BY_SHAPE), ("uniform", BY_SHAPE), ("large", WITH_LARGE), ("mean", WITH_LARGE)]
)
def test_exponents_are_those_of_shuffled_weights(kind, drawn):
    """1,000 of each: the test sees distribution functions that differ by 0.1."""
    rng = np.random.default_rng(1)
    weights = rng.uniform(-1, 1, size=(48, 64)) if kind == "uniform" else rng.normal(size=(48, 64))
    if kind == "large":
        weights[3, 4], weights[7, 8] = 15.0, -30.0
    if kind == "mean":
        weights += 0.5
    options = replace(OPTIONS, n_null=1000)
    found = chance_of(weights, options)["w"]
    alphas = shuffled(weights, options)
    assert found.drawn == drawn and stats.ks_2samp(found.alphas, alphas).pvalue > CHANCE


def test_a_convolution_pools_its_kernel_positions():
    """As its weights are pooled when they are shuffled; a large entry lies at one position only."""
    rng, options = np.random.default_rng(2), replace(OPTIONS, n_null=600)
    for size, drawn in ((None, BY_SHAPE), (40.0, WITH_LARGE)):
        weights = rng.normal(size=(12, 16, 3, 3))
        if size:
            weights[0, 0, 0, 0] = size
        found = chance_of(weights, options)["w"]
        alphas = shuffled(weights, options)
        assert found.drawn == drawn and stats.ks_2samp(found.alphas, alphas).pvalue > CHANCE


def test_what_is_not_noise_is_shuffled():
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(30, 40)) * (rng.random((30, 40)) < 0.03)
    found = chance_of(weights)["w"]
    alphas = shuffled(weights, OPTIONS)
    assert found.drawn == SHUFFLED and len(set(alphas)) == len(alphas) == 30  # each draw is another
    np.testing.assert_array_equal(found.alphas, alphas)


def test_layers_of_a_shape_share_their_draws_whatever_their_order():
    rng = np.random.default_rng(4)
    one, other, turned = (rng.normal(size=shape) for shape in ((20, 30), (20, 30), (30, 20)))
    nulls = Nulls(OPTIONS)
    found = [nulls.of_layer(layer_of(weights, name=name))[name] for name, weights in (("a", one), ("b", other))]
    assert found[0] is found[1] is nulls.of_layer(layer_of(turned))["w"]
    np.testing.assert_array_equal(found[0].alphas, chance_of(turned)["w"].alphas)  # of another instance
    assert not np.array_equal(found[0].alphas, chance_of(one, replace(OPTIONS, seed=1))["w"].alphas)
    more = chance_of(one, replace(OPTIONS, n_null=40))["w"].alphas
    np.testing.assert_array_equal(more[:30], found[0].alphas)  # the first draws do not depend on their number


def test_threads_wait_for_the_draws_of_a_shape():
    layer, nulls, found = layer_of(np.random.default_rng(0).normal(size=(60, 90))), Nulls(OPTIONS), []
    threads = [Thread(target=lambda: found.append(nulls.of_layer(layer)["w"])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len({id(each) for each in found}) == 1


@pytest.mark.parametrize("arrangement", ["slices", "unfolded", "operator"])
def test_every_arrangement_has_a_null_of_its_names(arrangement):
    density = DensityOptions(arrangement, grid=4 if arrangement == "operator" else None)
    options = replace(OPTIONS, density=density, n_null=3)
    found = chance_of(np.random.default_rng(0).normal(size=(20, 30, 2, 1)), options)
    assert [*found] == (["w[0, 0]", "w[1, 0]"] if arrangement == "slices" else ["w"])
    expected = SHUFFLED if arrangement == "operator" else BY_SHAPE
    assert all(each.drawn == expected and np.isfinite(each.alphas).sum() == 3 for each in found.values())


def test_matrices_of_a_stack_keep_their_scales():
    """Pooled, they are noise of different variance; one by one, each is noise."""
    rng, options = np.random.default_rng(6), replace(OPTIONS, n_null=600)
    weights = rng.normal(size=(3, 14, 20)) * np.array([1.0, 3.0, 10.0])[:, None, None]
    found = chance_of(weights, options, "experts.w")["experts.w"]
    layer = layer_of(weights, options, "experts.w")
    alphas = shuffled(weights, options, "experts.w")
    assert layer.kind == "stack" and found.drawn == BY_SHAPE
    assert stats.ks_2samp(found.alphas, alphas).pvalue > CHANCE
    alone = chance_of(weights, replace(options, density=DensityOptions("slices")), "experts.w")
    assert [*alone] == [f"experts.w[{i}]" for i in range(3)]


def test_traps_are_large_entries_and_nothing_else():
    weights = np.random.default_rng(8).normal(size=(60, 80))
    none = chance_of(weights)["w"].spikes
    weights[3, 5] = 60.0
    one = chance_of(weights)["w"].spikes
    assert np.median(none) == 0 and np.median(one) == 1 and len(one) == 20
