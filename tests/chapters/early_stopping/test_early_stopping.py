"""What stopped models miss, by Adam."""

import pytest

from capcore import Hierarchical, PowerLaw, fit
from chapters.early_stopping import study
from chapters.idea.study import refitted


def test_adam_learns_what_the_refitted_optimum_learns_and_nothing_at_its_start():
    """At its end a narrow stack misses what it misses when refitted; at the start all of it."""
    stack, process = Hierarchical(channels=1, n_layers=4), PowerLaw()
    start, end = study.missed_with_adam(stack, process, 10, [0, 2000], n_starts=2)
    assert end == pytest.approx(refitted(stack, fit(stack, process), process, 10, 0.1), abs=0.01)
    assert start == pytest.approx(1)
