"""A frozen architecture is the whole one with some parameters held: every quantity is the part of the whole's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore import ConstraintSpace, Frozen, Hierarchical, PowerLaw, Recurrent, allocate, fit
from tests.strategies import hierarchical_models, refused, seeds


@settings(deadline=None, max_examples=40)
@given(arch=hierarchical_models(max_layers=3), seed=seeds, data=st.data())
def test_it_is_a_part_of_the_whole(arch, seed, data):
    rng = np.random.default_rng(seed)
    free = sorted(data.draw(st.sets(st.integers(0, arch.n_params - 1), min_size=1)))
    whole = arch.init(rng)
    model, params = Frozen(arch, whole, free), whole[free]
    assert np.array_equal(model.embed(params), whole)
    assert np.array_equal(model.coefficients(params), arch.coefficients(whole))
    jacobian = arch.jacobian(whole)[:, free]
    assert np.array_equal(model.jacobian(params), jacobian)
    for name, part in model.layers.items():
        indices = np.asarray(free)[part]
        assert all(arch.layers[name].start <= i < arch.layers[name].stop for i in indices)
    assert sum(part.stop - part.start for part in model.layers.values()) == model.n_params


def test_tangents_span_the_columns_of_the_free_parameters(rng):
    arch = Hierarchical(2, 4)
    model = Frozen(arch, arch.init(rng), np.arange(arch.n_params) % 2 == 0)
    params = model.init(rng)
    spanned = ConstraintSpace.from_columns(np.hstack(list(model.tangents(params).values())), equilibrated=True)
    assert spanned.dimension == np.linalg.matrix_rank(model.jacobian(params)) == model.generic_capacity()


def test_the_capacity_is_that_at_the_fixed_values():
    """Frozen at zero, the first layer lets nothing through; frozen elsewhere it does."""
    arch = Hierarchical(1, 2)
    free = [2, 3]
    assert Frozen(arch, np.zeros(4), free).generic_capacity() == 0
    assert Frozen(arch, [0.5, 0.25, 0, 0], free).generic_capacity() == 2
    assert Frozen(Recurrent(3, 2), np.ones(6), [0, 2, 3, 4]).generic_capacity() == 3


def test_a_fit_moves_the_free_parameters_only():
    arch = Hierarchical(2, 3)
    values = arch.init(np.random.default_rng(0))
    model = Frozen(arch, values, np.arange(4, arch.n_params))
    found = fit(model, PowerLaw(), start="random")
    assert np.array_equal(model.embed(found.params)[:4], values[:4])
    assert found.loss <= fit(arch, PowerLaw()).loss * (1 + 1e-6) + 1e-20
    assert allocate(model, found.params, PowerLaw()).total == model.generic_capacity()


test_refused = refused(
    lambda values, free: Frozen(Hierarchical(1, 2), values, free),
    ([1.0], [0], "values: found 1 value, expected 4"),
    (np.ones(4), [], "free: found"),
    (np.ones(4), [4], "index from 0 to 3"),
    (np.ones(4), [-1], "index from 0 to 3"),
    (np.ones(4), [0.5], "free: found"),
    (np.ones(4), np.zeros(4, bool), "free: found"),
)


def test_parameters_of_another_length_are_refused():
    with pytest.raises(ValueError, match="params: found 3 values, expected 2"):
        Frozen(Hierarchical(1, 2), np.ones(4), [0, 1]).coefficients([1.0, 2.0, 3.0])
