"""What several commands have in common: a parser whose help is their module's text, and the figure of ``--plot``."""

from __future__ import annotations

import argparse
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = (".png", ".svg", ".pdf")


def described(prog: str, text: str | None) -> argparse.ArgumentParser:
    """A parser whose help is ``text``, the examples and what follows them below the options."""
    description, examples, epilog = (text or "").replace("::\n\n", ":\n").partition("examples:")
    return argparse.ArgumentParser(
        prog, description=description, epilog=examples + epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def wrong_ending(plot: str) -> list[str]:
    """A message about a name of a figure that ends in no known way."""
    if Path(plot).suffix.lower() in FIGURES:
        return []
    return [f"--plot: found {plot}, expected a name that ends in {', '.join(FIGURES)}."]


def no_matplotlib() -> list[str]:
    """A message where figures cannot be drawn."""
    if find_spec("matplotlib"):
        return []
    return ["--plot: found no matplotlib, which this needs. Install it: pip install matplotlib"]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure in the package's style, in inches."""
    with chdir(Path(__file__).parent):  # matplotlib would read settings in the working folder, beside the user's files
        from matplotlib.figure import Figure

        from capcore.plotting import use_style

        use_style()
    return Figure(figsize=(width, height), layout="constrained")
