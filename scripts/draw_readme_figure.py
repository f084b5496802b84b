"""Draw the picture of the README: ``python scripts/draw_readme_figure.py [target.png]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import capcore as cc
from capcore.plotting import channel_colours, use_style

TARGET = Path(__file__).resolve().parent.parent / "book" / "_static" / "capacity_per_input.png"


def draw(target: Path) -> None:
    """Capacity per input of hierarchical models with one, two and four channels, fitted to the same process."""
    use_style()
    process = cc.PowerLaw(exponent=0.5)
    figure, ax = plt.subplots(figsize=(7.5, 3.0))
    for channels, colour in channel_colours((1, 2, 4)).items():
        arch = cc.Hierarchical(channels=channels, n_layers=6, kernel_size=2)
        alloc = cc.allocate(arch, cc.fit(arch, process).params, process)
        label = f"{channels} channel{'s' * (channels > 1)}: {alloc.total} in all"
        alloc.plot(ax, label, color=colour, linestyle="-").set_ylabel("capacity per input")
    ax.legend().remove()
    figure.legend(loc="outside lower center", ncols=3)
    ax.set_title("Where linear models of 64 inputs spend their capacity: recent inputs saturate first")
    figure.savefig(target, dpi=192, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
