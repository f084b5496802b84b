"""A fit of a recurrent model as it is asked for: seeds, starts, progress, tiny windows, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from tests.strategies import all_of, refused


def test_a_given_start_is_kept_where_no_iteration_is_allowed():
    arch = cc.Recurrent(16, 2)
    start = arch.assemble([0.2, 0.8], [1.0, 1.0])
    found = cc.fit(arch, cc.PowerLaw(), start=start, max_iterations=0)
    assert_allclose(arch.poles(found.params), [0.2, 0.8], rtol=1e-8)
    assert found.n_iterations == 0 and not found.converged
    longer = cc.fit(arch, cc.PowerLaw(), start=start)
    assert longer.converged and longer.loss < found.loss
    assert np.all(np.diff(longer.history[:-1]) <= 0)


def test_several_starts():
    arch = cc.Recurrent(16, 3)
    found = cc.fit(arch, cc.PowerLaw(), n_starts=3, rng=0)
    assert found.losses.shape == (3,) and found.loss == pytest.approx(found.losses.min(), rel=1e-9)
    assert found.losses[0] == cc.fit(arch, cc.PowerLaw(), rng=0).losses[0]
    other = cc.fit(arch, cc.PowerLaw(), start="random", rng=0)
    assert other.losses[0] >= found.loss * (1 - 1e-9)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_windows(n):
    for c in (1, 2, 4):
        arch = cc.Recurrent(n, c)
        found = cc.fit(arch, cc.PowerLaw())
        assert np.isfinite(found.loss) and found.params.shape == (3 * c,)
        if 2 * c > n:
            assert found.loss < 1e-20


test_refusals = refused(
    lambda options: cc.fit(cc.Recurrent(8, 2), cc.PowerLaw(), **options),
    ({"max_iterations": -1}, ["max_iterations", "found -1"]),
    ({"ftol": 1e-9}, ["option of variable-projection", "ftol", "max_iterations"]),
    ({"start": "tensor-train"}, ["tensor-train", "Recurrent has none"]),
    ({"start": "pencil"}, ["start", "found 'pencil'"]),
    ({"start": np.ones(4)}, ["start", "found 4 values", "expected 6"]),
)


def test_only_recurrent_models_have_poles():
    with pytest.raises(ValueError, match=all_of(["variable-projection", "Hierarchical(", "a model with poles"])):
        cc.fit(cc.Hierarchical(2, 3), cc.PowerLaw(), method="variable-projection")
