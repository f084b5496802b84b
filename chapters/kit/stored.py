"""Results of long experiments: committed as small JSON files, and refused once the code behind them has changed.

``stored(name)`` opens ``chapters/*/results/<name>.json``, and ``python -m chapters run <name>`` makes it again.

A file holds the settings, the versions it was made with, a fingerprint of the code that decides the numbers, and the
numbers. The fingerprint is that of every definition that the experiment reaches by name (``fingerprint``);
no list is kept by hand. A notebook that reads the file stops with an error when one of them is no longer what it was,
so no page can show a number that the present sources would not give. Other versions of NumPy or of Python are written
down in the file and are not checked.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any

from chapters.fingerprint import Reach, reach

CHAPTERS = Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "scipy")
SHOWN = 6
"""Changed definitions that a refusal names."""


class StaleResultsError(RuntimeError):
    """Stored results that the present code did not make."""

    def _render_traceback_(self) -> list[str]:
        return [f"StaleResultsError: {self}"]


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
        close = get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise FileNotFoundError(f"name: found {name!r}, expected one of {', '.join(known) or 'none: no files'}.{hint}")
    return known[name]


def stored(name: str) -> dict[str, Any]:
    """Command, code, versions, settings and values of a stored result, by its name.

    Raises :class:`StaleResultsError` if the code that made them has changed since.
    """
    return load(path_of(name))


def code_of(*functions: Callable[..., Any]) -> dict[str, str]:
    """The code that these functions reach: where they are, its fingerprint, and a digest of each definition.

    >>> from capcore.fitting.lbfgs import minimise_lbfgs
    >>> code_of(minimise_lbfgs)["entry"]
    'capcore.fitting.lbfgs:minimise_lbfgs'
    """
    entry = " ".join(f"{each.__module__}:{each.__qualname__}" for each in functions)
    found = reach(entry)
    return {"entry": entry, "hash": found.hash, "definitions": " ".join(sorted(found.digests))}


def save(
    path: str | Path,
    command: str,
    entry: Callable[..., Any] | Sequence[Callable[..., Any]],
    settings: dict[str, Any],
    values: dict[str, Any] | Callable[[], dict[str, Any]],
    packages: Sequence[str] = PACKAGES,
) -> None:
    """Write ``values`` with the settings, the fingerprint of what ``entry`` reaches and the versions that made them.

    A file that is there is replaced as a whole, once everything is computed and written.

    Parameters
    ----------
    path : str or Path
        Of the file.
    command : str
        What makes the file again, such as ``python -m chapters run lbfgs_stopping``.
    entry : callable or sequence of callable
        What makes the values, each at the top level of its module; none of them where no code decides the values, as
        with timings.
    settings : dict
        What it was called with.
    values : dict or callable
        Of plain types; or a function that computes them, called once the fingerprint has been taken, so that an edit
        made meanwhile shows as a change.
    packages : sequence of str
        Whose versions are written down.
    """
    functions = [entry] if callable(entry) else list(entry)
    content = {
        "command": command,
        "code": code_of(*functions) if functions else None,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
        "settings": settings,
    }
    text = json.dumps({**content, "values": values() if callable(values) else values}, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^][{}]*\]", lambda found: re.sub(r"\s+", " ", found[0]), text)  # one line per list of numbers
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text + "\n", encoding="utf8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def load(path: str | Path) -> dict[str, Any]:
    """What :func:`save` wrote. Raises :class:`StaleResultsError` when the code behind it has changed since."""
    path = Path(path)
    content: dict[str, Any] = json.loads(path.read_text("utf8"))
    code = content["code"]
    if code is None:
        return content
    try:
        found = reach(code["entry"])
    except ModuleNotFoundError as error:
        raise StaleResultsError(
            f"{path.name}: {error} If it was moved, write its new place into the file; else remove the file."
        ) from None
    if code["hash"] != found.hash:
        changed = _changed(found, set(code["definitions"].split()), content["settings"])
        raise StaleResultsError(
            f"{path.name}: made by code with hash {code['hash']}, the package now has {found.hash}{changed}. "
            f"Make it again: {content['command']}"
        )
    return content


def _changed(found: Reach, stored: set[str], settings: dict[str, Any]) -> str:
    """Which definitions are new or changed, for the message; empty if something was only taken away or exchanged."""
    names = sorted({name for digest, names in found.digests.items() if digest not in stored for name in names})
    if "SETTINGS" in names:
        present = _settings(found)
        keys = sorted(key for key in present | settings if present.get(key) != settings.get(key)) if present else []
        names[names.index("SETTINGS")] = f"SETTINGS[{', '.join(keys)}]" if keys else "SETTINGS"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f" (changed: {', '.join(names[:SHOWN])}{more})" if names else ""


def _settings(found: Reach) -> dict[str, Any]:
    """The present ``SETTINGS`` beside the entry, as far as they can be read without executing anything."""
    module = found.sources.module(found.entry.split(":")[0])
    for node in module.definitions.get("SETTINGS", ()) if module else ():
        try:
            value = ast.literal_eval(getattr(node, "value", ast.Constant(None)))
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}
    return {}
