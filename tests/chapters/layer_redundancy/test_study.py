"""Two designs compared: parameters, losses, families, and designs that cannot be compared."""

import pytest

from capcore import Hierarchical, PowerLaw
from chapters.layer_redundancy.study import Designs


def test_a_wider_design_is_never_worse():
    found = Designs.compare(Hierarchical(1, 3), Hierarchical(2, 3), PowerLaw())
    assert found.extra_parameters == 16 - 6
    assert found.unharmed == 5 and found.loss_ratio < 1
    narrow, wide = found.losses().values()
    assert list(narrow) == list(wide) and narrow["PowerLaw"] == pytest.approx(found.task[0].fit.loss)


def test_a_narrower_design_is_worse_where_there_is_something_to_lose():
    found = Designs.compare(Hierarchical(2, 3), Hierarchical(1, 3), PowerLaw())
    assert found.loss_ratio > 1 and found.unharmed < 5


def test_two_attained_targets_are_equal():
    found = Designs.compare(Hierarchical(4, 3), Hierarchical(8, 3), PowerLaw())
    assert found.loss_ratio == 1 and found.unharmed == 5


def test_designs_must_see_the_same_inputs():
    with pytest.raises(ValueError, match="guided: found 16 inputs, expected 8"):
        Designs.compare(Hierarchical(1, 3), Hierarchical(1, 4), PowerLaw())
