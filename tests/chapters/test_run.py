"""The command that lists stored results and runs their experiments again, on a chapter of a few lines."""

import json
import re
import sys
from importlib import import_module

import pytest

from chapters import __main__ as command
from chapters.kit import running, stored

STUDY = """
SETTINGS = {"n": 3, "seeds": [0, 1]}
QUICK = {"n": 1}
PACKAGES = ("numpy",)


def run(settings=SETTINGS, progress=False, workers=1):
    if settings["n"] < 0:
        raise KeyboardInterrupt if settings["n"] < -1 else ZeroDivisionError
    return {"squares": [i**2 for i in range(settings["n"])], "progress": progress, "several": workers > 0}
"""
PLAIN = """
SETTINGS = {"seeds": [5, 6]}


def run(settings):
    return settings
"""
GIVEN = """
def run():
    return {}


def main(arguments):
    print("given", *arguments)
    return 3 if "--fail" in arguments else 0
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    """Chapter ``toy`` with the results ``squares`` and ``plain``, chapter ``other`` with ``given`` and ``timings``."""
    rooms = tmp_path / "rooms"
    for chapter, files in {"toy": {"study": STUDY, "plain": PLAIN}, "other": {"given": GIVEN}}.items():
        (rooms / chapter / "results").mkdir(parents=True)
        for name, text in files.items():
            (rooms / chapter / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(stored, "CHAPTERS", rooms)
    for name, entry in {"squares": "toy.study", "plain": "toy.plain", "given": "other.given"}.items():
        path = rooms / entry.split(".")[0] / "results" / f"{name}.json"
        function = import_module(f"rooms.{entry}").run
        stored.save(path, f"python -m chapters run {name}", function, {}, {"old": 1})
    stored.save(rooms / "other" / "results" / "timings.json", "python -m timing", None, {}, {"seconds": 1.0})
    yield rooms
    for name in [name for name in sys.modules if name.split(".")[0] == "rooms"]:
        del sys.modules[name]


def value(room, name):
    return json.loads(next(room.glob(f"*/results/{name}.json")).read_text())["values"]


def test_a_result_is_run_and_saved(room, capsys):
    assert command.main(["run", "squares"]) == 0
    content = stored.stored("squares")
    assert content["values"] == {"squares": [0, 1, 4], "progress": True, "several": True}
    assert content["command"] == "python -m chapters run squares" and content["settings"] == {"n": 3, "seeds": [0, 1]}
    assert (
        set(content["versions"]) == {"python", "kernels", "processor", "capcore", "numpy", "scipy"}
        and content["entry"] == "rooms.toy.study:run"
    )
    assert "written to" in capsys.readouterr().out and value(room, "plain") == {"old": 1}


def test_a_chapter_is_all_its_results(room):
    assert command.main(["run", "toy", "squares"]) == 0
    assert value(room, "plain") == {"seeds": [5, 6]} and len(value(room, "squares")) == 3


def test_the_list_says_what_makes_each(room, capsys):
    assert command.main(["list"]) == 0
    head, *rows = [line.split(maxsplit=5) for line in capsys.readouterr().out.splitlines()]
    assert head == ["result", "chapter", "size", "capcore", "command"]
    assert {name: (chapter, command) for name, chapter, _, _, _, command in rows} == {
        "given": ("other", "python -m chapters run given"),
        "plain": ("toy", "python -m chapters run plain"),
        "squares": ("toy", "python -m chapters run squares"),
        "timings": ("other", "python -m timing"),
    }


def test_quick_writes_nothing(room, capsys):
    before = {path: path.read_bytes() for path in room.rglob("*.json")}
    assert command.main(["run", "squares", "--quick"]) == 0
    assert "nothing written; {'progress': True, 'several': True, " in capsys.readouterr().out
    assert before == {path: path.read_bytes() for path in room.rglob("*.json")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["squars"], "found 'squars', expected a stored result, or a chapter that has some. Did you mean 'squares'?"),
        (["xyzzy"], "found 'xyzzy', .* See python -m chapters list"),
        ([], "found none, expected a stored result"),
        (["squares", "plain", "--quick"], r"plain: rooms\.toy\.plain has no QUICK"),
        (["squares", "--table", "x"], "arguments: found --table x, expected names and --quick"),
        (["timings"], "timings: found timings, .* Run python -m timing"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is(room, capsys, arguments, message):
    assert command.main(["run", *arguments]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert value(room, "squares") == {"old": 1}


def test_an_entry_that_is_gone_is_named(room, capsys):
    path = stored.path_of("squares")
    path.write_text(path.read_text().replace("study:run", "gone:run"))
    assert command.main(["run", "squares"]) == 2
    assert "rooms.toy.gone:run cannot be imported" in capsys.readouterr().err


def test_a_run_that_fails_or_is_interrupted_leaves_the_old_file(room, monkeypatch, capsys):
    module = running.Experiment.of(stored.path_of("squares")).module
    monkeypatch.setitem(module.SETTINGS, "n", -1)
    with pytest.raises(ZeroDivisionError) as caught:
        command.main(["run", "squares"])
    assert caught.value.__notes__ == ["squares: the run failed; squares.json is as it was."]
    monkeypatch.setitem(module.SETTINGS, "n", -2)
    assert command.main(["run", "squares"]) == 130
    assert "interrupted; squares.json is as it was" in capsys.readouterr().err
    assert value(room, "squares") == {"old": 1}
    assert sorted(path.name for path in (room / "toy" / "results").iterdir()) == ["plain.json", "squares.json"]


def test_a_module_can_take_over_with_the_arguments_after_its_name(room, capsys):
    assert command.main(["run", "given", "--table", "x.csv"]) == 0
    assert command.main(["run", "given", "--help"]) == 0
    assert command.main(["run", "given", "--fail"]) == 3
    assert capsys.readouterr().out.splitlines() == ["given --table x.csv", "given --help", "given --fail"]


def test_the_command_explains_itself(room, capsys):
    for arguments in (["run", "--help"], ["run", "squares", "--help"]):
        assert command.main(arguments) == 0
        assert "--quick" in capsys.readouterr().out


def test_every_stored_result_names_the_command_that_makes_it():
    for name, path in stored.paths().items():
        content = json.loads(path.read_text("utf8"))
        if name != "benchmarks":
            assert content["command"].startswith(f"python -m chapters run {name}")
            assert path.parent.parent.name == content["entry"].split(".")[1]


def test_what_jax_compiles_is_kept_meanwhile():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_compilation_cache_dir
    with running.kept_programs():
        assert jax.config.jax_compilation_cache_dir != before
        assert jax.jit(lambda x: 2 * x)(1.5) == 3
    assert jax.config.jax_compilation_cache_dir == before
