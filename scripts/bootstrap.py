"""Create .venv with the locked packages and this package in editable mode. Needs only Python's standard library.

Called by ``make setup`` and through it by every other target; safe to run again.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)


def main():
    """Exit status 0 when the environment is ready; otherwise one sentence on what to do."""
    if sys.version_info < OLDEST:
        found = ".".join(str(part) for part in sys.version_info[:3])
        return "Python: found %s, expected 3.11 or newer. Name another one: make PYTHON=python3.12 setup" % found
    if not PYTHON.exists():
        try:
            import ensurepip  # noqa: F401
            import venv  # noqa: F401
        except ImportError:
            return (
                "Python: found no venv or ensurepip module, expected both to create .venv. On Debian or Ubuntu: "
                "apt-get install python3-venv (or python3.%d-venv), then try again." % sys.version_info[1]
            )
        print("Creating .venv", flush=True)
        created = subprocess.run([sys.executable, "-P", "-m", "venv", str(VENV)], capture_output=True, text=True)
        if created.returncode:
            said = created.stdout + created.stderr
            return "Creating .venv failed. On Debian or Ubuntu: apt-get install python3-venv.\n" + said
    print("Installing the locked packages", flush=True)
    run("pip", "install", "-q", "--disable-pip-version-check", "uv")
    run("uv", "pip", "install", "-q", "--python", str(PYTHON), "-r", "requirements.lock")
    run("uv", "pip", "install", "-q", "--python", str(PYTHON), "--no-deps", "-e", ".")
    (VENV / ".ready").touch()
    return 0


def run(*arguments):
    """Run ``python -m …`` in .venv, and stop with its status when it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    status = subprocess.run([str(PYTHON), "-P", "-m", *arguments], cwd=ROOT, env=environment).returncode
    if status:
        sys.exit("Installing failed (%s). The network is needed once, to fetch the packages." % " ".join(arguments[:2]))


if __name__ == "__main__":
    sys.exit(main())
