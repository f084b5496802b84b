"""``python -m chapters rerun``: what is refused before a kernel starts, and what it writes and prints."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from chapters.__main__ import main
from chapters.idea.parameters import Parameters
from chapters.kit.parameters import parameters_of
from chapters.sweeps import rerun
from chapters.sweeps.notebooks import NotebookError, by_types, checked, from_text, notebook_path, read_notebook
from chapters.sweeps.outcome import comparison
from tests.sweeps.conftest import PARAMETERS

KNOWN = by_types(PARAMETERS)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("scael", "1"), "scael: not a parameter of this notebook.*Did you mean 'scale'"),
        (("n", "many"), "n: found 'many', expected int"),
        (("n", "2.5"), "n: found 2.5, expected int"),
        (("n", "4.0"), "n: found 4.0, expected int"),
        (("n", "true"), "n: found True, expected int"),
        (("scale", ".nan"), "scale: found nan, expected float"),
        (("sizes", "3"), r"sizes: found 3, expected list. .* rerun as -p sizes '\[1, 2\]'"),
        (("either", "[1"), r"either: found '\[1', which cannot be read"),
        (("sizes", "!!python/object/apply:os.system [ls]"), "cannot be read"),
    ],
    ids=str,
)
def test_refused_before_a_kernel_starts(pair, message, notebook, capsys, monkeypatch):
    monkeypatch.setattr(rerun, "execute", lambda *_, **__: pytest.fail("a kernel was started"))
    with pytest.raises(NotebookError, match=message):
        checked(KNOWN, from_text(KNOWN, [pair]))
    assert main(["rerun", str(notebook), "-p", *pair]) == 2
    assert pair[0] in capsys.readouterr().err


def test_values_are_read_by_their_types():
    given = [("n", "4"), ("scale", "1e-3"), ("word", "plain"), ("sizes", "[3, 4]"), ("either", "[5]")]
    expected = {"n": 4, "scale": 0.001, "word": "plain", "sizes": [3, 4], "either": [5]}
    assert checked(KNOWN, from_text(KNOWN, given)) == expected
    assert type(checked(KNOWN, {"scale": 1})["scale"]) is float


def test_a_chapters_declaration_decides(tmp_path, monkeypatch, capsys):
    """Its ranges and choices before a kernel starts, and paths from the folder in which the command is called."""
    monkeypatch.setattr(rerun, "execute", lambda *_, **__: pytest.fail("a kernel was started"))
    assert main(["rerun", "idea", "-p", "process", "AR"]) == 2
    assert main(["rerun", "idea", "-p", "correlation", "1"]) == 2
    assert main(["rerun", "hierarchical", "-p", "channels", "3"]) == 2
    said = capsys.readouterr().err
    assert "expected PowerLaw, " in said and "Did you mean 'AR1'?" in said
    assert "correlation: found 1, expected float, between -1 and 1." in said
    assert "Did you mean 'channel_list'? Papermill takes it as -y 'channel_list: [1, 2, " in said
    monkeypatch.chdir(tmp_path)
    declared = read_notebook(notebook_path("your_own_model"))[1]
    assert checked(declared, from_text(declared, [("series", "a.csv")])) == {"series": str(tmp_path / "a.csv")}
    assert checked(Parameters, {"channels": 1}) == {"channels": 1}


def test_a_copy_is_written_and_its_claims_compared(notebook, tmp_path, capfd):
    target = tmp_path / "made" / "copy.ipynb"
    assert main(["rerun", str(notebook), "-p", "n", "5", "-o", str(target)]) == 0
    said, warned = capfd.readouterr()
    assert "P9.01.gap  –     5     ≤ 3" in said and "IPKernelApp" not in warned
    before = target.read_bytes()
    assert main(["rerun", str(target), "-o", str(target)]) == 2 and target.read_bytes() == before


def test_the_books_values_stand_beside():
    def executed(gap):
        evidence = {"claim": "P9.01", "values": {"gap": gap, "odd": [1.5]}, "tests": {"gap": {"at_most": 3.0}}}
        outputs = [new_output("display_data", {"text/plain": ""}, metadata={"capcore": evidence})]
        return new_notebook(cells=[new_code_cell(outputs=outputs)])

    assert comparison(executed(2.0), executed(5.0)).splitlines()[1:] == ["P9.01.gap  2     5     ≤ 3"]
    assert comparison(executed(2.0), new_notebook()) == ""


@pytest.mark.slow
def test_a_failed_cell_leaves_its_notebook(notebook, tmp_path, capsys):
    target = tmp_path / "copy.ipynb"
    assert main(["rerun", str(notebook), "-p", "word", "fancy", "-o", str(target)]) == 1
    assert "RuntimeError: no fancy things" in capsys.readouterr().err
    assert nbformat.read(target, as_version=4).cells


def test_help_lists_every_parameter(notebook, capsys):
    assert main(["rerun", str(notebook), "--help-notebook"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {known.name}: " in said for known in parameters_of(KNOWN))
    assert main(["rerun", "idea", "--help-notebook"]) == 0
    said = capsys.readouterr().out
    assert "  correlation: float = 0.5\n      of two inputs\n      range: between -1 and 1" in said


def test_a_chapter_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert notebook_path("idea") == notebook_path("notebooks/idea.ipynb")
    with pytest.raises(NotebookError, match="Did you mean 'hierarchical'"):
        notebook_path("hierarchicl")
    with pytest.raises(NotebookError, match="no such notebook"):
        notebook_path("elsewhere/idea.ipynb")
