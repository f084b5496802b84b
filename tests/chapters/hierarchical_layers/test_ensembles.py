import numpy as np
import pytest

from capcore import Hierarchical, PowerLaw, Problem, fit
from chapters.hierarchical_layers import study as ensembles

ARCH = Hierarchical(channels=3, n_layers=3)
PROBLEM = Problem.of(ARCH, PowerLaw())


def test_each_draw_has_its_own_seed_so_that_fewer_are_the_first_of_more():
    few, many = (ensembles.untrained(ARCH, PROBLEM, n, seed=3) for n in (2, 4))
    assert ensembles.stack(few, "independent") == pytest.approx(ensembles.stack(many, "independent")[:2])
    assert not np.allclose(*ensembles.stack(few, "independent"))


def test_random_starts_pass_their_options_on():
    options = {"method": "l-bfgs-b", "max_iterations": 5}
    (found,) = ensembles.random_starts(ARCH, PROBLEM, 1, seed=2, **options)
    params = fit(ARCH, PROBLEM, rng=np.random.default_rng([2, 0]), start="random", **options).params
    (expected,) = ensembles.profiles_at(ARCH, [params], PROBLEM)
    assert found.independent == pytest.approx(expected.independent)


def test_the_same_model_keeps_what_the_layers_add_up_to():
    params = fit(ARCH, PROBLEM).params
    same = ensembles.same_model(ARCH, params, PROBLEM, 3)
    sums = ensembles.stack(same, "forward").sum(axis=1)
    assert np.ptp(sums, axis=0).max() < 1e-8
    assert ensembles.largest_change(same, "independent").shape == (3,)
