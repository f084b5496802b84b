import json

import pytest

from capcore.fitting.lbfgs import minimise_lbfgs as function
from chapters.hierarchical_errors.experiment import SETTINGS
from chapters.kit import stored as results


def test_what_is_saved_is_loaded_with_its_settings_and_versions(tmp_path):
    path = tmp_path / "results" / "x.json"
    results.save(path, "python -m x", function, {"seed": 0}, {"numbers": (1, 2.5), "nested": {1: [[1, 2], [3, 4]]}})
    content = results.load(path)
    assert content["values"] == {"numbers": [1, 2.5], "nested": {"1": [[1, 2], [3, 4]]}}
    assert content["settings"] == {"seed": 0}
    assert set(content["versions"]) == {"python", "kernels", "processor", "capcore", "numpy", "scipy"}
    assert content["entry"] == f"{function.__module__}:minimise_lbfgs"
    assert '"numbers": [ 1, 2.5 ]' in path.read_text()


def test_a_name_is_enough_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert results.stored("lbfgs_stopping")["settings"] == SETTINGS
    assert results.path_of("lbfgs_stopping").parent.parent.name == "hierarchical_errors"
    with pytest.raises(FileNotFoundError, match=r"found 'lbfgs_stoping', expected .* Did you mean 'lbfgs_stopping'\?"):
        results.path_of("lbfgs_stoping")


def test_a_name_belongs_to_one_chapter():
    assert len(results.paths()) == len(list(results.CHAPTERS.glob("*/results/*.json")))


def test_a_number_that_was_edited_is_refused(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", function, {}, {"numbers": [1, 2.5]})
    path.write_text(path.read_text().replace("2.5", "2.6"))
    with pytest.raises(results.ResultsError, match=r"^x\.json: found values with digest .* expected .*: python -m x$"):
        results.load(path)


@pytest.mark.parametrize("name", results.paths())
def test_no_stored_number_was_edited(name):
    assert results.stored(name)["values"]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.json"
    results.save(path, "python -m x", None, {}, {"seconds": 1.0})
    with pytest.raises(TypeError):
        results.save(path, "python -m x", None, {}, {"seconds": object()})
    assert results.load(path)["values"] == {"seconds": 1.0} and list(tmp_path.iterdir()) == [path]
    assert json.loads(path.read_text())["entry"] is None
