"""A small book with this repository's own settings, and the built site."""

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
CAPTION = "One number, and it is the package's."
PAGE = (
    "# Other page\n\nThe value is {glue:text}`../notebooks/x.ipynb::value:d`. See {numref}`fig-x`.\n\n"
    "```{notebook-figure} fig-x\n"
    "Its caption here, after {numref}`fig-x`: {glue:text}`../notebooks/x.ipynb::value:d`.\n```\n\n"
    "```{eval-rst}\n.. py:function:: small_print()\n```\n"
)


def pytest_collection_modifyitems(items):
    """Pages and what builds them are looked at where the book is built: in continuous integration."""
    for item in items:
        if item.path.parent == Path(__file__).parent and not item.get_closest_marker("site"):
            item.add_marker(pytest.mark.ci)


class SmallBook:
    """A copy of the settings, the extensions and the package, with one notebook and one page that cites it."""

    def __init__(self, root):
        self.root = root
        read = ("references.bib", "claims.yml", "search_words.yml")
        package = ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "README.md", "LICENSE", "LICENSE-TEXT")
        for name in ("_config.yml", "requirements.lock", *package, *(f"book/{each}" for each in read)):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        for name in ("capcore", "chapters", "book/_ext", "book/_static", "book/_templates"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "_toc.yml").write_text(
            "format: jb-book\nroot: book/index\nchapters:\n- file: notebooks/x\n- file: book/other\n"
        )
        (root / "book/index.md").write_text("# Small\n\nText.\n")
        (root / "book/other.md").write_text(PAGE)
        self.constant = root / "capcore" / "answer.py"
        self.constant.write_text("ANSWER = 41\n")
        self.write_notebook("glue('value', ANSWER, display=False)")

    def write_notebook(self, code, caption=CAPTION):
        """The notebook, with an output that no run would give."""
        figure = {"figure": {"caption": caption, "name": "fig-x"}, "image": {"alt": "A line."}}
        cells = [
            new_markdown_cell("# Chapter"),
            new_code_cell("from capcore.answer import ANSWER\nfrom myst_nb import glue"),
            new_code_cell(code),
            new_code_cell("import matplotlib.pyplot as plt\n_ = plt.plot([ANSWER, 2])", metadata={"mystnb": figure}),
            new_code_cell("print('from a run:', ANSWER)"),
        ]
        cells[-1].update(
            execution_count=4, outputs=[nbformat.v4.new_output("stream", name="stdout", text="stored output")]
        )
        for i, cell in enumerate(cells):
            cell["id"] = f"cell-{i}"
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        (self.root / "notebooks").mkdir(exist_ok=True)
        nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), self.root / "notebooks/x.ipynb")

    def start(self, **environment):
        """What make book runs, in a group of processes of its own, as a terminal would start it."""
        makefile = (ROOT / "Makefile").read_text()
        (command,) = re.findall(r"^\t@\.venv/bin/(jupyter-book build .*)$", makefile, re.MULTILINE)
        program, *arguments = command.split()
        return subprocess.Popen(
            [Path(sys.executable).with_name(program), *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root), "NO_COLOR": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def build(self, **environment):
        """What make book runs, to its end."""
        started = self.start(**environment)
        out, err = started.communicate()
        return subprocess.CompletedProcess(started.args, started.returncode, out, err)

    def html(self, page):
        """A built page."""
        return (self.root / "_build" / "html" / f"{page}.html").read_text("utf8")


@pytest.fixture
def small_book(tmp_path):
    """A fresh small book."""
    return SmallBook(tmp_path)


@pytest.fixture(scope="module")
def browser():
    """Chromium, as installed by the system."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"no browser: found none of {', '.join(names)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; tests that use it carry the mark ``site``."""
    if not (SITE / "index.html").is_file():
        pytest.skip("the site is not built: run make book")
    return SITE


class Reused:
    """A page of a window, used for one visit after another: its process and what it has compiled stay for a while.

    ``blank()`` : the page, empty, as a new one. ``on(event, do)`` : as of Playwright's pages, until it is empty again.
    """

    VISITS = 8  # of one process, which keeps some 25 MB of each page

    def __init__(self, context):
        self.context, self.page, self.visits, self.listening = context, None, 0, []

    def on(self, event, do):
        self.page.on(event, do)
        self.listening.append((event, do))

    def blank(self):
        if self.page is None or self.visits == self.VISITS:
            if self.page:
                self.page.close()
            self.page, self.visits = self.context.new_page(), 0
            self.page.once("crash", lambda page: setattr(self, "visits", self.VISITS))
        else:
            for each in self.listening:
                self.page.remove_listener(*each)
            self.page.unroute_all()
            self.page.emulate_media(media="null")
            self.page.goto("about:blank")
        self.listening.clear()
        self.visits += 1
        return self.page


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line per request."""

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(site):
    """The site, served on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
