"""The Fisher–Rao norm against the explicit matrix, and its invariance when units are rescaled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.effective_complexity.study import explicit, fisher_matrix, parameter_vector, rescaled_units
from chapters.shared.complexity import fisher_norm as fr
from tests.chapters.shared.complexity.test_fisher_norm import case, options
from tests.strategies import seeds


@given(seeds, options, st.sampled_from(["relu", "tanh", "logistic"]), st.sampled_from([0.0, 0.5]))
def test_one_pass_is_the_explicit_matrix(seed, option, activation, bias_scale):
    args = (*case(seed, option[1], activation, bias_scale), *option)
    assert fr.fisher_rao(*args) == pytest.approx(explicit(*args), rel=1e-10, abs=1e-14)


@given(seeds, options, st.sampled_from([0.0, 0.5]))
def test_rescaling_units_changes_nothing(seed, option, bias_scale):
    network, inputs, targets = case(seed, option[1], bias_scale=bias_scale)
    rng = np.random.default_rng(seed)
    other = rescaled_units(network, [rng.uniform(0.1, 10, m) for m in network.widths[1:-1]])
    np.testing.assert_allclose(other(inputs), network(inputs), atol=1e-12)
    rest = (inputs, targets, *option)
    assert fr.fisher_rao(other, *rest) == pytest.approx(fr.fisher_rao(network, *rest), rel=1e-9, abs=1e-14)
    assert np.linalg.norm(parameter_vector(other)) != pytest.approx(np.linalg.norm(parameter_vector(network)))


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("loss: found 'mse'", lambda: fisher_matrix(*case(0), "empirical", "mse")),
        (r"factors: found shapes \[\(5,\)\]", lambda: rescaled_units(case(0)[0], [np.ones(5)])),
        ("expected positive", lambda: rescaled_units(case(0)[0], [np.ones(5), -np.ones(4)])),
        ("activation 'tanh'", lambda: rescaled_units(case(0, activation="tanh")[0], [np.ones(5), np.ones(4)])),
    ],
)
def test_bad_input_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
