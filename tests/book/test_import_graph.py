"""The imports of the package: read from the code, without circles, from the process down to comparisons."""

import pytest

from book._ext.import_graph import import_graph, reading_hours, rows


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


def test_the_time_to_read_the_core_counts_its_words(tmp_path):
    (tmp_path / "capcore" / "fitting").mkdir(parents=True)
    (tmp_path / "capcore" / "fitting" / "one.py").write_text("word " * 9_000)
    (tmp_path / "capcore" / "verbs.py").write_text("word " * 4_500)
    (tmp_path / "capcore" / "plotting.py").write_text("word")
    assert reading_hours(tmp_path) == 1.5
