"""Networks of tangents: their errors, and their pieces on segments against a fine grid and against ReLU networks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.effective_complexity.tangent_networks import (
    segment_knots,
    segment_pieces,
    tangent_network,
    uniform_tangents,
)
from chapters.shared.complexity import curve_regions, random_network, segments
from tests.strategies import seeds


def case(seed, activation="tanh", widths=(3, 6, 5, 2)):
    rng = np.random.default_rng(seed)
    return random_network(widths, rng, 2.0, 0.5, activation), rng


@given(seeds, st.sampled_from(["tanh", "logistic"]), st.sampled_from([0.3, 0.05]))
def test_the_error_is_kept(seed, activation, error):
    network, rng = case(seed, activation)
    inputs = rng.normal(size=(60, 3))
    found = tangent_network(network, inputs, error)
    assert np.mean(np.abs(found(inputs) - network(inputs))) <= error
    finer = tangent_network(network, inputs, error / 5)  # not always more pieces: knots may fall outside the range
    assert np.mean(np.abs(finer(inputs) - network(inputs))) <= error / 5
    assert uniform_tangents(network, error / 5).complexity > uniform_tangents(network, error).complexity
    for layer, z in zip(found.activations, network.pre_activations(inputs), strict=False):
        for phi, values in zip(layer, z.T, strict=True):
            assert all(values.min() < kink < values.max() for kink in phi.kinks)  # nothing the points do not need


@given(seeds, st.sampled_from(["tanh", "logistic"]))
def test_pieces_on_a_segment_are_those_of_a_fine_grid(seed, activation):
    network, rng = case(seed, activation)
    found, (start, end) = uniform_tangents(network, 0.1), rng.normal(size=(2, 3)) * 2
    knots = np.sort(np.concatenate(segment_knots(found, start, end)))
    t = np.linspace(0, 1, 20_001)
    value, patterns = start + t[:, None] * (end - start), []
    for i in range(2):
        z = found.hidden(i, value)
        patterns.append(np.stack([phi.piece(z[:, j]) for j, phi in enumerate(found.activations[i])], axis=1))
        value = found.apply(i, z)
    changes = np.flatnonzero(np.any(np.diff(np.concatenate(patterns, axis=1), axis=0), axis=1))
    assert len(changes) <= len(knots) == segment_pieces(found, [start], [end])[0] - 1
    lone = np.diff(np.r_[-1, knots, 2]).clip(max=1)
    lone = np.minimum(lone[1:], lone[:-1]) > 1e-4  # two knots within a step of the grid are one change
    assert {int(np.floor(k * 20_000)) for k in knots[lone]} <= set(changes.tolist())
    logits = found(start + t[:, None] * (end - start))
    bends = np.flatnonzero(np.abs(np.diff(logits, 2, axis=0)).max(axis=1) > 1e-10)
    assert {int(b) for b in bends} <= {c + s for c in changes for s in (-1, 0)}  # affine in between


@pytest.mark.parametrize("activation", ["relu", "hard_tanh", "leaky_relu"])
def test_it_counts_what_the_exact_tracer_counts(activation):
    for seed in range(20):
        network, rng = case(seed, activation)
        starts, ends = rng.normal(size=(2, 5, 3))
        expected = curve_regions(network, segments(starts, ends)).patterns
        np.testing.assert_array_equal(segment_pieces(uniform_tangents(network), starts, ends), expected)


@given(seeds, st.sampled_from([(1, 4, 1), (2, 5, 3, 1), (3, 6, 5, 4, 2)]))
def test_the_complexity_bounds_pieces_on_a_line(seed, widths):
    network, rng = case(seed, "tanh", widths)
    found, ends = uniform_tangents(network, 0.03), 10 * rng.normal(size=(2, 1, widths[0]))
    assert np.log(segment_pieces(found, *ends)[0]) <= found.complexity / widths[0] + 1e-12


def test_one_layer_on_a_long_line_meets_the_bound():
    network, rng = case(0, "tanh", (2, 7, 1))
    found, end = uniform_tangents(network, 0.03), 1e4 * rng.normal(size=(1, 2))
    assert segment_pieces(found, -end, end)[0] == pytest.approx(np.exp(found.complexity / 2))


def test_uniform_tangents_do_not_see_the_parameters():
    complexities = {uniform_tangents(case(seed)[0], 0.1).complexity for seed in range(5)}
    assert len(complexities) == 1
    assert len({tangent_network(case(seed)[0], np.eye(3), 0.1).complexity for seed in range(5)}) > 1


def test_a_unit_that_no_output_reads_gets_the_coarsest_tangents():
    network, rng = case(0, "tanh", (3, 4, 1))
    network.weights[1][2] = 0
    inputs = 3 * rng.normal(size=(200, 3))
    assert tangent_network(network, inputs, 1e-3).pieces[0][2] == 3


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("error: found 0, expected more than 0", lambda: tangent_network(case(0)[0], np.eye(3), 0)),
        ("error: found 1e-12, expected more", lambda: tangent_network(case(0)[0], np.eye(3), 1e-12)),
        (r"inputs: found shape \(2, 2\)", lambda: tangent_network(case(0)[0], np.eye(2), 0.1)),
        ("end: found .* expected another", lambda: segment_knots(uniform_tangents(case(0)[0]), np.ones(3), np.ones(3))),
        (r"ends: found shape \(2, 3\)", lambda: segment_pieces(uniform_tangents(case(0)[0]), np.eye(3), np.eye(3)[:2])),
    ],
)  # fmt: skip
def test_bad_input_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
