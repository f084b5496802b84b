"""Create .venv with the locked packages and this package in editable mode. Needs only Python's standard library.

Called by ``make setup`` and through it by every other target; safe to run again. A ``.venv`` that cannot be used, since
its Python was upgraded or removed, or since its making was interrupted, is made again.
"""

import os
import re
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
    if os.path.lexists(str(VENV)) and not VENV.is_dir():
        return ".venv: found a file or a link to nothing, expected a folder or nothing. Move it away, then try again."
    if not works():
        try:
            import ensurepip  # noqa: F401
            import venv  # noqa: F401
        except ImportError:
            return (
                "Python: found no venv or ensurepip module, expected both to create .venv. On Debian or Ubuntu: "
                "apt-get install python3-venv (or python3.%d-venv), then try again." % sys.version_info[1]
            )
        again = " again: it has no new enough Python that runs and finds pip" if VENV.exists() else ""
        print("Creating .venv" + again, flush=True)
        create = [sys.executable, "-P", "-m", "venv", "--clear", str(VENV)]
        created = subprocess.run(create, env=environment(), capture_output=True, text=True)
        if created.returncode:
            return "Creating .venv failed:\n" + created.stdout + created.stderr
    print("Installing the locked packages", flush=True)
    installer = VENV / "uv.txt"
    installer.write_text(locked("uv"))
    run("pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "-r", str(installer))
    install = ["uv", "pip", "install", "-q", "--python", str(PYTHON)]
    run(*install, "--require-hashes", "-r", "requirements.lock")
    run(*install, "--no-deps", "--no-build-isolation", "-e", ".")
    (VENV / ".ready").touch()
    return 0


def works():
    """Whether .venv has a Python that runs, is new enough and finds its pip."""
    check = "import sys, pip; sys.exit(sys.version_info < %r)" % (OLDEST,)
    try:
        return not subprocess.run([str(PYTHON), "-P", "-c", check], env=environment(), capture_output=True).returncode
    except OSError:  # not there, or a link to what is no longer there
        return False


def locked(name):
    """The part of the lock that says which version of a package, and the hashes of its files."""
    entries = re.split(r"^(?=\w)", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
    return next(entry for entry in entries if entry.startswith(name + "=="))


def run(*arguments):
    """Run ``python -m …`` in .venv, and stop with one sentence when it fails; its own is above."""
    if subprocess.run([str(PYTHON), "-P", "-m", *arguments], cwd=ROOT, env=environment()).returncode:
        failed = " ".join(arguments[:2])
        sys.exit("Installing failed (%s), as said above. The network is needed once, to fetch the packages." % failed)


def environment():
    """Ours, without what would bring other packages into .venv."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


if __name__ == "__main__":
    sys.exit(main())
