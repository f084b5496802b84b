import subprocess
import sys
from pathlib import Path

import pytest

from capcore.cli import COMMANDS, main
from chapters.claims import load


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text and help_line in text for name, (_, help_line) in COMMANDS.items())


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_a_missing_or_unknown_command_is_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert "command" in capsys.readouterr().err


def test_a_subcommand_has_its_own_help(capsys):
    with pytest.raises(SystemExit) as left:
        main(["claims", "collect", "--help"])
    assert left.value.code == 0
    assert "usage: capcore claims collect" in capsys.readouterr().out


def test_help_imports_no_subcommand():
    code = (
        "import sys\nfrom capcore.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('chapters.claims' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "False"


def test_the_installed_command_lists_the_books_claims():
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "capcore.cli", "claims", "list"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    assert [line.split()[0] for line in result.stdout.splitlines()] == [claim.id for claim in load()]
