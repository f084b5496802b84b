"""What a sketch does not sample is off by what its solves lack, and by no more than it says."""

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from tests.networks.kinds import trained

pytestmark = pytest.mark.usefixtures("compiled_once", "optimised")


@pytest.mark.parametrize("tolerance", [pytest.param(1e-2, marks=pytest.mark.slow), 1e-4])
def test_what_is_not_sampled_is_off_by_what_solves_lack(tolerance):
    """Each solve lacks a known share of its capacity; what rounding leaves of 1e-9 is not known."""
    apply, params, x, y, options = trained("convolution", "squared")
    subspaces = {"two": networks.inputs(x[:, :2]), "one": np.eye(60)[:, :1]}
    dense = cc.allocate_network(apply, params, x, y, subspaces=subspaces, **options)
    found = cc.allocate_network(
        apply,
        params,
        x,
        y,
        subspaces=subspaces,
        method="sketch",
        options=networks.Options(tolerance=tolerance, probes=4),
        **options,
    )
    for name, expected in dense.per_subspace.items():
        error = found.errors.per_subspace[name]
        # the share is one of what is found, which is itself off by the error
        assert np.all(error > 0) and np.all(error <= tolerance * (expected + error) + 1e-9)
        assert np.all(np.abs(found.per_subspace[name] - expected) <= error + 1e-9)
    assert found.largest_leverage <= dense.largest_leverage + 1e-9
