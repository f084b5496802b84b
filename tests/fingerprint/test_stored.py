"""The committed results: of the present code, with the numbers that were made, wherever the files lie."""

import ast
import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from chapters.fingerprint import names, reach
from chapters.fingerprint.__main__ import entries, main
from chapters.kit import stored as results

ROOT = Path(__file__).parents[2]
VALUES = json.loads(Path(__file__).with_name("values.json").read_text("utf8"))
FILES = sorted(ROOT.glob("chapters/*/results/*.json"), key=lambda path: path.stem)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_stored_result_is_of_the_present_code(path):
    assert results.load(path)["values"]


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_no_stored_number_was_edited(path):
    """SHA-256 of the text from "values" on, written down when the experiment was run, in values.json beside this file.

    Running an experiment again is the one reason to write another hash there.
    """
    _, separator, values = path.read_text("utf8").partition('\n "values": ')
    found = hashlib.sha256((separator + values).encode()).hexdigest()
    assert found == VALUES[path.stem], f"{path.stem}: if it was run again, write {found} into values.json"


def test_hashes_are_of_files_that_are_there():
    assert sorted(VALUES) == [path.stem for path in FILES]


def test_only_timings_are_decided_by_no_code():
    assert {path.stem for path in FILES} - set(entries()) == {"benchmarks"}


@pytest.mark.ci
def test_a_new_family_of_processes_makes_nothing_stale():
    """It stands in ``REGISTRY``, on which no stored result depends; those that take all five read ``FAMILIES``."""
    reached = {name for entry, _ in entries().values() for name in reach(entry).names}
    assert ("capcore.processes.families", "FAMILIES") in reached
    assert ("capcore.processes.families", "REGISTRY") not in reached


def test_no_stored_run_calls_what_is_left_out_because_it_only_hands_results_on():
    """Nor does it name such a method in a text, with which it could be called."""
    sources = names.Sources(ROOT, ["capcore", "chapters"])
    for module, name in {each for entry, _ in entries().values() for each in reach(entry).names}:
        for node in (inner for outer in sources.module(module).definitions[name] for inner in counted(outer)):
            said = getattr(node, "attr", None) or getattr(node, "value", None)
            assert not (isinstance(said, str) and said in names.SHOWN), f"{module}:{name} uses {said}"


def counted(node):
    """The nodes below and at this one, without the methods that are left out: what they call is left out, too."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.ClassDef) and getattr(child, "name", None) in names.SHOWN):
            yield from counted(child)


def test_settings_are_the_present_ones():
    """As far as they can be read off the sources; the fingerprint holds the rest."""
    compared = set()
    for name, (entry, _) in entries().items():
        present = results._settings(reach(entry))
        stored = results.stored(name)["settings"]
        assert all(stored[key] == value for key, value in present.items())
        compared |= {name} if present else set()
    assert {"lbfgs_stopping", "trained_spectra", "side_inputs", "mimicry"} & compared


def stripped(path):
    """Source in another layout, without comments, with other docstrings."""
    tree = ast.parse(path.read_text("utf8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant("Something else.")
    return ast.unparse(tree)


@pytest.mark.ci
def test_chapters_moved_and_reformatted_make_nothing_stale(tmp_path, monkeypatch):
    """``chapters`` becomes a folder of another name, and every file is laid out anew."""
    for path in [*(ROOT / "capcore").rglob("*.py*"), *(ROOT / "chapters").rglob("*.py")]:
        if path.suffix == ".pyc":
            continue
        where = tmp_path / re.sub("^chapters", "rooms", path.relative_to(ROOT).as_posix())
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(re.sub(r"\bchapters\b", "rooms", stripped(path)), "utf8")
    for path in [*(ROOT / "capcore").rglob("*.pyi"), *(ROOT / "chapters").rglob("*.pyi")]:
        shutil.copy(path, tmp_path / re.sub("^chapters", "rooms", path.relative_to(ROOT).as_posix()))
    table = Path("spectra_resnets", "resnet_sources.csv")
    shutil.copy(ROOT / "chapters" / table, tmp_path / "rooms" / table)
    monkeypatch.setattr(names, "MACHINERY", tuple(name.replace("chapters", "rooms") for name in names.MACHINERY))
    for name, (entry, stored) in entries().items():
        assert reach(entry.replace("chapters.", "rooms."), tmp_path).hash == stored, name


def test_the_command_names_the_results_that_reach_a_definition(capsys):
    assert main(["fit_power_law"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines} >= {"trained_spectra", "layer_seeds", "resnet_fits"}
    assert all("capcore.spectra.power_law:fit_power_law" in line for line in lines)
    main([])
    assert len(capsys.readouterr().out.splitlines()) == len(entries())
