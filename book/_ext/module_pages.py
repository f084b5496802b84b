"""Sphinx extension: a reference page for every room of the package, with all of its modules.

The pages are written to ``book/api/rooms`` (not committed) before the table of contents is read, which lists them. A
page begins with the docstring of the room, or with ``book/api/prose/<room>.md`` where there is more to say.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext import autosummary

import capcore

PACKAGE = "capcore"
INTERNAL = {"capcore.__main__", "capcore.commands.cli", "capcore.commands.working_folder"}  # not meant to be called
ABBREVIATIONS = ("Eq.", "Eqs.", "Fig.")  # in the first sentence of a docstring, which does not end there


def rooms(root: Path) -> dict[str, list[str]]:
    """Room → its modules; what lies at the top of the package is a room of one module."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        module = path.relative_to(root).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        is_room = path.name == "__init__.py" and module.count(".") < 2
        if not is_room and module not in INTERNAL:
            found.setdefault(module.split(".")[1], []).append(module)
    return found


def page(root: Path, room: str, modules: list[str]) -> str:
    """The page of a room: what it is for, then the docstrings of its modules."""
    prose = root / "book" / "api" / "prose" / f"{room}.md"
    whole = f"{PACKAGE}.{room}"
    text = prose.read_text("utf8").strip() if prose.is_file() else ""
    parts = [f"# {room.capitalize()}"]
    if modules != [whole]:
        directive = f".. py:module:: {whole}" if text else f".. automodule:: {whole}\n   :no-members:"
        parts += [f"```{{eval-rst}}\n{directive}\n```", text]
    for module in modules:
        title = [] if modules == [whole] else [f"## {module.split('.', 2)[2].replace('_', ' ')}"]
        parts += [*title, f"```{{eval-rst}}\n.. automodule:: {module}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def names(pages: list[str]) -> str:
    """Every public name, below the room that it comes from."""
    objects = {name: getattr(capcore, name) for name in capcore.__all__}  # type: ignore[attr-defined]
    homes = {name: thing.__module__ for name, thing in objects.items() if not isinstance(thing, ModuleType)}
    parts = []
    for room in pages:
        inside = [f"   ~{home}.{name}" for name, home in sorted(homes.items()) if home.split(".")[1] == room]
        if inside:
            listing = "\n".join(["```{eval-rst}", ".. autosummary::", "   :nosignatures:", "", *inside, "```"])
            parts += [f"## [{room.capitalize()}](rooms/{room}.md)", listing]
    return "\n\n".join(parts) + "\n"


def write_pages(app: Sphinx, config: Config) -> None:
    """Bring ``book/api/rooms`` up to date, leaving unchanged pages alone."""
    root = Path(app.srcdir)
    if not (root / "book" / "api").is_dir():
        return
    folder = root / "book" / "api" / "rooms"
    folder.mkdir(exist_ok=True)
    wanted = {folder / f"{room}.md": page(root, room, modules) for room, modules in rooms(root).items()}
    wanted[folder / "names.txt"] = names(list(rooms(root)))
    for path in set(folder.glob("*.*")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.is_file() or path.read_text("utf8") != text:
            path.write_text(text, "utf8")


def forget_modules_without_source(app: Sphinx) -> list[Any]:
    """Keep builtins out of the list of sources: constants point there, and there is no page for it."""
    modules = getattr(app.env, "_viewcode_modules", {})
    for name in [name for name, entry in modules.items() if not entry]:
        del modules[name]
    return []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handlers; the pages must exist before the table of contents is read (priority 900)."""
    app.connect("config-inited", write_pages, priority=100)
    app.connect("html-collect-pages", forget_modules_without_source, priority=400)
    autosummary.WELL_KNOWN_ABBREVIATIONS = tuple({*autosummary.WELL_KNOWN_ABBREVIATIONS, *ABBREVIATIONS})
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
