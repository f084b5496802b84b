"""Build the wheel, install it alone, and run it: ``python scripts/try_wheel.py``.

Needs only Python's standard library and the network, so that it runs on Linux, macOS and Windows alike. What is run
stands in a folder without this repository: the commands, a spectrum of a small file, and the README's first listing.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAVE = "import numpy; numpy.savez('tiny.npz', layer=numpy.random.default_rng(0).normal(size=(64, 128)))"


def listing() -> str:
    """The first listing of the README."""
    (first, *_) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf8"), re.MULTILINE | re.DOTALL)
    return first


def main() -> int:
    """Exit status 0 when everything ran; the first command that fails ends it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([sys.executable, "-P", "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder / "dist", ROOT], folder)
        (wheel,) = (folder / "dist").glob("*.whl")
        venv.create(folder / "alone", with_pip=True)
        binaries = folder / "alone" / ("Scripts" if os.name == "nt" else "bin")
        python = binaries / "python"
        run([python, "-P", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel], folder)
        run([binaries / "capcore", "--help"], folder)
        run([binaries / "capcore", "--version"], folder)
        run([python, "-P", "-c", SAVE], folder)
        run([python, "-P", "-m", "capcore", "spectra", "tiny.npz"], folder)
        run([python, "-P", "-c", listing()], folder)
    return 0


def run(command: list[str | Path], folder: Path) -> None:
    """Run it there; stop with its name where it fails, which has printed why."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    print("$", " ".join([Path(command[0]).name, *map(str, command[1:])]).splitlines()[0], flush=True)
    if subprocess.run(command, cwd=folder, env=inherited).returncode:
        sys.exit(f"The wheel, installed alone: found a failure of {Path(command[0]).name}, expected none; see above.")


if __name__ == "__main__":
    sys.exit(main())
