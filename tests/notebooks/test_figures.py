"""Figures with other parameters: as many are drawn as the page plans."""

from importlib import import_module
from pathlib import Path

import pytest

MODULES = {path.stem: import_module(f"tests.notebooks.{path.stem}") for path in Path(__file__).parent.glob("test_*.py")
           if path != Path(__file__)}  # fmt: skip
DRAWN = {name.removeprefix("test_"): module.DRAWN for name, module in MODULES.items() if hasattr(module, "DRAWN")}


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_figures_are_drawn(drawn, name):
    drawn(name, **DRAWN[name])
