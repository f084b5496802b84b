"""Copy the landing figure out of its executed notebook: ``python scripts/export_landing_figure.py``.

The picture in ``book/_static/landing.png`` is the very image stored in ``notebooks/hierarchical.ipynb``, so that the
README and the book show the same one. Run it after ``make notebooks``.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "notebooks" / "hierarchical.ipynb"
TARGET = ROOT / "book" / "_static" / "landing.png"
FIGURE = "fig-landing"


def landing_figure(notebook: Path = NOTEBOOK) -> bytes:
    """The PNG of the cell whose figure is called ``fig-landing``. Raises ``LookupError`` if it has none."""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.metadata.get("mystnb", {}).get("figure", {}).get("name") == FIGURE:
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    return base64.b64decode(output.data["image/png"])
    raise LookupError(f"{notebook.name}: found no executed figure {FIGURE!r}. Run make notebooks first.")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(landing_figure())
