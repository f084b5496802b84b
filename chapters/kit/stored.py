"""Results of long experiments: committed as small JSON files, and made again by a command.

``stored(name)`` opens ``chapters/*/results/<name>.json``, and ``python -m chapters run <name>`` makes it again.

A file holds the function that made the values, its settings, the versions it ran with, the values, and their digest:
a file whose values were edited by hand is refused. That the present code still gives these values is seen by making
pieces of them again (``chapters.kit.witness``).
"""

import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from capcore.checks.names import meant
from capcore.commands.outcome import write_whole

CHAPTERS = Path(__file__).resolve().parent.parent
PACKAGES = ("capcore", "numpy", "scipy")


class ResultsError(ValueError):
    """Stored results that do not hold what their experiment gave."""


def paths() -> dict[str, Path]:
    """Name → file of every stored result, by name."""
    return {path.stem: path for path in sorted(CHAPTERS.glob("*/results/*.json"), key=lambda path: path.stem)}


def path_of(name: str) -> Path:
    """The file of a stored result, wherever it is asked for.

    >>> path_of("lbfgs_sweep").relative_to(CHAPTERS).as_posix()
    'hierarchical/results/lbfgs_sweep.json'

    Raises ``FileNotFoundError`` if there is none of this name.
    """
    known = paths()
    if name not in known:
        expected = ", ".join(known) or "none: no files"
        raise FileNotFoundError(f"name: found {name!r}, expected one of {expected}.{meant(name, known)}")
    return known[name]


def stored(name: str) -> dict[str, Any]:
    """Command, entry point, versions, settings, digest and values of a stored result, by its name."""
    return load(path_of(name))


def arrays(values: Any) -> Any:
    """What is stored, with its lists as arrays."""
    import numpy as np  # not above: the help of commands needs none

    if isinstance(values, Mapping):
        return {name: arrays(value) for name, value in values.items()}
    return np.array(values)


def digest(values: dict[str, Any]) -> str:
    """SHA-256 of the values as JSON with sorted keys and no spaces."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of Python and of packages, "absent" where one is; and for which processor arithmetic is made.

    ``kernels`` are those of linear algebra; ``processor`` is a digest of what the processor can do, to which XLA fits
    its code.
    """
    kernels = {pool.get("architecture", "") for pool in threadpool_info() if pool["user_api"] == "blas"}
    known = {"python": platform.python_version(), "kernels": " ".join(sorted(kernels)), "processor": processor()}
    for name in packages:
        try:
            known.setdefault(name, version(name))
        except PackageNotFoundError:
            known.setdefault(name, "absent")
    return known


def processor() -> str:
    """A digest of what the processor can do, where the system tells it; otherwise its kind."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text("utf8").splitlines() if information.is_file() else []
    flags = [line for line in lines if line.startswith(("flags", "Features"))]
    return hashlib.sha256(flags[0].encode()).hexdigest()[:12] if flags else platform.machine()


def save(
    path: str | Path, command: str, entry: Callable | None, settings: dict, values: dict, packages: Sequence[str] = ()
) -> None:
    """Write ``values`` with what made them. A file that is there is replaced as a whole.

    Parameters
    ----------
    path : str or Path
        Of the file.
    command : str
        What makes the file again, such as ``python -m chapters run lbfgs_stopping``.
    entry : callable or None
        What made the values, at the top level of its module; None where no code decides them, as with timings.
    settings : dict
        What it was called with.
    values : dict
        Of plain types.
    packages : sequence of str
        Whose versions are written down, beside those of ``PACKAGES``.
    """
    values = json.loads(json.dumps(values))  # as they will be read: keys are texts, tuples are lists
    content = {
        "command": command,
        "entry": f"{entry.__module__}:{entry.__qualname__}" if entry else None,
        "versions": versions((*PACKAGES, *packages)),
        "settings": settings,
        "digest": digest(values),
        "values": values,
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^][{}]*\]", lambda match: re.sub(r"\s+", " ", match[0]), text)  # one line per list of numbers
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{text}\n".encode())


def load(path: str | Path) -> dict[str, Any]:
    """What :func:`save` wrote. Raises :class:`ResultsError` when the values were changed since."""
    path = Path(path)
    content: dict[str, Any] = json.loads(path.read_text("utf8"))
    present = digest(content["values"])
    if present != content["digest"]:
        raise ResultsError(
            f"{path.name}: found values with digest {present[:12]}…, expected {content['digest'][:12]}…: they were "
            f"changed by hand. Take the file from the repository, or make it again: {content['command']}"
        )
    return content
