"""An explorer in a small book: its picture stays, its data stand in the page, its scripts are on such pages only."""

import json
import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell

from chapters.kit.explorer import MIME, explorer

DATA = {"text": "</script><b>wonderfully</b>", "heights": [0.25, 1.0]}
CODE = """import matplotlib.pyplot as plt
from chapters.kit.explorer import explorer
from chapters.kit.publish import caption
_ = plt.plot([1, 2])
explorer("tiny", {"text": "</script><b>wonder" + "fully</b>", "heights": [0.25, 1.0]}, controls=["at"])
caption("**It rises.** Always.")"""
KIND = """CapExplorer.register("tiny", {
  controls: ({ data }) => [{ name: "at", label: "At", type: "range", min: 0, max: data.heights.length - 1, value: 0 }],
  draw: ({ data, state }) => ({ figure: CapExplorer.element("p"), label: "", table: { head: [], rows: [] },
    values: { height: data.heights[state.at] } }),
});"""
SCRIPTS = ["d3.min.js", "plot.min.js", "shell.js", "tiny.js"]


def with_explorer(book, code=CODE):
    """The small book, its figure an explorer, on a page of its own as well, and a page without any."""
    path = book.root / "notebooks/x.ipynb"
    notebook = nbformat.read(path, 4)
    figure = {"mystnb": {"figure": {"name": "fig-x"}, "image": {"alt": "A line that rises."}}}
    notebook.cells[3] = new_code_cell(code, id="cell-3", metadata=figure)
    nbformat.write(notebook, path)
    (book.root / "book/_static/explorer/tiny.js").write_text(KIND)
    toc = book.root / "_toc.yml"
    toc.write_text(toc.read_text() + "- file: book/third\n")
    index = "# Third\n\n```{figure-index}\nFigure 1 | fig-x |\n```\n"
    (book.root / "book/third.md").write_text(index)
    return book


def explorers(book, page):
    return BeautifulSoup(book.html(page), "html.parser").select(".cap-explorer")


def scripts(book, page):
    return re.findall(r'src="[./]*_static/explorer/([\w.]+)', book.html(page))


@pytest.mark.slow
def test_an_explorer_in_a_book(small_book):
    book = with_explorer(small_book)
    done = book.build()
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("notebooks/x", "book/other"):
        (found,) = explorers(book, page)
        assert found["data-kind"] == found["data-name"] == "tiny"
        assert found["data-controls"] == "at"
        assert json.loads(found.script.string) == DATA and found.script["type"] == "application/json"
        assert found.img["alt"] == "A line that rises."
        (phone,) = found.select("picture > source")
        for picture in (found.img["src"], phone["srcset"]):
            assert (book.root / "_build/html/book" / picture).is_file()
        assert int(phone["width"]) < 360 < int(found.img["width"])
        figure = found.find_parent("figure")
        assert figure.figcaption and len(figure.find_all("img")) == 1
        assert scripts(book, page) == SCRIPTS
        assert "explorer/explorer.css" in book.html(page)
    assert "It rises." in book.html("notebooks/x")

    # A small picture in an index stays one; pages without an explorer load nothing of it.
    assert explorers(book, "book/third") == []
    assert BeautifulSoup(book.html("book/third"), "html.parser").select("figure img")
    for page in ("book/third", "book/index"):
        assert "explorer" not in " ".join(re.findall(r"<(?:script|link)[^>]*>", book.html(page)))

    # Nothing of the data can be searched, and the notebook offered for download has no script.
    assert "wonderfulli" not in (book.root / "_build/html/searchindex.js").read_text()
    offered = json.loads((book.root / "_build/html/_sources/notebooks/x.ipynb").read_text())
    (output,) = [each for each in offered["cells"][3]["outputs"] if MIME in each["data"]]
    assert set(output["data"]) == {"image/png", "text/plain", MIME}


@pytest.mark.slow
def test_a_kind_without_a_script_breaks_the_build(small_book):
    done = with_explorer(small_book, CODE.replace('"tiny"', '"tyni"')).build()
    assert done.returncode != 0
    assert "found no tyni.js" in done.stdout + done.stderr


def test_outside_a_notebook_only_the_stored_result_is_checked():
    assert explorer("tiny", {"a": 1}) is None
    with pytest.raises(FileNotFoundError, match="found 'no such result'"):
        explorer("tiny", "no such result")
