"""Where notebooks are: a path, or the name of one of the book's."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from chapters.sweeps.declared import NotebookError

CHAPTERS = Path(__file__).resolve().parents[1]
FOLDER = CHAPTERS.parent / "notebooks"


def notebook_path(name: str) -> Path:
    """The file of a notebook: a path that exists, or a name such as ``hierarchical``.

    >>> notebook_path("idea").name
    'idea.ipynb'
    """
    if Path(name).is_file():
        return Path(name).resolve()
    known = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    stem = Path(name).name.removesuffix(".ipynb")
    if stem not in known or (Path(name).parent != Path() and not Path(name).parent.match("notebooks")):
        close = get_close_matches(stem, known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else f" The book has: {', '.join(known)}."
        raise NotebookError(f"{name}: found no such notebook, expected a file or the name of a chapter.{hint}")
    return known[stem]
