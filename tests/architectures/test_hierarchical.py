"""Hierarchical models: coefficients by paths and by running the network, derivatives four ways, exact capacities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.architectures import Hierarchical
from tests.strategies import (
    coefficients_by_paths,
    hierarchical_models,
    kernels_of,
    random_params,
    refused,
    seeds,
    small_integers,
)

WAVENET = [2**l for l in range(8)]  # paper 1, Appendix C: dilations 1 … 128, three times
TILED = WAVENET * 3
REPEATED = [d for d in WAVENET for _ in range(3)]


# --- coefficients ---------------------------------------------------------------------------------------------------


@given(hierarchical_models(), seeds)
def test_coefficients_are_sums_over_paths(arch, seed):
    params = small_integers(arch, seed)
    found = arch.coefficients(params)
    assert found.shape == (arch.n_inputs * arch.input_dim,)
    assert np.array_equal(found, coefficients_by_paths(arch, params))  # integers: no rounding


@given(hierarchical_models(max_layers=3), seeds)
def test_coefficients_are_what_the_network_computes(arch, seed):
    # Eq. 19 run on a signal: each layer sums its taps, tap 0 on the present, tap t on what came t·dilation before.
    rng = np.random.default_rng(seed)
    params = random_params(arch, seed)
    inputs = rng.normal(size=(arch.n_inputs, arch.input_dim))  # oldest first
    signal = inputs
    for kernel, dilation in zip(kernels_of(arch, params), arch.dilations, strict=True):
        output = np.zeros((len(signal), kernel.shape[2]))
        for t in range(len(signal)):
            for tap in range(kernel.shape[1]):
                if t - tap * dilation >= 0:
                    output[t] += signal[t - tap * dilation] @ kernel[:, tap]
        signal = output
    recent_first = inputs[::-1].reshape(-1)
    assert signal[-1] == pytest.approx(arch.coefficients(params) @ recent_first, rel=1e-10, abs=1e-12)


def test_hand_example_in_order():
    # Layer 1 (dilation 1) has taps 2, 3; layer 2 (dilation 2) has taps 5, 7; lag 0 is the most recent.
    assert Hierarchical(1, 2).coefficients([2, 3, 5, 7]).tolist() == [10, 15, 14, 21]
    # The same layers with dilations 2, 1, and both with dilation 1, where the two middle paths meet.
    assert Hierarchical(1, dilations=[2, 1]).coefficients([2, 3, 5, 7]).tolist() == [10, 14, 15, 21]
    assert Hierarchical(1, dilations=[1, 1]).coefficients([2, 3, 5, 7]).tolist() == [10, 29, 21]
    # Two components per position: position-major.
    assert Hierarchical([], kernel_size=2, input_dim=2, n_layers=1).coefficients([1, 2, 3, 4]).tolist() == [1, 3, 2, 4]


# --- shapes and counts -----------------------------------------------------------------------------------------------


@given(hierarchical_models())
def test_counts(arch):
    widths = [arch.input_dim, *arch.channels, 1]
    sizes = [c * n * d for c, n, d in zip(widths[:-1], arch.kernel_sizes, widths[1:], strict=True)]
    assert arch.n_params == sum(sizes)
    assert arch.n_inputs == 1 + sum((n - 1) * d for n, d in zip(arch.kernel_sizes, arch.dilations, strict=True))
    assert [part.stop - part.start for part in arch.layers.values()] == sizes
    assert list(arch.layers) == [f"layer {l}" for l in range(1, arch.n_layers + 1)]
    assert [part.start for part in arch.layers.values()] == [0, *np.cumsum(sizes)[:-1]]
    assert [k.shape for k in arch.kernels(np.zeros(arch.n_params))] == arch.kernel_shapes


def test_published_counts():
    # Fig. 4 left, at its two ends: n = 64, and half a million parameters at 256 channels.
    assert [Hierarchical(c, 6).n_params for c in (1, 2, 4, 256)] == [12, 40, 144, 525_312]
    assert Hierarchical(256, 6).n_inputs == 64
    for dilations in (TILED, REPEATED):  # Appendix C
        arch = Hierarchical(4, dilations=dilations)
        assert (arch.n_inputs, arch.n_params) == (766, 720)


def test_default_dilations_make_the_supports_disjoint():
    arch = Hierarchical(2, kernel_size=[3, 2, 4])
    assert arch.dilations == [1, 3, 6] and arch.n_inputs == 24 and arch.has_disjoint_supports
    assert Hierarchical(2, dilations=[1, 2, 4]).has_disjoint_supports
    assert not Hierarchical(2, dilations=[4, 2, 1]).has_disjoint_supports


def test_ways_to_say_the_same():
    models = [
        Hierarchical(4, 3),
        Hierarchical([4, 4]),
        Hierarchical((4, 4), n_layers=3),
        Hierarchical(np.array([4, 4]), kernel_size=2),
        Hierarchical(4, kernel_size=[2, 2, 2]),
        Hierarchical(np.int64(4), 3, 2, dilations=[1, 2, 4]),
    ]
    assert len({repr(m) for m in models}) == 1
    assert repr(models[0]) == "Hierarchical(channels=4, n_layers=3, kernel_size=2)"


def test_init_has_the_variance_of_the_fan_in():
    arch = Hierarchical(channels=[50, 80], kernel_size=[3, 2, 4], input_dim=40)
    params = random_params(arch)
    for (fan, taps, _), part in zip(arch.kernel_shapes, arch.layers.values(), strict=True):
        size = part.stop - part.start
        deviation = np.sqrt(2 / size)  # of the sample variance of normal numbers
        assert np.mean(params[part] ** 2) * fan * taps == pytest.approx(1, abs=5 * deviation)
    assert np.array_equal(params, random_params(arch)) and not np.array_equal(params, random_params(arch, seed=1))


# --- generic capacity -------------------------------------------------------------------------------------------------


def test_published_capacities():
    assert [Hierarchical(c, 6).generic_capacity() for c in range(1, 9)] == [7, 20, 33, 48, 55, 60, 63, 64]
    assert Hierarchical(256, 6).generic_capacity() == 64
    assert Hierarchical(4, 6, input_dim=16).generic_capacity() == 176


@given(st.lists(st.integers(1, 6), min_size=1, max_size=7))
def test_footnote_6(kernel_sizes):
    arch = Hierarchical(channels=1, kernel_size=kernel_sizes)
    assert arch.generic_capacity() == sum(n - 1 for n in kernel_sizes) + 1
    assert arch.n_params == sum(kernel_sizes)


@pytest.mark.parametrize(("dilations", "expected"), [(TILED, 336), (REPEATED, 256)], ids=["tiled", "repeated"])
def test_appendix_c(dilations, expected):
    assert Hierarchical(4, dilations=dilations).generic_capacity() == expected


def test_one_channel_does_not_see_the_order_of_the_dilations():
    capacities = {Hierarchical(1, dilations=dilations).generic_capacity() for dilations in (TILED, REPEATED)}
    assert capacities == {25}  # scalar convolutions commute


# --- tensor-train starts ----------------------------------------------------------------------------------------------


def test_best_start_is_exact_where_the_channels_allow():
    rng = np.random.default_rng(0)
    target = rng.normal(size=64)
    for channels in (8, [2, 4, 8, 4, 2], 11):
        arch = Hierarchical(channels, 6)
        assert_allclose(arch.coefficients(arch.best_start(target, rng)), target, atol=1e-13)
    assert np.abs(Hierarchical(7, 6).coefficients(Hierarchical(7, 6).best_start(target, rng)) - target).max() > 1e-3


# --- refusals ---------------------------------------------------------------------------------------------------------

MODEL = Hierarchical(2, 3)


test_refusals_say_what_was_found_and_expected = refused(
    lambda use: use(),
    (lambda: Hierarchical(4, 0), ["n_layers", "found 0", "at least 1"]),
    (lambda: Hierarchical(4), ["n_layers", "found no number of layers", "channels"]),
    (lambda: Hierarchical(0, 3), ["channels", "found 0", "at least 1"]),
    (lambda: Hierarchical([4, -1]), ["channels[1]", "found -1"]),
    (lambda: Hierarchical([4, 4], 6), ["found n_layers = 6", "length of channels plus one = 3", "L − 1"]),
    (lambda: Hierarchical([4], dilations=[1, 2, 4]), ["found", "channels plus one = 2", "dilations = 3"]),
    (lambda: Hierarchical(4, 3, kernel_size=[2, 2, 1.5]), ["kernel_size[2]", "found 1.5"]),
    (lambda: Hierarchical(4, 3, input_dim=0), ["input_dim", "found 0"]),
    (lambda: MODEL.coefficients(np.ones(3)), ["params", "found 3 values", "expected 16", "Hierarchical("]),
    (lambda: MODEL.vjp(np.ones(16), np.ones(9)), ["vector", "found 9 values", "expected 8"]),
    (lambda: MODEL.best_start(np.ones(9), np.random.default_rng()), ["target", "found 9 values", "expected 8"]),
    (
        lambda: Hierarchical(2, dilations=[1, 1]).best_start(np.ones(3), np.random.default_rng()),
        ["start", "overlapping dilations [1, 1]", "disjoint", "start='random'"],
    ),
)
