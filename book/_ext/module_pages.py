"""Sphinx extension: a reference page for every module of the package that no page in ``book/api`` documents by hand.

The pages are written to ``book/api/modules`` (not committed) before the table of contents is read, which lists
that folder. A module counts as documented when a page names it in ``automodule``, or names, with its members, a
package that it is in.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext import autosummary

PACKAGE = "capcore"
INTERNAL = {
    "capcore",
    "capcore.__main__",
    "capcore.commands.cli",
    "capcore.checks.double_precision",
    "capcore.checks.arguments",
    "capcore.commands.working_folder",
    "capcore.moved",
    "capcore.processes.covariance_matrix",
}  # nothing there is meant to be called by readers
ABBREVIATIONS = ("Eq.", "Eqs.", "Fig.")  # in the first sentence of a docstring, which does not end there


def undocumented(root: Path) -> list[str]:
    """The modules that have no page of their own making."""
    pages = "\n".join(path.read_text("utf8") for path in (root / "book" / "api").glob("*.md"))
    named = set(re.findall(r"automodule:: ([\w.]+)", pages))
    whole = named - set(re.findall(r"automodule:: ([\w.]+)\n +:no-members:", pages))
    modules = {
        path.relative_to(root).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        for path in (root / PACKAGE).rglob("*.py")
    }
    return sorted(m for m in modules - INTERNAL - named if not any(m.startswith(f"{package}.") for package in whole))


def page(module: str) -> str:
    """The page of a module: its name as a title, then its docstrings."""
    title = module.rpartition(".")[2].replace("_", " ").capitalize()
    return f"# {title}\n\n```{{eval-rst}}\n.. automodule:: {module}\n```\n"


def write_pages(app: Sphinx, config: Config) -> None:
    """Bring ``book/api/modules`` up to date, leaving unchanged pages alone."""
    root = Path(app.srcdir)
    if not (root / "book" / "api").is_dir():
        return
    folder = root / "book" / "api" / "modules"
    folder.mkdir(exist_ok=True)
    wanted = {folder / f"{module.removeprefix(f'{PACKAGE}.')}.md": page(module) for module in undocumented(root)}
    for path in set(folder.glob("*.md")) - set(wanted):
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
