import numpy as np

from capcore import Hierarchical, PowerLaw, Problem, fit
from chapters.hierarchical_layers import study as ensembles

ARCH = Hierarchical(channels=3, n_layers=3)
PROBLEM = Problem.of(ARCH, PowerLaw())


def test_the_same_model_keeps_what_the_layers_add_up_to():
    params = fit(ARCH, PROBLEM).params
    same = ensembles.same_model(ARCH, params, PROBLEM, 3)
    sums = ensembles.stack(same, "forward").sum(axis=1)
    assert np.ptp(sums, axis=0).max() < 1e-8
    assert ensembles.largest_change(same, "independent").shape == (3,)
