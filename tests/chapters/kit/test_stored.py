import json

import pytest

from capcore.fitting.lbfgs import minimise_lbfgs as function
from chapters.fingerprint import reach
from chapters.hierarchical_errors.experiment import SETTINGS, run
from chapters.kit import stored as results


def test_what_is_saved_is_loaded_with_its_settings_and_versions(tmp_path):
    path = tmp_path / "results" / "x.json"
    results.save(path, "python -m x", function, {"seed": 0}, {"numbers": [1, 2.5], "nested": {"a": [[1, 2], [3, 4]]}})
    content = results.load(path)
    assert content["values"] == {"numbers": [1, 2.5], "nested": {"a": [[1, 2], [3, 4]]}}
    assert content["settings"] == {"seed": 0} and set(content["versions"]) == {"python", "numpy", "scipy"}
    assert content["code"]["entry"] == "capcore.fitting.lbfgs:minimise_lbfgs"
    assert '"numbers": [ 1, 2.5 ]' in path.read_text()


def test_a_name_is_enough_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert results.stored("lbfgs_stopping")["settings"] == SETTINGS
    assert results.path_of("lbfgs_stopping").parent.parent.name == "hierarchical_errors"
    with pytest.raises(FileNotFoundError, match=r"found 'lbfgs_stoping', expected .* Did you mean 'lbfgs_stopping'\?"):
        results.path_of("lbfgs_stoping")


def test_a_name_belongs_to_one_chapter():
    assert len(results.paths()) == len(list(results.CHAPTERS.glob("*/results/*.json")))


def changed(path, **code):
    """Write the file with another ``code``."""
    content = json.loads(path.read_text())
    content["code"] |= code
    path.write_text(json.dumps(content))


def test_results_of_other_code_are_refused_in_one_line(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", function, {}, {})
    changed(path, hash="0" * 16, definitions="")
    expected = r"^x\.json: .* \(changed: Minimum, minimise_lbfgs\)\. Make it again: python -m x$"
    with pytest.raises(results.StaleResultsError, match=expected) as caught:
        results.load(path)
    assert caught.value._render_traceback_() == [f"StaleResultsError: {caught.value}"]


def test_code_that_is_gone_is_named(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", function, {}, {})
    changed(path, entry="capcore.fitting.lbfgs:gone")
    with pytest.raises(results.StaleResultsError, match=r"capcore\.lbfgs:gone: not found, .* write its new place"):
        results.load(path)


def test_settings_that_have_changed_are_named(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", run, {**SETTINGS, "seed": 1}, {})
    others = [
        digest for digest, names in reach(results.code_of(run)["entry"]).digests.items() if "SETTINGS" not in names
    ]
    changed(path, hash="0" * 16, definitions=" ".join(others))
    with pytest.raises(results.StaleResultsError, match=r"\(changed: SETTINGS\[seed\]\)"):
        results.load(path)


def test_the_fingerprint_is_taken_before_the_numbers_are_computed(tmp_path, monkeypatch):
    path, taken = tmp_path / "x.json", []
    monkeypatch.setattr(results, "code_of", lambda *functions: taken.append("code") or {"entry": "a:b"})
    results.save(path, "python -m x", function, {}, lambda: taken.append("values") or {})
    assert taken == ["code", "values"]


def test_a_file_is_replaced_once_everything_is_computed(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", (), {}, {"seconds": 1.0})
    for values in (lambda: 1 / 0, {"seconds": object()}):
        with pytest.raises((ZeroDivisionError, TypeError)):
            results.save(path, "python -m x", (), {}, values)
    assert results.load(path)["values"] == {"seconds": 1.0} and list(tmp_path.iterdir()) == [path]


def test_values_that_no_code_decides_are_never_stale(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", (), {}, {"seconds": 1.0})
    assert results.load(path)["values"] == {"seconds": 1.0} and json.loads(path.read_text())["code"] is None
