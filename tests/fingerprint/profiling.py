"""What is executed: found by watching calls, with no regard to how names are followed."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

from chapters.fingerprint.essence import Essence, Key
from chapters.fingerprint.names import MACHINERY
from chapters.fingerprint.reached import Reach
from tests.fingerprint.quick import ROOT


def executed(run: Callable[[], object]) -> set[tuple[str, str]]:
    """Module and name of every top-level definition of ours in which something is called while ``run`` runs.

    What is executed because a module is imported meanwhile does not count, nor does what reads stored results.
    """
    codes: set[CodeType] = set()
    packages, top = (str(ROOT / "capcore"), str(ROOT / "chapters")), sys._getframe()

    def note(frame: FrameType, *_: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(packages) and code not in codes:
            outer: FrameType | None = frame
            while outer is not None and outer is not top and outer.f_code.co_name != "<module>":
                outer = outer.f_back
            if outer is top:
                codes.add(code)

    sys.settrace(note)
    try:
        run()
    finally:
        sys.settrace(None)
    found = {found for code in codes for found in _definitions(code)}
    return {(module, name) for module, name in found if module != "capcore" and not module.startswith(MACHINERY)}


def _definitions(code: CodeType) -> list[tuple[str, str]]:
    """Module and name of the top-level statement that holds some code; several names if it binds several."""
    path = Path(code.co_filename)
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for node in ast.parse(path.read_text("utf8")).body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        if first <= code.co_firstlineno <= (node.end_lineno or first):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                return [(module, node.name)]
            stored = (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
            return [(module, each.id) for each in stored]
    raise AssertionError(f"{code} is in no statement of {path}")


def named(reach: Reach) -> set[tuple[str, str]]:
    """Everything that is reached by name, in refusals too."""
    found: set[Key] = set()
    todo = [(module, name, True) for module, name in reach.names]
    while todo:
        key = todo.pop()
        if key not in found:
            found.add(key)
            todo += Essence(reach.sources, key).reached
    return {(module, name) for module, name, _ in found}
