"""Thirty and more claims of the registry, computed a second time by other algorithms from the sources' equations."""

from typing import Any

import pytest

from tests.second_hand.values import CLAIMS, SLOW, disagreements, evidence, registry


@pytest.mark.parametrize("key", [pytest.param(key, marks=[pytest.mark.slow] * (key in SLOW)) for key in CLAIMS])
def test_second_hand(key: str) -> None:
    assert not disagreements(key, CLAIMS[key].compute())


def wrong(key: str) -> list[Any]:
    """Numbers that the comparison must notice: just beyond the tolerance, or beyond the bound."""
    (claim, name), (_, (relative, absolute, _), _sentence, _) = key.split(), CLAIMS[key]
    theirs = evidence()[claim].get(name)
    if theirs is None:
        return [0]
    if isinstance(theirs, list):
        return [theirs[::-1], theirs[1:]]
    if relative is None:
        [test] = (check["test"] for check in registry()[claim]["checks"] if check["name"] == name)
        return [2 * test["at_most"]]
    margin = 1.01 * (absolute + relative * abs(theirs)) or 0.1
    return [theirs - margin, theirs + margin]


@pytest.mark.parametrize("key", CLAIMS)
def test_wrong_numbers_are_noticed(key: str) -> None:
    assert all(disagreements(key, number) for number in wrong(key))
