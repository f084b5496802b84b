"""The imports of the package: read from the code, without circles, from the process down to comparisons."""

import pytest

from book._ext.import_graph import import_graph, rows
from tests.listings import ROOT

PIPELINE = ["processes", "architectures", "fitting", "capacity", "large", "verbs", "designs", "commands"]


def test_the_package_has_no_circle_and_reads_like_the_pipeline():
    graph = import_graph(ROOT)
    height = {box: i for i, row in enumerate(rows(graph)) for box in row}
    assert [height[box] for box in PIPELINE] == sorted(height[box] for box in PIPELINE)
    users: set[str] = set()  # of the verbs, at first or second hand
    for row in rows(graph):
        users |= {box for box in row if graph[box] & {"verbs", *users}}
    assert users == {"designs", "commands"}
    assert height["verbs"] == max(height[box] for box in graph if box not in users)


def test_a_circle_is_refused():
    assert rows({"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": set()}) == [["a", "d"], ["b"], ["c"]]
    with pytest.raises(ValueError, match="circle among a, b"):
        rows({"a": {"b"}, "b": {"a"}, "c": set()})


def test_imports_for_type_checkers_are_no_imports(tmp_path):
    folder = tmp_path / "capcore"
    folder.mkdir()
    (folder / "one.py").write_text("if TYPE_CHECKING:\n    from capcore.two import x\nfrom capcore import three\n")
    (folder / "two.py").write_text("def f():\n    from capcore.three.four import y\n")
    (folder / "three.py").write_text("")
    assert import_graph(tmp_path) == {"one": {"three"}, "two": {"three"}, "three": set()}
