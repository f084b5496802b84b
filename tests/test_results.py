import json

import pytest

from capcore import results

MODULES = ["capcore.lbfgs"]


def test_what_is_saved_is_loaded_with_its_settings_and_versions(tmp_path):
    path = tmp_path / "results" / "x.json"
    results.save(path, "python -m x", MODULES, {"seed": 0}, {"numbers": [1, 2.5], "nested": {"a": [[1, 2], [3, 4]]}})
    content = results.load(path)
    assert content["values"] == {"numbers": [1, 2.5], "nested": {"a": [[1, 2], [3, 4]]}}
    assert content["settings"] == {"seed": 0} and set(content["versions"]) == {"python", "numpy", "scipy"}
    assert '"numbers": [ 1, 2.5 ]' in path.read_text()


def test_results_of_other_code_are_refused_in_one_line(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", MODULES, {}, {})
    content = json.loads(path.read_text())
    content["code"]["hash"] = "0" * 16
    path.write_text(json.dumps(content))
    with pytest.raises(results.StaleResultsError, match=r"Make it again: python -m x") as caught:
        results.load(path)
    assert caught.value._render_traceback_() == [f"StaleResultsError: {caught.value}"]


def test_the_hash_is_taken_before_the_numbers_are_computed(tmp_path, monkeypatch):
    path = tmp_path / "x.json"

    def edit_meanwhile():
        monkeypatch.setattr(results, "code_hash", lambda modules: "edited")
        return {}

    results.save(path, "python -m x", MODULES, {}, edit_meanwhile)
    with pytest.raises(results.StaleResultsError, match="now has edited"):
        results.load(path)


SOURCE = '''"""Module."""

def f(x):
    """What it returns."""
    # why
    return x + "#1"  # trailing


class C:
    """Class."""

    y: int = 1
    """Attribute."""
'''


def test_prose_and_layout_do_not_count_but_code_does(monkeypatch):
    plain = results._essence(SOURCE)
    assert plain == 'def f(x):\n    return x + "#1"\nclass C:\n    y: int = 1'
    assert results._essence(SOURCE.replace("What it returns", "Else").replace("# why", "# because")) == plain
    assert results._essence(SOURCE.replace("#1", "#2")) != plain


def test_an_unknown_module_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"capcore\.nothing: not found"):
        results.code_hash(["capcore.nothing"])
