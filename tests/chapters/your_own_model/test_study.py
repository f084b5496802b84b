import numpy as np
import pytest

from capcore import allocate, fit
from capcore.architectures import Hierarchical
from capcore.processes import AR1, FractionalGaussianNoise, PowerLaw
from chapters.your_own_model.study import autocorrelations, refitted_profiles, transformed


def test_autocorrelations_start_at_one():
    found = autocorrelations([AR1(0.5), PowerLaw().with_nugget(3.0)], 4)
    assert found[:, 0].tolist() == [1, 1]
    assert found[0] == pytest.approx(0.5 ** np.arange(4))
    assert found[1, 1:] == pytest.approx(np.arange(2, 5) ** -0.5 / 4)


def test_profiles_are_those_of_each_optimum():
    arch = Hierarchical(2, 4)
    processes = [PowerLaw(), PowerLaw(0.7), FractionalGaussianNoise(0.8)]
    start = fit(arch, processes[0]).params
    found = refitted_profiles(arch, start, processes)
    assert found.shape == (3, 16) and found.sum(axis=1) == pytest.approx(np.full(3, 12))
    for profile, process in zip(found, processes, strict=True):
        assert profile == pytest.approx(allocate(arch, fit(arch, process).params, process).per_input, abs=1e-3)


def test_logarithms_of_what_has_one():
    values = np.array([1.0, np.e, 4.0])
    assert transformed(values, True) == pytest.approx([0, 1, np.log(4)])
    assert transformed(-values, False) is not None
    with pytest.raises(ValueError, match="logarithm: found the value 0 at index 2, expected positive ones"):
        transformed(np.array([1.0, 2.0, 0.0]), True)
