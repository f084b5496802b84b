"""Layers of zeros and of low rank: the octaves agree with the dense allocation, and warn as it does."""

import warnings

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.capacity.allocation import CapacityWarning, allocate
from capcore.large.allocation import allocate_large
from capcore.large.exponentials import exponential_sequence
from capcore.large.octaves.capacity import octave_capacities
from capcore.processes import PowerLaw

TASK = PowerLaw()
ROUNDING = 1e-11  # condition numbers up to 1e3, a hundred columns, eps 2e-16


def by_octave(per_input, edges):
    return np.add.reduceat(per_input, edges[:-1])


@pytest.mark.parametrize("zero", [[], [1], [2], [3], [4], [1, 4], [2, 3], [1, 2, 3, 4]], ids=str)
@pytest.mark.parametrize("channels", [1, 2, [2, 3, 2]], ids=str)
@pytest.mark.filterwarnings("ignore::capcore.capacity.allocation.CapacityWarning")
def test_layers_of_zeros(channels, zero):
    arch = Hierarchical(channels, 4, kernel_size=[2, 3, 2, 2])
    params = arch.init(np.random.default_rng(0))
    for l in zero:
        params[arch.layers[f"layer {l}"]] = 0
    dense = allocate(arch, params, TASK)
    found = octave_capacities(arch.kernels(params), exponential_sequence(TASK, arch.n_inputs))
    assert found.total == dense.total == round(float(found.per_octave.sum()))
    assert found.per_octave == pytest.approx(by_octave(dense.per_input, found.edges), abs=ROUNDING)
    large = allocate_large(arch, params, TASK)
    assert large.total == dense.total and large.per_input == pytest.approx(dense.per_input, abs=1e-9)


def test_it_warns_below_the_generic_rank_as_its_siblings_do():
    """Two channels that do the same: the rank at their bond is one, and fewer than 12 directions are left."""
    arch = Hierarchical(2, 4)
    params = arch.init(np.random.default_rng(0))
    kernels = arch.kernels(params)
    kernels[1][:, :, 1] = kernels[1][:, :, 0]
    sequence = exponential_sequence(TASK, 16)
    with pytest.warns(CapacityWarning, match=r"capacity \d+ at these kernels differs .* generic capacity 12") as caught:
        octave_capacities(kernels, sequence)
    assert caught[0].filename == __file__
    with pytest.warns(CapacityWarning):
        allocate_large(arch, np.concatenate([kernel.ravel() for kernel in kernels]), TASK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        octave_capacities(arch.kernels(arch.init(np.random.default_rng(0))), sequence)
