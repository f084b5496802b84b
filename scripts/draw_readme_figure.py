"""Draw the picture of the README: ``python scripts/draw_readme_figure.py [target.png]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import capcore as cc
from capcore.plotting import use_style
from chapters.idea.figures import plot_event
from chapters.kit.stored import stored

TARGET = Path(__file__).resolve().parent.parent / "book" / "_static" / "capacity_per_input.png"


def draw(target: Path) -> None:
    """What the first page shows: capacity before an event, and what it costs after with one and with two channels."""
    use_style()
    process, stack, values = cc.PowerLaw(), cc.Hierarchical(1, 6), stored("missed_events")["values"]
    found = cc.allocate(stack, cc.fit(stack, process), process)
    costs = {
        f"fitted again, {name}": dict(enumerate(values[key]["cost"]))
        for key, name in (("1", "1 channel"), ("2", "2 channels"))
    }
    figure, (top, below) = plt.subplots(2, figsize=(7.5, 4.4), sharex=True)
    plot_event(found, costs, top, below, marked=(32, 40))
    top.set_title("Where its capacity was low, a model of 64 inputs and one channel misses an event")
    figure.savefig(target, dpi=192, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
