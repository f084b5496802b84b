"""Bad input is refused with what was found, what was expected, and what to do."""

import numpy as np
import pytest

import capcore.propagation as p
from tests.strategies import refused

STEP = p.ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25})
RAW = p.ConvolutionTransport.of_offsets({-1: 0.5, 0: 0.5, 1: 0.5})
SUMS = ["sum to", "expected 1", "normalised()"]

test_layers_that_do_not_conserve = refused(
    lambda use: use(),
    (lambda: p.propagate(np.ones(5), [RAW]), SUMS),
    (lambda: p.propagate(np.ones(5), [STEP, RAW]), SUMS),
    (lambda: p.propagate(np.ones(5), [p.Layer(STEP, side=0.1)]), SUMS),
    (lambda: p.propagate(np.ones(2), [p.MatrixTransport.of_weights(np.ones((2, 2)))]), SUMS),
    (lambda: p.propagate_equal(np.ones(5), RAW, 3), SUMS),
    (lambda: p.displacement([RAW]), SUMS),
    error=p.NotStochasticError,
)


def test_the_alternatives_work():
    assert p.propagate(np.ones(5), [RAW.normalised()]).imbalance == pytest.approx(0, abs=1e-15)
    assert p.propagate(np.ones(5), [RAW], conserve=False).imbalance == pytest.approx(0.5)
    assert p.propagate(np.ones(5), [p.Layer.leaky(STEP, side=0.1)]).masses["side"] == pytest.approx(0.5)


test_refused = refused(
    lambda use: use(),
    (lambda: p.residual(p.ConvolutionTransport.of_offsets({-1: 3.0, 1: 1.5}), 4), ["rate of 4.5 for 4", "at least 5"]),
    (lambda: p.Layer.leaky(STEP, side=-0.1), ["side: found a leak of -0.1", "at least 0"]),
    (lambda: p.Layer(STEP, bias=-0.1), ["bias: found a leak of -0.1"]),
    (lambda: p.LimitCoefficients(1.0, 0.0, -1.0), ["leak: found a leak of -1"]),
    (lambda: p.Layer.leaky(STEP, 0.7, 0.7), ["leaks of 1.4", "at most 1"]),
    (lambda: p.propagate(np.ones(5), [STEP], boundary="zero"), ["boundary: found 'zero'", "'absorbing'"]),
    (lambda: p.propagate([1.0], [STEP, STEP], sources={3: [1.0]}), ["sources: found layer 3", "0 (the input) to 2"]),
    (lambda: p.Segment(1.0, p.ConvolutionTransport(np.ones((2, 3, 2)))), ["several", "lumped"]),
    (lambda: p.Segment(-1, STEP), ["duration: found -1", "at least 0"]),
    (lambda: p.Segment(1.0, STEP, leak=-1), ["leak: found a leak of -1"]),
    (
        lambda: p.propagate_equal(np.ones(4), p.ConvolutionTransport([[[0.5]], [[0.5]]]), 2),
        ["1 channels above and 2 below"],
    ),
    (lambda: p.ConvolutionTransport(-STEP.weights), ["found -0.25", "of_weights"]),
    (lambda: p.MatrixTransport([[1.0, -2.0]]), ["found -2", "of_weights"]),
    (lambda: p.propagate([1.0, -1.0], [STEP]), ["output: found -1"]),
    (lambda: p.ConvolutionTransport(np.ones((1, 2, 1))), ["'centre' needs odd", "(2,)", "origin=0"]),
    (lambda: p.ConvolutionTransport(np.ones((1, 3, 3, 1)), origin=(0, 1, 2)), ["found 3 numbers", "one or 2"]),
    (lambda: STEP.dilated(0), ["dilation: found 0", "at least 1"]),
    (lambda: p.ConvolutionTransport(np.ones((3, 1))), ["weights: found an array of shape (3, 1)"]),
    (lambda: p.ConvolutionTransport.of_offsets({0.5: 1.0}), ["offsets [0.5]", "whole numbers"]),
    (lambda: p.ConvolutionTransport.of_offsets({}), ["found no offset"]),
    (lambda: p.MatrixTransport([[1.0, 0.0]]).normalised(), ["column 1 is zero", "take it out"]),
    (lambda: p.propagate(np.ones(3), [p.MatrixTransport(np.eye(4))]), ["found 3 entries", "expected 4"]),
    (lambda: p.propagate(np.ones((5, 2)), [STEP]), ["found shape (5, 2)", "1 channel(s)"]),
    (lambda: p.propagate(np.ones(5), []), ["layers: found none"]),
    (lambda: p.propagate(np.ones(5), [np.eye(5)]), ["found ndarray", "of_weights"]),
    (
        lambda: p.propagate(np.ones(5), [p.Layer(STEP.scaled(0.5), skips={0: STEP.scaled(0.5)})]),
        ["cannot read layer 0"],
    ),
    (lambda: p.propagate(np.ones(5), [STEP], sources={0: np.ones(4)}), ["layer 0", "one shape"]),
    (lambda: p.evolve(np.ones(5), [p.Segment(1, STEP, source=np.ones(4))]), ["source: found shape (4, 1)"]),
    (lambda: p.evolve(np.ones(5), []), ["segments: found none"]),
    (lambda: p.evolve(np.ones((5, 5, 1)), [p.Segment(1, STEP)]), ["shape (5, 5, 1)", "1 or 2 dimension"]),
    (lambda: p.LimitCoefficients([[1.0, 2.0], [2.0, 1.0]], [0, 0]), ["negative eigenvalue"]),
    (lambda: p.LimitCoefficients([[1.0, 0.5], [0.0, 1.0]], [0, 0]), ["symmetric (2, 2)"]),
    (lambda: p.heat_kernel(0.0, 1.0, p.LimitCoefficients(0.0, 1.0)), ["positive definite"]),
    (lambda: p.heat_kernel(0.0, 1.0, p.LimitCoefficients(np.eye(2), [0, 0])), ["2 coordinates"]),
    (lambda: p.LimitCoefficients.of_rates(p.ConvolutionTransport([[[0.0, 1]], [[2, 3]]])), ["differs by 2 between"]),
    (lambda: p.residual(p.ConvolutionTransport(np.ones((1, 3, 2))), 9), ["2 channels above and 1"]),
    (
        lambda: p.propagate(np.ones(3), [p.ConvolutionTransport.of_offsets({3: 1.0})], boundary="renormalised"),
        ["all of column 0 leaves", "more positions"],
    ),
)
