import pytest

from chapters.claims import ClaimsError, load
from chapters.hierarchical_errors.registered import limit, passes


def test_all_values_must_pass_their_own_test():
    check = load()["P1.23"].check("ratio_inputs")
    bound = limit("P1.23", "ratio_inputs")
    assert check.test.holds(bound) and not check.test.holds(bound + 1e-6)
    assert passes("P1.23", ratio_inputs=bound, ratio_eigenvectors=bound)
    assert not passes("P1.23", ratio_inputs=bound, ratio_eigenvectors=bound + 1e-6)


def test_unknown_names_are_refused():
    with pytest.raises(ClaimsError, match="ratio_inputs"):
        passes("P1.23", ratio_input=0.1)
    with pytest.raises(ClaimsError, match=r"P1\.99"):
        limit("P1.99", "x")
