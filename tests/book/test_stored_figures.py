"""The figures stored in the notebooks are those that the book's build has just drawn."""

import base64
import io

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.listings import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SAME = 0.2
"""Share of the ink in which two renderings of one figure may differ: letters, edges of lines, and ends of curves that
are rounding. A rising and a falling line on the same axes differ in 0.24, any two of the book's figures in 0.66."""


def pictures(notebook):
    """Name of a figure → its pixels (height, width, 3), from 0 for black to 1; none where there is no picture."""
    found = {}
    for cell in notebook.cells:
        name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
        encoded = [
            o.get("data", {}).get("image/png") for o in cell.get("outputs", []) if "image/png" in o.get("data", {})
        ]
        if name:
            found[name] = pixels(base64.b64decode(encoded[0])) if encoded else None
    return found


def pixels(png):
    image = plt.imread(io.BytesIO(png), format="png")
    return image[:, :, :3] * image[:, :, 3:] + 1 - image[:, :, 3:] if image.shape[2] == 4 else image  # on white


def different_ink(one, other):
    """0 for equal pictures of one size, 1 for those that share no ink; 1 for other sizes."""
    if one is None or other is None or one.shape != other.shape:
        return 1.0
    return float(np.abs(one - other).sum() / max((1 - one).sum() + (1 - other).sum(), 1.0))


def problems(stored, built):
    """One line for each figure of a stored notebook that is not the one that was built."""
    ours, theirs = pictures(stored), pictures(built)
    assert set(ours) == set(theirs)
    for name, picture in ours.items():
        difference = different_ink(picture, theirs[name])
        if difference > SAME:
            yield f"{name}: found another picture than the build's ({difference:.0%} of the ink): run make notebooks."


@pytest.mark.site
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_stored_figures_are_those_of_this_build(site, path):
    built = site / "_sources" / "notebooks" / path.name
    if not built.is_file():
        pytest.skip("the notebook is not in the book")
    found = problems(nbformat.read(path, as_version=4), nbformat.read(built, as_version=4))
    assert list(found) == []


def drawn(**lines):
    """A notebook with one figure per keyword: a line through those heights."""
    cells = []
    for name, heights in lines.items():
        figure, axes = plt.subplots(figsize=(4, 3))
        axes.plot(heights)
        axes.set_title(name)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=100)
        plt.close(figure)
        data = {"image/png": base64.b64encode(buffer.getvalue()).decode()}
        metadata = {"mystnb": {"figure": {"name": name}}}
        cells.append(new_code_cell("draw()", outputs=[new_output("display_data", data=data)], metadata=metadata))
    return new_notebook(cells=cells)


def test_another_picture_is_reported_and_another_rendering_is_not():
    rising, falling = np.arange(9.0), np.arange(9.0)[::-1]
    book = drawn(up=rising, down=falling)
    assert list(problems(drawn(up=rising, down=falling), book)) == []
    assert list(problems(drawn(up=rising + 1e-3 * np.sin(rising), down=falling), book)) == []  # a third of a pixel
    swapped = drawn(up=rising, down=falling)
    first, second = swapped.cells
    first.outputs, second.outputs = second.outputs, first.outputs
    assert len(list(problems(swapped, book))) == 2
    stripped = drawn(up=rising, down=falling)
    del stripped.cells[1].outputs[0]["data"]["image/png"]
    (line,) = problems(stripped, book)
    assert line.startswith("down: found another picture")
