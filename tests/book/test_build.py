"""A build never shows an old number and never hides a failure. Each test builds a small book with the real settings."""

import json

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell

pytestmark = pytest.mark.slow


def test_every_edit_reaches_every_page(small_book):
    done = small_book.build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'The value is <span class="pasted-text">41</span>' in small_book.html("book/other")
    page = small_book.html("notebooks/x")
    assert "from a run: 41" in page
    assert "stored output" not in page

    # The chapter's figure on the other page: picture, alternative text, and a caption with values.
    (figure,) = BeautifulSoup(small_book.html("book/other"), "html.parser").select("article figure")
    picture = small_book.root / "_build/html/book" / figure.img["src"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert figure.img["alt"] == "A line."
    assert " ".join(figure.figcaption.get_text().split()).startswith("Its caption here, after Fig. 1: 41.")

    # What is stored of the other page is that page, and not Sphinx's whole environment with it.
    assert "small_print" in small_book.html("book/other")
    assert b"BuildEnvironment" not in (small_book.root / "_build/.doctrees/book/other.doctree").read_bytes()

    # The notebook offered for download is the one executed here.
    offered = json.loads((small_book.root / "_build/html/_sources/notebooks/x.ipynb").read_text())
    assert offered["cells"][-1]["outputs"][0]["text"] in ("from a run: 41\n", ["from a run: 41\n"])
    assert offered["metadata"]["kernelspec"] == {"name": "python3", "display_name": "Python 3", "language": "python"}

    # Nothing changed: nothing is executed or read again.
    again = small_book.build()
    assert again.returncode == 0
    assert "0 added, 0 changed, 0 removed" in again.stdout
    assert "Executing notebook" not in again.stdout + again.stderr

    # A caption changed: no old caption, although no code changed.
    small_book.write_notebook("glue('value', ANSWER, display=False)", caption="Another finding.")
    assert small_book.build().returncode == 0
    assert "Another finding." in small_book.html("notebooks/x")

    # The package changed: the notebook is executed again, and the other page, which did not change, follows.
    small_book.constant.write_text("ANSWER = 43\n")
    done = small_book.build()
    assert done.returncode == 0
    assert "from a run: 43" in small_book.html("notebooks/x")
    assert 'The value is <span class="pasted-text">43</span>' in small_book.html("book/other")
    assert "41" not in BeautifulSoup(small_book.html("book/other"), "html.parser").find("article").get_text()

    # The notebook changed: so does what other pages cite from it.
    small_book.write_notebook("glue('value', 2 * ANSWER, display=False)")
    assert small_book.build().returncode == 0
    assert 'The value is <span class="pasted-text">86</span>' in small_book.html("book/other")


def test_notebooks_are_executed_side_by_side_and_a_broken_one_breaks_the_build_and_goes_on_doing_so(small_book):
    toc = small_book.root / "_toc.yml"
    toc.write_text(toc.read_text() + "- file: notebooks/y\n")
    notebook = nbformat.read(small_book.root / "notebooks/x.ipynb", 4)
    notebook.cells = [*notebook.cells[:2], new_code_cell("print(6 * 7)", id="last")]
    nbformat.write(notebook, small_book.root / "notebooks/y.ipynb")
    small_book.write_notebook("raise RuntimeError('canary')")
    for _ in range(2):
        done = small_book.build()
        assert done.returncode != 0
        assert "ExecutionError" in done.stdout + done.stderr
    small_book.write_notebook("glue('value', ANSWER, display=False)")
    done = small_book.build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "42" in small_book.html("notebooks/y")

    (small_book.root / "capcore" / "answer.py").write_text("ANSWER = 44\n")
    done = small_book.build()
    assert done.returncode == 0
    assert '<span class="pasted-text">44</span>' in small_book.html("book/other")
    assert "executing notebooks" in done.stdout  # side by side, before the pages are read
    assert "Executing notebook" not in done.stdout + done.stderr  # by MyST-NB, one after the other


def test_a_warning_breaks_the_build_and_goes_on_doing_so(small_book):
    (small_book.root / "book/other.md").write_text("# Other\n\nSee {numref}`fig-nowhere` and {ref}`nothing`.\n")
    for _ in range(2):
        done = small_book.build()
        assert done.returncode != 0
        assert "nothing" in done.stderr


def test_another_copy_of_the_package_is_refused(small_book):
    done = small_book.build(PYTHONPATH="")
    assert done.returncode != 0
    assert "Run `make setup`" in done.stdout + done.stderr
