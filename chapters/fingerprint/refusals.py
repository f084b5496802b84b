"""Statements that can only refuse: which they are, and where what they raise is caught."""

from __future__ import annotations

import ast

SIGNALS = frozenset(
    ["AttributeError", "GeneratorExit", "IndexError", "KeyError", "LinAlgError", "StopAsyncIteration", "StopIteration"]
)
"""Exceptions that steer: Python itself catches them, or they say that a matrix is singular. They always count."""
CHANGING = frozenset(
    "next pop popleft popitem append extend insert add remove discard update setdefault clear sort reverse send read "  # noqa: SIM905
    "readline readlines seek random integers normal standard_normal uniform choice shuffle permutation permuted".split()
)
"""Calls that change what they are called on: a test with one of them is more than a test."""
GATE = frozenset(
    ["plain_array", "plain_fields", "plain_number", "as_process", "plain_processes", "plain_seed"]  # noqa: RUF005
    + ["all_of_kind", "having", "no_overflow", "of_kind", "real", "unmasked", "whole"]
)
"""The functions of ``capcore.checks.arguments``."""


def is_gate(node: ast.stmt) -> bool:
    """Whether a statement only asks what an argument is: ``x = plain_number(x)``, or one of its like.

    What a stored run passed is what comes out. The number in an array of one element was refused before, so no run
    passed one; and what is refused (masked values, dates, text, another type, a Jacobian with infinities) is met by
    none of ours, which ``tests/fingerprint/test_executed.py`` watches. Hence this is also left out where somebody
    catches what is raised.

    >>> lines = ("x = plain_number(x)", "of_kind(x, str)", "x = plain_number(y)")
    >>> [is_gate(ast.parse(line).body[0]) for line in lines]
    [True, True, False]
    """
    if not isinstance(node, ast.Assign | ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    if called(node.value) not in GATE:
        return False
    return isinstance(node, ast.Expr) or [last(each) for each in node.targets] == [last(node.value.args[0])] != [""]


def is_refusal(node: ast.stmt) -> bool:
    """Whether a statement can only refuse or warn, so that it cannot change a number that was stored.

    These are ``assert``, ``warnings.warn(…)``, and an ``if`` without ``else`` whose body is a single ``raise`` or
    warning and whose test binds no name and changes nothing. A run that was stored went past it; had it been there, or
    had it been another, it would have been passed with the same numbers, or there would be none. This is not so where
    somebody catches what is raised, hence that is looked at as well.

    >>> [is_refusal(ast.parse(f"if {test}: raise ValueError").body[0]) for test in ("x < 0", "(y := x) < 0", "next(x)")]
    [True, False, False]
    """
    if isinstance(node, ast.If):
        (first, *others), raised = node.body, ""
        if isinstance(first, ast.Raise):
            raised = called(first.exc) or last(first.exc)
        only = not others and not node.orelse and (isinstance(first, ast.Raise) or is_refusal(first))
    else:
        only = isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and called(node.value) == "warn")
        raised = ""
    return only and raised not in SIGNALS and not any(_changes(each) for each in ast.walk(node))


def _changes(node: ast.AST) -> bool:
    return isinstance(node, ast.NamedExpr) or called(node) in CHANGING


def catches(node: ast.AST) -> bool:
    """Whether a refusal in the body of ``node`` may be caught: by a handler that does more than raise in turn."""
    if isinstance(node, ast.With):
        return any(called(item.context_expr) == "suppress" for item in node.items)
    if not isinstance(node, ast.Try | ast.TryStar):
        return False
    handlers = [each.type for each in node.handlers if len(each.body) > 1 or not isinstance(each.body[0], ast.Raise)]
    return not {last(kind) for each in handlers for kind in getattr(each, "elts", [each])} <= SIGNALS


def called(node: ast.AST | None) -> str:
    """The last part of the name of what is called; empty if nothing is."""
    return last(node.func) if isinstance(node, ast.Call) else ""


def last(node: ast.AST | None) -> str:
    """The last part of a dotted name; empty if it is none."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
