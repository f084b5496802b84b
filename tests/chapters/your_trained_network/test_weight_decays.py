"""The chapter's network by weight decay: the stored optima are found again, and behave as ridge regression says."""

import numpy as np
import pytest

import capcore as cc
from chapters.kit.stored import stored
from chapters.your_trained_network import weight_decays as experiment
from chapters.your_trained_network.study import Reading, network


@pytest.fixture(scope="module")
def values():
    return stored("weight_decays")["values"]


def test_a_stronger_decay_leaves_fewer_parameters(values):
    for course in values["starts"]:
        assert all(seen["converged"] for seen in course)
        totals = [seen["total"] for seen in course]
        assert totals == sorted(totals, reverse=True) and totals[0] < 760
        assert all(sum(seen["pixels"]) < seen["total"] for seen in course), "linear functions are a part of all"


def test_losses_are_those_of_the_network_and_leaving_out_is_nearer_to_the_tests_than_akaike(values):
    """Akaike's optimism is too large where images are fitted; see *What not to conclude*."""
    for course in values["starts"]:
        for seen in course:
            training, left, tests, akaike = seen["losses"].values()
            assert 0 < training < min(left, tests, akaike)
            if seen["total"] > 100:
                assert abs(left - tests) < abs(akaike - tests)


def test_losses_against_their_definition():
    """Of logits p and a label y the loss is log Σ exp p − p_y, and the total is that of Gauss–Newton."""
    data = Reading(100, 2, 0)
    options = {"loss": "cross-entropy", "weight_decay": 10.0}
    end = cc.networks.polish(network, data.params, data.x, data.y, **options)
    found = experiment.losses(end.params, data, options)
    shares = np.asarray(network(end.params, data.x_test))
    shares = np.exp(shares - shares.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    own = -np.log(shares[np.arange(len(shares)), data.y_test]).mean()
    assert found["tests"] == pytest.approx(own, abs=1e-4)
    total = cc.allocate_network(network, end.params, data.x, data.y, **options).total
    assert found["total over N"] == pytest.approx(found["training"] + total / 100, abs=1e-4)
