"""Bad input is refused with what was found, what was expected, and what to do."""

import numpy as np
import pytest

from capcore.propagation import (
    ConvolutionTransport,
    Layer,
    LimitCoefficients,
    MatrixTransport,
    NotStochasticError,
    Segment,
    displacement,
    evolve,
    forgetting,
    heat_kernel,
    propagate,
    propagate_equal,
    residual,
    source_kernel,
)
from tests.strategies import refused

STEP = ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25})
RAW = ConvolutionTransport.of_offsets({-1: 0.5, 0: 0.5, 1: 0.5})
SUMS = ["sum to", "expected 1", "normalised()"]

test_layers_that_do_not_conserve = refused(
    lambda use: use(),
    (lambda: propagate(np.ones(5), [RAW]), SUMS),
    (lambda: propagate(np.ones(5), [STEP, RAW]), SUMS),
    (lambda: propagate(np.ones(5), [Layer(STEP, side=0.1)]), SUMS),
    (lambda: propagate(np.ones(2), [MatrixTransport.of_weights(np.ones((2, 2)))]), SUMS),
    (lambda: propagate_equal(np.ones(5), RAW, 3), SUMS),
    (lambda: displacement([RAW]), SUMS),
    error=NotStochasticError,
)


def test_the_alternatives_work():
    assert propagate(np.ones(5), [RAW.normalised()]).imbalance == pytest.approx(0, abs=1e-15)
    assert propagate(np.ones(5), [RAW], conserve=False).imbalance == pytest.approx(0.5)
    assert propagate(np.ones(5), [Layer.leaky(STEP, side=0.1)]).masses["side"] == pytest.approx(0.5)


test_refused = refused(
    lambda use: use(),
    (
        lambda: residual(ConvolutionTransport.of_offsets({-1: 3.0, 1: 1.5}), 4),
        ["total rate of 4.5 for 4 layers", "Use at least 5 layers"],
    ),
    (lambda: Layer.leaky(STEP, side=-0.1), ["side: found a leak of -0.1", "at least 0"]),
    (lambda: Layer(STEP, bias=-0.1), ["bias: found a leak of -0.1"]),
    (lambda: LimitCoefficients(1.0, 0.0, -1.0), ["leak: found a leak of -1"]),
    (lambda: Layer.leaky(STEP, 0.7, 0.7), ["leaks of 1.4", "at most 1"]),
    (lambda: forgetting(9.0, 8), ["alpha: found 9", "at most 8"]),
    (lambda: propagate(np.ones(5), [STEP], boundary="zero"), ["boundary: found 'zero'", "'absorbing'"]),
    (lambda: propagate([1.0], [STEP, STEP], sources={3: [1.0]}), ["sources: found layer 3", "0 (the input) to 2"]),
    (lambda: Segment(1.0, ConvolutionTransport(np.ones((2, 3, 2)))), ["several", "lumped"]),
    (lambda: Segment(-1, STEP), ["duration: found -1", "at least 0"]),
    (lambda: Segment(1.0, STEP, leak=-1), ["leak: found a leak of -1"]),
    (
        lambda: propagate_equal(np.ones(4), ConvolutionTransport(np.ones((2, 1, 1)) / 2), 2),
        ["found 1 channels above and 2 below", "equal numbers"],
    ),
    (lambda: ConvolutionTransport(-STEP.weights), ["found -0.25", "of_weights"]),
    (lambda: MatrixTransport([[1.0, -2.0]]), ["found -2", "of_weights"]),
    (lambda: propagate([1.0, -1.0], [STEP]), ["output: found -1"]),
    (lambda: ConvolutionTransport(np.ones((1, 2, 1))), ["'centre' needs odd", "(2,)", "origin=0"]),
    (lambda: ConvolutionTransport(np.ones((1, 3, 3, 1)), origin=(0, 1, 2)), ["found 3 numbers", "one or 2"]),
    (lambda: STEP.dilated(0), ["dilation: found 0", "at least 1"]),
    (lambda: ConvolutionTransport(np.ones((3, 1))), ["weights: found an array of shape (3, 1)"]),
    (lambda: ConvolutionTransport.of_offsets({0.5: 1.0}), ["offsets [0.5]", "whole numbers"]),
    (lambda: ConvolutionTransport.of_offsets({}), ["found no offset"]),
    (lambda: MatrixTransport([[1.0, 0.0]]).normalised(), ["column 1 is zero", "take it out"]),
    (lambda: MatrixTransport(np.eye(4), shape=(3, 1)), ["shape: found (3, 1)", "4 entries"]),
    (lambda: propagate(np.ones(3), [MatrixTransport(np.eye(4))]), ["found 3 entries", "expected 4"]),
    (lambda: propagate(np.ones((5, 2)), [STEP]), ["found shape (5, 2)", "1 channel(s)"]),
    (lambda: propagate(np.ones(5), []), ["layers: found none"]),
    (lambda: propagate(np.ones(5), [np.eye(5)]), ["found ndarray", "of_weights"]),
    (
        lambda: propagate(np.ones(5), [Layer(STEP.scaled(0.5), skips={0: STEP.scaled(0.5)})]),
        ["layer 1 cannot read layer 0", "below 0"],
    ),
    (lambda: propagate(np.ones(5), [STEP], sources={0: np.ones(4)}), ["layer 0", "one shape"]),
    (lambda: evolve(np.ones(5), [Segment(1, STEP, source=np.ones(4))]), ["source: found shape (4, 1)"]),
    (lambda: evolve(np.ones(5), []), ["segments: found none"]),
    (lambda: evolve(np.ones((5, 5, 1)), [Segment(1, STEP)]), ["shape (5, 5, 1)", "1 or 2 dimension"]),
    (lambda: LimitCoefficients([[1.0, 2.0], [2.0, 1.0]], [0, 0]), ["negative eigenvalue"]),
    (lambda: LimitCoefficients([[1.0, 0.5], [0.0, 1.0]], [0, 0]), ["symmetric (2, 2)"]),
    (lambda: heat_kernel(0.0, 1.0, LimitCoefficients(0.0, 1.0)), ["positive definite"]),
    (lambda: heat_kernel(0.0, 1.0, LimitCoefficients(np.eye(2), [0, 0])), ["2 coordinates"]),
    (lambda: source_kernel(0.0, 0.0, 1.0), ["t: found 0", "positive"]),
    (
        lambda: LimitCoefficients.of_rates(ConvolutionTransport(np.arange(4.0).reshape(2, 1, 2))),
        ["differs by 2 between channels"],
    ),
    (lambda: residual(ConvolutionTransport(np.ones((1, 3, 2))), 9), ["2 channels above and 1"]),
    (
        lambda: propagate(np.ones(3), [ConvolutionTransport.of_offsets({3: 1.0})], boundary="renormalised"),
        ["all of column 0 leaves", "more positions"],
    ),
)
