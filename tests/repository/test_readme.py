"""What the README shows works: its commands, its code, its picture."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf8")
REPRODUCE = (ROOT / "book" / "reproduce.md").read_text("utf8")
FENCES = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
LINES = [line for language, text in FENCES if language == "console" for line in text.splitlines()]
PRINTED = [line[2:] for line in REPRODUCE.splitlines() if line.startswith("$ .venv/bin/python -m chapters ")]
"""What the page on reproducing shows of the book's own commands, but for what needs a cluster."""
COMMANDS = [line for line in LINES if line != "mkdir -p _build"]
ONES = [c for c in dict.fromkeys([*COMMANDS, *PRINTED]) if not c.startswith("make") and "--scheduler" not in c]
ONE_SCREEN = 45  # lines
LIGHTER = {"rerun": "-p large 16 -p max_iterations 100"}
"""What is added to a command: its chapter would train a model of millions of parameters, half a minute long."""


def test_first_screen():
    """A reader's own series, a picture, the two commands, one rerun, one sweep and one nbval command, and the site."""
    assert len(README.splitlines()) <= ONE_SCREEN
    assert FENCES[0][0] == "python" and "series = " in FENCES[0][1] and "book/index.md" in README
    site = re.search(r'ogp_site_url: "(.*?)"', (ROOT / "_config.yml").read_text("utf8"))[1]
    assert site in README, "the address of the published site: link it"
    expected = ["capacity allocation", "![", "make book", "make test", "--nbval", "pip install"]
    expected += [f".venv/bin/python -m chapters {command}" for command in ("rerun", "sweep")]
    assert all(part in README for part in expected)


def test_picture_exists_and_is_described():
    ((alt, target),) = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", README)
    assert (ROOT / target).is_file()
    assert len(alt.split()) > 20


def test_links_lead_somewhere():
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("make")])
def test_make_command(command):
    assert subprocess.run([*shlex.split(command), "-n"], cwd=ROOT, capture_output=True).returncode == 0


def test_the_folder_for_copies_is_made_before_it_is_used():
    """Not every program makes one, and there is none before the book is built."""
    used = [i for i, line in enumerate(LINES) if " _build/" in line]
    assert used and all("mkdir -p _build" in LINES[:i] for i in used)


def test_the_page_on_reproducing_shows_one_rerun_and_one_sweep():
    """Of the book's own commands; a cluster's needs one."""
    shown = [command.split()[3] for command in PRINTED if "--scheduler" not in command]
    assert set(shown) == {"rerun", "sweep"}


@pytest.mark.slow
@pytest.mark.parametrize("command", ONES, ids=lambda c: " ".join(c.split()[:4]))
def test_command(command, tmp_path):
    """As printed, but for where the copy goes, which environment runs it, and lighter settings of what it trains."""
    program, *arguments = shlex.split(command)
    assert program.startswith(".venv/bin/")
    program = Path(sys.executable).with_name(Path(program).name)
    arguments += next((added.split() for name, added in LIGHTER.items() if name in arguments), [])
    arguments = [str(tmp_path / Path(a).name) if a.startswith("_build/") else a for a in arguments]
    for argument in arguments:
        if argument.startswith("notebooks/") and not (ROOT / argument).exists():
            pytest.fail(f"{argument}: named in the README, but not there")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("code", [text for language, text in FENCES if language == "python"])
def test_code(code):
    exec(compile(code, "README.md", "exec"), {})


def test_printed_results_are_what_the_code_before_them_prints(capsys):
    """Every block of text is what the listing before it prints, and every listing that prints is followed by one."""
    blocks = iter([*FENCES, ("", "")])
    shown = [(text, next(blocks)) for language, text in blocks if language == "python" and "print(" in text]
    assert shown
    for code, (language, result) in shown:
        exec(compile(code, "README.md", "exec"), {})
        assert (language, capsys.readouterr().out) == ("text", result)


def test_picture_is_what_the_package_draws(tmp_path):
    """To within what rounding moves: at most one pixel in a thousand."""
    import matplotlib.image as image
    import numpy as np

    drawn = tmp_path / "drawn.png"
    subprocess.run([sys.executable, "-P", ROOT / "scripts" / "draw_readme_figure.py", drawn], check=True, cwd=ROOT)
    stored = image.imread(ROOT / "book" / "_static" / "capacity_per_input.png")
    now = image.imread(drawn)
    assert now.shape == stored.shape
    assert np.mean(np.any(np.abs(now - stored) > 0.1, axis=-1)) < 1e-3
