"""Write the figures' colours as CSS variables for the explorers: ``python scripts/write_palette.py``."""

from __future__ import annotations

from pathlib import Path

from matplotlib.colors import to_hex, to_rgb

from capcore.plotting import CYCLE, channel_colours, layer_colours
from chapters.shared.process_names import PROCESSES

TARGET = Path(__file__).resolve().parent.parent / "book" / "_static" / "palette.css"
LIGHTER = 0.35  # share of white in the colours on a dark page


def palette() -> str:
    """``--cap-layer-1`` to 8, ``--cap-channels-1`` to 8, ``--cap-process-PowerLaw``, …, ``--cap-series-1`` to 7."""
    colours = {f"layer-{l}": colour for l, colour in enumerate(layer_colours(8), 1)}
    colours |= {f"channels-{c}": colour for c, colour in channel_colours(range(1, 9)).items()}
    colours |= {f"process-{family}": to_rgb(look["color"]) for family, look in PROCESSES.items()}
    colours |= {f"series-{i}": to_rgb(colour) for i, colour in enumerate(CYCLE, 1)}
    lines = ["/* The colours of the figures (capcore/plotting.py), written by scripts/write_palette.py. */"]
    for page, white in (("html", 0.0), ('html[data-theme="dark"]', LIGHTER)):
        lines.append(f"{page} {{")
        for name, colour in colours.items():
            share = 1.0 if white and not any(colour) else white  # black becomes white
            lines.append(f"  --cap-{name}: {to_hex(tuple((1 - share) * part + share for part in colour))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(palette(), "utf8")
