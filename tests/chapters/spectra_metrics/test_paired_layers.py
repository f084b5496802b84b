"""Networks compared layer by layer: statistics of pairs, and the stored networks."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.spectra_metrics import study
from chapters.spectra_resnets.networks import stored_networks
from tests.strategies import seeds


@pytest.fixture(scope="module")
def nets():
    return stored_networks()


def values(seed, n):
    rng = np.random.default_rng(seed)
    return tuple({str(i): float(x) for i, x in enumerate(rng.normal(size=n))} for _ in range(2))


@given(seeds, st.integers(2, 14))
def test_a_pair_is_its_mirror(seed, n):
    first, second = values(seed, n)
    one, other = (study.compare(a, b, np.random.default_rng(0), 99) for a, b in ((first, second), (second, first)))
    assert one.mean == pytest.approx(-other.mean) and one.n_larger + other.n_larger == one.n == n
    assert one.wilcoxon_p == pytest.approx(other.wilcoxon_p)
    tail = sum(comb(n, k) for k in range(one.n_larger, n + 1)) / 2**n
    assert one.sign_p == pytest.approx(tail, rel=1e-12) and one.share == one.n_larger / n


def test_only_common_layers_count():
    first, second = {"a": 1.0, "b": 4.0, "x": 99.0}, {"b": 1.0, "y": -99.0, "a": 0.0}
    pair = study.compare(first, second, np.random.default_rng(0), 99)
    assert (pair.n, pair.n_larger, pair.mean) == (2, 2, 2.0)
    with pytest.raises(ValueError, match="found 1 layers in common"):
        study.compare(first, {"a": 0.0}, np.random.default_rng(0))


def test_intervals_cover_the_mean():
    rng = np.random.default_rng(0)
    ends = [study.mean_interval(rng.normal(size=16), rng, 399) for _ in range(200)]
    inside = np.mean([low < 0 < high for low, high in ends])
    assert 0.86 < inside < 0.97  # 95 % by design, known to be some percent short at 16 layers
    assert study.mean_interval(np.full(3, 2.0), rng) == (2.0, 2.0)


def test_norms_of_layers_are_those_of_their_weights(nets):
    norms, network = study.layer_norms(nets["dense"]), nets["dense"]
    for layer, deviation in network.deviations.items():
        if layer in norms[study.NORMS[0]]:
            size = np.prod(network.tensors[layer].shape)
            mass = 10 ** norms[study.NORMS[0]][layer]
            assert mass >= size * deviation**2 * (1 - 1e-6)  # Σw² = n(σ² + mean²)
            assert mass < 1.1 * size * deviation**2  # means of weights are small


def test_removed_layers_have_no_value(nets):
    removed = nets["layers_removed"]
    assert len(study.layer_norms(removed)[study.NORMS[1]]) == 16
    assert len(study.layer_alphas(removed, study.POOLED)) == 17
    assert "layer2.2.conv2.weight" not in study.layer_alphas(removed)
    assert study.zeros_counted(study.layer_alphas(removed, study.POOLED), 22) == pytest.approx(3.0, abs=0.01)


def test_layer_means_are_means_over_slices(nets):
    by_layer, slices = study.layer_alphas(nets["dense"]), study.slice_alphas(nets["dense"])
    counts = {name: 1 if "fc" in name or "downsample" in name else 9 for name in by_layer}
    total = sum(by_layer[name] * counts[name] for name in by_layer)
    assert total == pytest.approx(slices.sum(), rel=1e-12) and sum(counts.values()) == len(slices)


def test_the_null_of_a_network_with_itself_is_nothing(nets):
    assert not study.null_differences(nets["dense"], nets["dense"]).any()
    found = study.null_differences(nets["dense"], nets["layers_removed"])
    assert found.shape == (20,) and found.min() < 0 < found.max()
