"""Pages show the values of parameters in place of their names, and nothing else of their code is changed."""

import ast
import importlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

EXTENSIONS = Path(__file__).resolve().parents[2] / "book" / "_ext"
CODE = """fit = cc.fit(stack, channels=channels)  # channels
stack.channels = [channels for _ in range(4)]
print("channels", channels)
"""


@pytest.fixture(scope="module")
def extension():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXTENSIONS)
        yield importlib.import_module("literal_parameters")


@given(
    value=st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.lists(st.integers()))
)
def test_names_that_are_read_become_values(extension, value):
    shown = extension.with_values(CODE, {"channels": repr(value)})
    names = [node.id for node in ast.walk(ast.parse(shown)) if isinstance(node, ast.Name)]
    assert "channels" not in names


def test_attributes_keywords_strings_and_comments_stay(extension):
    shown = extension.with_values(CODE, {"channels": "2"})
    assert (
        shown
        == """fit = cc.fit(stack, channels=2)  # channels
stack.channels = [2 for _ in range(4)]
print("channels", 2)
"""
    )


def test_a_cell_without_parameters_stays_as_it_is(extension):
    assert extension.with_values(CODE, {}) == CODE
    assert extension.with_values("x = 1", {"channels": "2"}) == "x = 1"


def test_values_are_read_not_run(extension):
    assert extension.values_of("n: int = open('x')\nm = 3\nk: float = 2**-3") == {"n": "open('x')", "k": "(2 ** (-3))"}
