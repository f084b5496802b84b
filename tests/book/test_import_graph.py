"""The imports of the package: read from the code, without circles, from the process down to comparisons."""

import pytest

from book._ext.import_graph import import_graph, rows


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
