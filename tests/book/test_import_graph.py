"""The picture of the package: drawn from the code, without circles, from the process down to comparisons."""

import itertools
import re

import pytest

from book._ext.import_graph import WIDTH, import_graph, picture, reduced, rows
from tests.listings import ROOT


def test_arrows_that_follow_from_others_are_left_out():
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": set()}
    assert rows(graph) == [["a", "d"], ["b"], ["c"]]
    assert reduced(graph) == {"a": set(), "b": {"a"}, "c": {"b"}, "d": set()}
    with pytest.raises(ValueError, match="circle among a, b"):
        rows({"a": {"b"}, "b": {"a"}, "c": set()})


def test_the_picture_has_every_box_and_says_what_it_shows():
    graph = import_graph(ROOT)
    drawn = picture(graph)
    assert set(re.findall(r"<text[^>]*>(\w+)</text>", drawn)) == set(graph)
    assert drawn.count("<path") == sum(map(len, reduced(graph).values()))
    assert 'role="img"' in drawn and "verbs imports" in drawn


def test_no_box_is_cut_or_lies_on_another():
    row = {f"a_module_with_a_long_name_{i}": set() for i in range(14)}
    for graph in (import_graph(ROOT), row):
        drawn = re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)"', picture(graph))
        boxes = [tuple(map(float, each)) for each in drawn]
        assert all(x >= 0 and x + width <= WIDTH for x, _, width in boxes)
        for (x, y, _), (u, v, width) in itertools.permutations(boxes, 2):
            assert y != v or x < u or x > u + width


def test_imports_for_type_checkers_are_no_imports(tmp_path):
    folder = tmp_path / "capcore"
    folder.mkdir()
    (folder / "one.py").write_text("if TYPE_CHECKING:\n    from capcore.two import x\nfrom capcore import three\n")
    (folder / "two.py").write_text("def f():\n    from capcore.three.four import y\n")
    (folder / "three.py").write_text("")
    assert import_graph(tmp_path) == {"one": {"three"}, "two": {"three"}, "three": set()}
