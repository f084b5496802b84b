"""Sphinx extension: no page can show a number that the present sources would not give.

MyST-NB caches executed notebooks by the source of their code cells. It does not know what those cells import, nor
their captions and alt texts. Here the cache lives in a folder named by a hash of everything else that a cell can
read, so that an edit in ``capcore/`` or ``chapters/`` starts an empty cache; a changed caption counts as a changed
notebook; and when any notebook changes, all pages are read again, because values glued on other pages come from it.
Outputs stored in the notebooks are never used. The notebooks offered for download are those executed in this build.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
from jupyter_cache import get_cache
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

SOURCES = ("capcore", "chapters", "book/claims.yml", "requirements.lock")
KEPT_CACHES = 3


def execution_key(root: Path) -> str:
    """Hash of what the notebooks read beside their own cells: the package, the registry, the lock, helper files.

    >>> execution_key(Path("/nowhere"))
    Traceback (most recent call last):
    ...
    FileNotFoundError: capcore: not found in /nowhere, expected the package that the notebooks import.
    """
    if not (root / "capcore").is_dir():
        raise FileNotFoundError(f"capcore: not found in {root}, expected the package that the notebooks import.")
    digest = hashlib.sha256(platform.python_version().encode())
    for path in sorted(_files(root)):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _files(root: Path) -> Iterator[Path]:
    """All files that count, without what Python or Jupyter leave behind."""
    for source in SOURCES:
        path = root / source
        yield from (
            (p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts) if path.is_dir() else [path]
        )
    for path in (root / "notebooks").rglob("*"):
        ignored = {"__pycache__", ".ipynb_checkpoints", ".jupyter_cache"}
        if path.is_file() and path.suffix != ".ipynb" and not ignored & set(path.parts):
            yield path


def check_import(root: Path) -> None:
    """Refuse to build when the notebooks would import another capcore than the one beside the book."""
    found = find_spec("capcore")
    if found is None or not found.origin or (root / "capcore").resolve() not in Path(found.origin).resolve().parents:
        where = found.origin if found else "nowhere"
        raise ExtensionError(f"capcore: found in {where}, expected {root / 'capcore'}. Run `make setup`.")


def choose_cache(app: Sphinx, config: Config) -> None:
    """Name the cache folder by the key. A new name also makes Sphinx read all pages again."""
    key = execution_key(Path(app.srcdir))
    check_import(Path(app.srcdir))
    caches = Path(app.outdir).parent / ".jupyter_cache"
    chosen = caches / key
    config.nb_execution_cache_path = str(chosen)
    others = [path for path in caches.glob("*") if path.is_dir() and path != chosen]
    for path in sorted(others, key=lambda p: p.stat().st_mtime)[: max(0, len(others) - KEPT_CACHES + 1)]:
        shutil.rmtree(path, ignore_errors=True)


def reread_everything(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """All pages when any notebook changed: glued values of other pages come from it."""
    if any(is_notebook(env, name) for name in added | changed) or removed:
        return sorted(env.found_docs)
    return []


def marked(text: str) -> str:
    """The notebook's text with its cells' metadata (captions, alt texts) taking part in the cache's comparison.

    The cache compares the source of code cells and the kernel's description, so a digest goes into the latter.
    """
    notebook: dict[str, Any] = json.loads(text)
    metadata = [cell["metadata"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode()).hexdigest()[:16]
    notebook["metadata"].setdefault("kernelspec", {"name": "python3", "display_name": "Python 3"})["cells"] = digest
    return json.dumps(notebook)


def mark_metadata(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let Sphinx read every notebook :func:`marked`."""
    if is_notebook(app.env, docname):
        source[0] = marked(source[0])


def offer_executed_notebooks(app: Sphinx, error: Exception | None) -> None:
    """Make the download button give the notebooks as executed for this build: with the outputs that the cache holds."""
    if error is not None or app.builder.format != "html":
        return
    cache = get_cache(app.config.nb_execution_cache_path)
    for docname in app.env.found_docs:
        if not is_notebook(app.env, docname):
            continue
        source = Path(app.env.doc2path(docname)).read_text("utf8")
        try:
            _, executed = cache.merge_match_into_notebook(nbformat.reads(marked(source), 4))
        except KeyError:  # it failed, and the build with it
            continue
        executed.metadata.get("kernelspec", {}).pop("cells", None)
        leave_png(executed)
        target = Path(app.outdir) / "_sources" / f"{docname}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(nbformat.writes(executed) + "\n", "utf8")


def leave_png(notebook: nbformat.NotebookNode) -> None:
    """Take the pictures away that only a page of the book can show, and leave those that JupyterLab shows."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data.pop("image/svg+xml", None)
                output.metadata.pop("capcore", None)


def forget_failed_build(app: Sphinx, error: Exception | None) -> None:
    """After a warning, read everything again next time: otherwise a second build would pass in silence.

    When reading fails, the theme copies its logo to a folder that does not exist yet, and so leaves a file in its
    place that would break the next build.
    """
    if error is not None or app._warncount:
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)
    static = Path(app.outdir) / "_static"
    if static.is_file():
        static.unlink()


def is_notebook(env: BuildEnvironment, docname: str) -> bool:
    """Whether the page comes from a notebook."""
    return str(env.doc2path(docname)).endswith(".ipynb")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handlers."""
    app.connect("config-inited", choose_cache)
    app.connect("env-get-outdated", reread_everything)
    app.connect("source-read", mark_metadata)
    app.connect("build-finished", offer_executed_notebooks)
    app.connect("build-finished", forget_failed_build, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
