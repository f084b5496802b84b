"""Sphinx extension: one numbering of figures. Those of chapter 3 and of the pages below it are 3.1, 3.2, ….

Sphinx counts the figures of all pages without a number on and on, so that an appendix may have a Fig. 8 beside the
Fig. 8.1 of a chapter. Here each page behind the numbered chapters has a letter, and its figures are A.1, A.2, …; those
before the first chapter stay 1, 2, …. Pages below a chapter count on in it, since ``_toc.yml`` numbers chapters alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector

Numbers = dict[str, dict[str, dict[str, tuple[Any, ...]]]]  # page → kind → anchor → parts of the number


def lettered(numbers: Mapping[str, Mapping[str, Mapping[str, tuple[Any, ...]]]]) -> Numbers:
    """The numbers, page by page in the order of the contents, with letters behind the chapters.

    >>> pages = {"idea": [(1,), (2,)], "first": [(1, 1)], "speed": [(3,), (4,)], "sizes": [(5,)]}
    >>> found = lettered({name: {"figure": dict(zip("ab", each))} for name, each in pages.items()})
    >>> [list(found[name]["figure"].values()) for name in pages]
    [[(1,), (2,)], [(1, 1)], [('A', 1), ('A', 2)], [('B', 1)]]
    """
    found: Numbers = {}
    letters, behind = iter(ascii_uppercase), False
    for page, kinds in numbers.items():
        numbered = any(len(number) > 1 for anchors in kinds.values() for number in anchors.values())
        behind = behind or numbered
        if numbered or not behind:
            found[page] = {kind: dict(anchors) for kind, anchors in kinds.items()}
            continue
        letter = next(letters)
        found[page] = {
            kind: {anchor: (letter, place) for place, anchor in enumerate(anchors, 1)}
            for kind, anchors in kinds.items()
        }
    return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx's numbers pass through :func:`lettered`."""
    plain = TocTreeCollector.assign_figure_numbers

    def assign(self: TocTreeCollector, env: BuildEnvironment) -> list[str]:
        before = env.toc_fignumbers
        plain(self, env)
        env.toc_fignumbers = lettered(env.toc_fignumbers)
        return [page for page, numbers in env.toc_fignumbers.items() if numbers != before.get(page)]

    TocTreeCollector.assign_figure_numbers = assign
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
