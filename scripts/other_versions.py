"""Environments with other versions of the packages that compute; the tools around them stay as locked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPUTING = {"numpy", "scipy", "python-flint", "jax", "jaxlib", "ml-dtypes", "optax", "pandas", "scikit-learn"}
NEWER = ("3.14", "3.13", "3.12")


def environment_with(resolution: str, folder: Path) -> Path | str:
    """The Python of an environment in ``folder``, or why there is none.

    ``resolution`` is uv's: "lowest-direct", the lower bounds of pyproject.toml, or "highest", on the newest Python
    that is installed. What is not among ``COMPUTING`` is held at the version of the lock.
    """
    python = sys.executable
    if resolution == "highest":
        python = next(filter(None, map(installed_python, NEWER)), sys.executable)
    folder.mkdir(parents=True, exist_ok=True)
    held = folder / "held.txt"
    held.write_text("\n".join(held_versions()) + "\n")
    installed = folder / "venv" / "bin" / "python"
    install = ["pip", "install", "-q", "--python", str(installed)]
    steps = [
        ["venv", "-q", "--no-python-downloads", "--clear", "--python", python, str(folder / "venv")],
        [*install, "--resolution", resolution, "--upgrade", "-c", str(held), "-r", "pyproject.toml", *locked_words()],
        [*install, "--no-deps", "-e", "."],
    ]
    for step in steps:
        done = subprocess.run([sys.executable, "-P", "-m", "uv", *step], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            return f"uv {step[0]} failed: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}"
    return installed


def held_versions() -> list[str]:
    """Those of the lock that stay: its lines for the other packages, without the lines of hashes below each."""
    lines = re.findall(r"^\w.*?(?= \\$)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    return [line for line in lines if line.split("==")[0] not in COMPUTING]


def installed_python(version: str) -> str:
    """Where this version is, or ''; none is fetched."""
    find = [sys.executable, "-P", "-m", "uv", "python", "find", "--no-python-downloads", version]
    return subprocess.run(find, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def locked_words() -> list[str]:
    """The options that name the extras and groups of the lock, as the Makefile has them."""
    (words,) = re.findall(r"^LOCKED := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return words.split()
