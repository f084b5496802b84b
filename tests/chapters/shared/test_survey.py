import warnings

import numpy as np
import pytest

from capcore import AR1, Hierarchical, PowerLaw
from capcore.processes import FAMILIES
from chapters.shared import survey


def test_every_family_is_there_and_none_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cases = survey.across_families(Hierarchical(channels=2, n_layers=4))
    assert list(cases) == list(FAMILIES)
    assert all(case.process == FAMILIES[name]() for name, case in cases.items())


def test_a_low_rank_target_is_attained_at_a_singular_point():
    low, full = (survey.case(Hierarchical(channels=4, n_layers=6), process) for process in (AR1(), PowerLaw()))
    assert low.attained and not low.regular
    assert not full.attained and full.regular
    assert np.abs(low.error).max() < 1e-12 < np.abs(full.error).max()


def test_options_reach_the_fit():
    case = survey.case(Hierarchical(channels=2, n_layers=4), PowerLaw(), method="l-bfgs-b", max_iterations=3)
    assert case.fit.method == "l-bfgs-b" and case.fit.n_iterations == 3
    assert case.error == pytest.approx(case.fit.coefficients - case.problem.target)
