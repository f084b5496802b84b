"""Names that are local to a function: they hide what the module calls by the same name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from chapters.fingerprint.names import Imports, Module, imported_names


def targets(node: ast.AST) -> Iterator[str]:
    """Names that are assigned to inside ``node``.

    >>> list(targets(ast.parse("a, (b, c[d]) = e")))
    ['a', 'b']
    """
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load))


def local_names(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, module: Module) -> Imports:
    """Names that are local to a function, and what those stand for that it imports."""
    given = function.args
    names = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    scope: Imports = {name.arg: [] for name in names if name}
    shared: set[str] = set()
    todo: list[ast.AST] = [*(function.body if isinstance(function.body, list) else [function.body])]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                scope.setdefault(node.id, [])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope.setdefault(node.name, [])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for name, where in imported_names(node, module):
                scope.setdefault(name, []).append(where)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared |= set(node.names)
        elif isinstance(node, ast.comprehension):
            todo += [node.iter, *node.ifs]
        elif not isinstance(node, ast.Lambda | ast.Constant | ast.expr_context | ast.operator):
            if isinstance(node, ast.ExceptHandler | ast.pattern):
                bound = [getattr(node, name, None) for name in ("name", "rest")]
                scope |= {name: [] for name in bound if name and name not in scope}
            todo += ast.iter_child_nodes(node)
    return {name: where for name, where in scope.items() if name not in shared}
