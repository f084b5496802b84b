"""Pages show the values of parameters in place of their names, and nothing else of their code is changed."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from book._ext.literal_parameters import values_of, with_values

CODE = """fit = cc.fit(stack, channels=channels)  # channels
stack.channels = [channels for _ in range(4)]
print("channels", channels)
"""


@given(
    value=st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.lists(st.integers()))
)
def test_names_that_are_read_become_values(value):
    shown = with_values(CODE, {"channels": repr(value)})
    names = [node.id for node in ast.walk(ast.parse(shown)) if isinstance(node, ast.Name)]
    assert "channels" not in names


def test_attributes_keywords_strings_and_comments_stay():
    shown = with_values(CODE, {"channels": "2"})
    assert (
        shown
        == """fit = cc.fit(stack, channels=2)  # channels
stack.channels = [2 for _ in range(4)]
print("channels", 2)
"""
    )


def test_values_are_read_not_run():
    assert values_of("n: int = open('x')\nm = 3\nk: float = 2**-3") == {"n": "open('x')", "k": "(2 ** (-3))"}
