"""A user's program as type checkers see it: results have typed arrays. ``make check`` looks at it, and this runs it."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import capcore as cc
from capcore.capacity.allocation import LayerAllocation


def test_a_program_of_a_user_is_typed() -> None:
    process, arch = cc.PowerLaw(exponent=0.5), cc.Hierarchical(channels=2, n_layers=4)
    fit = cc.fit(arch, process)
    allocation = cc.allocate(arch, fit, process)
    assert_type(fit, cc.Fit)
    for array in (fit.params, fit.coefficients, allocation.per_input, allocation.per_octave, allocation.missed):
        assert_type(array, NDArray[np.float64])
        assert array.dtype == np.float64
    assert_type(fit.variance + fit.loss, float)
    assert_type(allocation.total, int)
    assert_type(allocation.layers["layer 1"], LayerAllocation)
    assert_type(allocation.edges, NDArray[np.integer])
    assert np.issubdtype(allocation.edges.dtype, np.integer)
