"""Definitions broken one at a time in a copy of the sources: every stored result that executes one is refused."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from chapters.fingerprint import reach
from chapters.fingerprint.__main__ import entries
from chapters.kit import stored as results
from tests.fingerprint.breaks import BREAKS
from tests.fingerprint.quick import ROOT

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The sources, and what they read, in another folder."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("capcore", "chapters"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def refused(folder: Path, monkeypatch) -> set[str]:
    """Names of the stored results that the sources in ``folder`` did not make."""
    monkeypatch.setattr("chapters.fingerprint.reached.ROOT", folder)
    found = set()
    for name in entries():
        try:
            results.stored(name)
        except results.StaleResultsError:
            found.add(name)
    return found


def with_first(source: str, name: str, line: str = "return None") -> str:
    """``source`` with a line before everything else that a function does; by default one that makes it do nothing."""
    (function,) = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    first = function.body[1 if ast.get_docstring(function) else 0]
    lines = source.splitlines(keepends=True)
    lines.insert(first.lineno - 1, f"    {line}\n")
    return "".join(lines)


def test_a_copy_of_the_sources_refuses_nothing(copied, monkeypatch):
    assert refused(copied, monkeypatch) == set()


ONE, *OTHERS = BREAKS


@pytest.mark.parametrize("definition", [ONE, *(pytest.param(each, marks=pytest.mark.slow) for each in OTHERS)])
def test_what_executes_a_broken_definition_is_refused_and_what_does_not_reach_it_is_not(
    copied, monkeypatch, definition
):
    module, name = definition.split(":")
    path = copied.joinpath(*module.split(".")).with_suffix(".py")
    source = path.read_text("utf8")
    reaching = {result for result, (entry, _) in entries().items() if (module, name) in reach(entry).names}
    path.write_text(with_first(source, name), "utf8")
    try:
        found = refused(copied, monkeypatch)
    finally:
        path.write_text(source, "utf8")
    assert BREAKS[definition]
    assert BREAKS[definition] <= found == reaching
    assert len(reaching) < len(entries())


def test_eight_added_to_every_exponent_is_refused(copied, monkeypatch):
    """The change that the lists of modules let through: trained_spectra holds α of hundreds of networks."""
    path = copied / "capcore" / "spectra" / "power_law.py"
    source = path.read_text("utf8")
    assert source.count("1.0 + float(rate)") == 1
    path.write_text(source.replace("1.0 + float(rate)", "9.0 + float(rate)"), "utf8")
    try:
        assert refused(copied, monkeypatch) >= BREAKS["capcore.spectra.power_law:_fit"]
    finally:
        path.write_text(source, "utf8")


def test_a_refusal_added_to_a_public_function_refuses_nothing(copied, monkeypatch):
    path = copied / "capcore" / "gauss_newton.py"
    source = path.read_text("utf8")
    refusal = "if root.size > 1e9: raise MemoryError(f'root: found {root.shape}, expected less.')"
    path.write_text(with_first(source, "minimise_gauss_newton", refusal), "utf8")
    try:
        assert refused(copied, monkeypatch) == set()
    finally:
        path.write_text(source, "utf8")
