"""Results of long experiments: committed as small JSON files, and refused once the code behind them has changed.

A file holds the settings, the versions it was made with, a fingerprint of the code that decides the numbers, and the
numbers. The fingerprint is that of every definition that the experiment reaches by name (``fingerprint``);
no list is kept by hand. A notebook that reads the file stops with an error when one of them is no longer what it was,
so no page can show a number that the present sources would not give. Other versions of NumPy or of Python are written
down in the file and are not checked.
"""

from __future__ import annotations

import ast
import json
import platform
import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from chapters.fingerprint import Reach, reach

PACKAGES = ("numpy", "scipy")
SHOWN = 6
"""Changed definitions that a refusal names."""


class StaleResultsError(RuntimeError):
    """Stored results that the present code did not make."""

    def _render_traceback_(self) -> list[str]:
        return [f"StaleResultsError: {self}"]


def code_of(*functions: Callable[..., Any]) -> dict[str, str]:
    """The code that these functions reach: where they are, its fingerprint, and a digest of each definition.

    >>> from capcore.lbfgs import minimise_lbfgs
    >>> code_of(minimise_lbfgs)["entry"]
    'capcore.lbfgs:minimise_lbfgs'
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

    Parameters
    ----------
    command : what makes the file again, such as ``python -m experiments.lbfgs_stopping``.
    entry : the function, or the functions, that make the values, each at the top level of its module; none of them
        where no code decides the values, as with timings.
    values : of plain types; or a function that computes them, called once the fingerprint has been taken, so that
        an edit made meanwhile shows as a change.
    packages : whose versions are written down.
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
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text + "\n", encoding="utf8")


def load(path: str | Path) -> dict[str, Any]:
    """What :func:`save` wrote. Raises :class:`StaleResultsError` when the code behind it has changed since."""
    content: dict[str, Any] = json.loads(Path(path).read_text("utf8"))
    code = content["code"]
    if code is None:
        return content
    try:
        found = reach(code["entry"])
    except ModuleNotFoundError as error:
        raise StaleResultsError(
            f"{Path(path).name}: {error} If it was moved, write its new place into the file; else remove the file."
        ) from None
    if code["hash"] != found.hash:
        changed = _changed(found, set(code["definitions"].split()), content["settings"])
        raise StaleResultsError(
            f"{Path(path).name}: made by code with hash {code['hash']}, the package now has {found.hash}{changed}. "
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
