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
from tests.strategies import all_of

STEP = ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25})
RAW = ConvolutionTransport.of_offsets({-1: 0.5, 0: 0.5, 1: 0.5})


@pytest.mark.parametrize(
    "use",
    [
        lambda: propagate(np.ones(5), [RAW]),
        lambda: propagate(np.ones(5), [STEP, RAW]),
        lambda: propagate(np.ones(5), [Layer(STEP, side=0.1)]),
        lambda: propagate(np.ones(2), [MatrixTransport.of_weights(np.ones((2, 2)))]),
        lambda: propagate_equal(np.ones(5), RAW, 3),
        lambda: displacement([RAW]),
    ],
)
def test_layers_that_do_not_conserve(use):
    with pytest.raises(NotStochasticError, match=all_of(["sum to", "expected 1", "normalised()"])):
        use()


def test_the_alternatives_work():
    assert propagate(np.ones(5), [RAW.normalised()]).imbalance == pytest.approx(0, abs=1e-15)
    assert propagate(np.ones(5), [RAW], conserve=False).imbalance == pytest.approx(0.5)
    assert propagate(np.ones(5), [Layer.leaky(STEP, side=0.1)]).masses["side"] == pytest.approx(0.5)


CASES = {
    "more rate than layers": (
        lambda: residual(ConvolutionTransport.of_offsets({-1: 3.0, 1: 1.5}), 4),
        ["total rate of 4.5 for 4 layers", "Use at least 5 layers"],
    ),
    "negative side": (lambda: Layer.leaky(STEP, side=-0.1), ["side: found a leak of -0.1", "at least 0"]),
    "negative bias": (lambda: Layer(STEP, bias=-0.1), ["bias: found a leak of -0.1"]),
    "negative leak": (lambda: LimitCoefficients(1.0, 0.0, -1.0), ["leak: found a leak of -1"]),
    "too much leak": (lambda: Layer.leaky(STEP, 0.7, 0.7), ["leaks of 1.4", "at most 1"]),
    "forgetting too fast": (lambda: forgetting(9.0, 8), ["alpha: found 9", "at most 8"]),
    "unknown boundary": (
        lambda: propagate(np.ones(5), [STEP], boundary="zero"),
        ["boundary: found 'zero'", "'absorbing'"],
    ),
    "unknown layer of a source": (
        lambda: propagate([1.0], [STEP, STEP], sources={3: [1.0]}),
        ["sources: found layer 3", "0 (the input) to 2"],
    ),
    "channels of a segment": (lambda: Segment(1.0, ConvolutionTransport(np.ones((2, 3, 2)))), ["several", "lumped"]),
    "back in time": (lambda: Segment(-1, STEP), ["duration: found -1", "at least 0"]),
    "leak of a segment": (lambda: Segment(1.0, STEP, leak=-1), ["leak: found a leak of -1"]),
    "channels of equal layers": (
        lambda: propagate_equal(np.ones(4), ConvolutionTransport(np.ones((2, 1, 1)) / 2), 2),
        ["found 1 channels above and 2 below", "equal numbers"],
    ),
    "signed weights": (lambda: ConvolutionTransport(-STEP.weights), ["found -0.25", "of_weights"]),
    "signed matrix": (lambda: MatrixTransport([[1.0, -2.0]]), ["found -2", "of_weights"]),
    "signed capacity": (lambda: propagate([1.0, -1.0], [STEP]), ["output: found -1"]),
    "even kernel": (lambda: ConvolutionTransport(np.ones((1, 2, 1))), ["'centre' needs odd", "(2,)", "origin=0"]),
    "origins": (lambda: ConvolutionTransport(np.ones((1, 3, 3, 1)), origin=(0, 1, 2)), ["found 3 numbers", "one or 2"]),
    "dilation": (lambda: STEP.dilated(0), ["dilation: found 0", "at least 1"]),
    "flat kernel": (lambda: ConvolutionTransport(np.ones((3, 1))), ["weights: found an array of shape (3, 1)"]),
    "offsets": (lambda: ConvolutionTransport.of_offsets({0.5: 1.0}), ["offsets [0.5]", "whole numbers"]),
    "no offsets": (lambda: ConvolutionTransport.of_offsets({}), ["found no offset"]),
    "dead column": (lambda: MatrixTransport([[1.0, 0.0]]).normalised(), ["column 1 is zero", "take it out"]),
    "matrix shape": (lambda: MatrixTransport(np.eye(4), shape=(3, 1)), ["shape: found (3, 1)", "4 entries"]),
    "matrix size": (lambda: propagate(np.ones(3), [MatrixTransport(np.eye(4))]), ["found 3 entries", "expected 4"]),
    "channels": (lambda: propagate(np.ones((5, 2)), [STEP]), ["found shape (5, 2)", "1 channel(s)"]),
    "no layers": (lambda: propagate(np.ones(5), []), ["layers: found none"]),
    "not a layer": (lambda: propagate(np.ones(5), [np.eye(5)]), ["found ndarray", "of_weights"]),
    "skip upwards": (
        lambda: propagate(np.ones(5), [Layer(STEP.scaled(0.5), skips={0: STEP.scaled(0.5)})]),
        ["layer 1 cannot read layer 0", "below 0"],
    ),
    "source shape": (lambda: propagate(np.ones(5), [STEP], sources={0: np.ones(4)}), ["layer 0", "one shape"]),
    "source of a segment": (
        lambda: evolve(np.ones(5), [Segment(1, STEP, source=np.ones(4))]),
        ["source: found shape (4, 1)"],
    ),
    "no segments": (lambda: evolve(np.ones(5), []), ["segments: found none"]),
    "axes": (lambda: evolve(np.ones((5, 5, 1)), [Segment(1, STEP)]), ["shape (5, 5, 1)", "1 or 2 dimension"]),
    "diffusion": (lambda: LimitCoefficients([[1.0, 2.0], [2.0, 1.0]], [0, 0]), ["negative eigenvalue"]),
    "asymmetric diffusion": (lambda: LimitCoefficients([[1.0, 0.5], [0.0, 1.0]], [0, 0]), ["symmetric (2, 2)"]),
    "no diffusion": (lambda: heat_kernel(0.0, 1.0, LimitCoefficients(0.0, 1.0)), ["positive definite"]),
    "coordinates": (lambda: heat_kernel(0.0, 1.0, LimitCoefficients(np.eye(2), [0, 0])), ["2 coordinates"]),
    "time": (lambda: source_kernel(0.0, 0.0, 1.0), ["t: found 0", "positive"]),
    "limit of channels": (
        lambda: LimitCoefficients.of_rates(ConvolutionTransport(np.arange(4.0).reshape(2, 1, 2))),
        ["differs by 2 between channels"],
    ),
    "unequal channels": (lambda: residual(ConvolutionTransport(np.ones((1, 3, 2))), 9), ["2 channels above and 1"]),
    "everything leaves": (
        lambda: propagate(np.ones(3), [ConvolutionTransport.of_offsets({3: 1.0})], boundary="renormalised"),
        ["all of column 0 leaves", "more positions"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    use, parts = CASES[name]
    with pytest.raises(ValueError, match=all_of(parts)):
        use()
