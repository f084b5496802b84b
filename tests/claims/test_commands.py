import pytest

from chapters.__main__ import main
from chapters.claims.registry import load


def run(registry_file, *arguments):
    return main(["claims", *arguments, "--registry", str(registry_file)])


def test_check_passes_when_notebooks_and_registry_agree(notebooks, registry_file, capsys):
    assert run(registry_file, "check") == 0
    assert "1 holds, 1 holds with a correction, 1 not attempted yet" in capsys.readouterr().out


def test_check_fails_when_a_value_was_changed(notebooks, registry_file, capsys, tamper):
    tamper(notebooks[0], "gap", 0.5)
    assert run(registry_file, "check") == 1
    assert "P1.01: verdict is now 'not found'" in capsys.readouterr().err


def test_check_fails_without_notebooks(registry_file, capsys):
    assert run(registry_file, "check") == 1
    assert "P1.01: no evidence for gap, count in alpha.ipynb" in capsys.readouterr().err


def test_collect_writes_only_when_told(notebooks, registry_file, capsys, tamper):
    tamper(notebooks[1], "all_cases", 5)
    assert run(registry_file, "collect") == 0
    assert "P1.02  holds (was: holds with a correction)" in capsys.readouterr().out
    assert load(registry_file)["P1.02"].verdict == "holds with a correction"
    assert run(registry_file, "collect", "--write") == 0
    assert load(registry_file)["P1.02"].verdict == "holds"
    assert run(registry_file, "check") == 0


def test_collect_reads_the_notebooks_it_is_given(notebooks, registry_file, capsys):
    assert run(registry_file, "collect", str(notebooks[0])) == 0
    assert "P1.02  no evidence (was: holds with a correction)" in capsys.readouterr().out


def test_evidence_that_cannot_be_used_is_a_message_not_a_traceback(notebooks, registry_file, capsys):
    notebooks[0].write_text("{}", encoding="utf-8")
    assert run(registry_file, "check") == 1
    assert "python -m chapters claims: The evidence cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize(("verdict", "ids"), [("holds", ["P1.01"]), ("false", [])])
def test_list_filters_by_verdict(registry_file, capsys, verdict, ids):
    assert run(registry_file, "list", "--verdict", verdict) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ids
