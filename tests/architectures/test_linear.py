"""A fixed basis: as many parameters as columns, and coefficients by the matrix product."""

import numpy as np

from capcore.architectures import Linear


def test_parameters_are_the_columns(rng):
    basis = rng.normal(size=(6, 2))
    arch = Linear(basis, input_dim=3)
    assert (arch.n_params, arch.n_inputs, arch.layers) == (2, 2, {"layer 1": slice(0, 2)})
    assert arch.init(rng).shape == (2,)
    np.testing.assert_allclose(arch.coefficients([1.0, -2.0]), basis @ [1.0, -2.0])
    assert np.array_equal(arch.jacobian([1.0, -2.0]), basis)
    assert Linear(basis[:5]).n_inputs == 5
