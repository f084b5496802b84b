import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from capcore.commands.cli import COMMANDS, main
from chapters import __main__ as book
from chapters.claims.registry import load

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_a_missing_or_unknown_command_is_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert "command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "arguments", "meant"),
    [
        (main, ["desing"], "design"),
        (main, ["design", "a.csv", "--inpts", "8"], "--inputs"),
        (main, ["spectra", "a.npz", "--format", "jsn"], "json"),
        (book.main, ["rern", "idea"], "rerun"),
    ],
)
def test_a_misspelt_option_or_choice_gets_a_suggestion(program, arguments, meant, capsys):
    with pytest.raises(SystemExit) as left:
        program(arguments)
    assert left.value.code == 2 and capsys.readouterr().err.endswith(f". Did you mean {meant!r}?\n")


@pytest.mark.parametrize("name", book.ELSEWHERE)
def test_a_command_of_the_book_has_its_own_help(name, capsys):
    with pytest.raises(SystemExit) as left:
        book.main([name, "--help"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m chapters {name} ")


def test_the_help_of_the_book_lists_every_command(capsys):
    with pytest.raises(SystemExit) as left:
        book.main(["--help"])
    text = capsys.readouterr().out
    assert left.value.code == 0
    words = " ".join(text.split())
    assert all(f"{name} {help_line}" in words for name, (_, help_line) in book.ELSEWHERE.items())
    assert "  list " in text and "  run " in text


HEAVY = {"numpy", "scipy", "jax", "torch", "tqdm", "pandas", "matplotlib", "chapters.claims"}


def helped(*words):
    """The help of a command, and the modules that printing it imports."""
    command = [sys.executable, "-P", "-X", "importtime", "-m", *words, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


@pytest.mark.parametrize("name", ["capcore", "chapters", *COMMANDS])
def test_help_teaches_and_imports_nothing_that_takes_long(name):
    text, imported = helped(*(("capcore", name) if name in COMMANDS else (name,)))
    assert not imported & HEAVY
    parts = ("examples:", "exit status:", f"  capcore {name} ", "  130  ") if name in COMMANDS else ("usage: ",)
    assert all(part in text for part in parts)


def test_the_command_of_the_book_lists_its_claims():
    command = [sys.executable, "-P", "-m", "chapters", "claims", "list"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert [line.split()[0] for line in result.stdout.splitlines()] == [claim.id for claim in load()]


def test_letters_that_the_output_cannot_hold_are_replaced(tmp_path):
    """On Windows a pipe has no λ."""
    np.savez(tmp_path / "tiny.npz", layer=np.random.default_rng(0).normal(size=(32, 64)))
    command = [sys.executable, "-P", "-m", "capcore", "spectra", "--fast", "tiny.npz"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, capture_output=True, encoding="cp1252", cwd=tmp_path, env=environment)
    assert done.stderr == "" and "32×64" in done.stdout and "log ?max" in done.stdout
