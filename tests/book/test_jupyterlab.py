"""Chapters in JupyterLab: complete, with captions below their figures, and nothing that only Sphinx can read."""

import json
import re
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import pytest

from tests.listings import ROOT

CHAPTERS = ("idea", "hierarchical", "spectra_accuracy")
SPHINX_ONLY = re.compile(r"\{[a-z]+(?::[a-z]+)?\}`|^(?:```|:::)\{", re.MULTILINE)
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_notebook_has_a_role_or_a_directive(path):
    for cell in nbformat.read(path, as_version=4).cells:
        texts = [cell.source] if cell.cell_type == "markdown" else []
        texts += [output.get("data", {}).get("text/markdown", "") for output in cell.get("outputs", [])]
        for text in texts:
            assert not SPHINX_ONLY.search(text), text[:200]
            assert not re.search(r"[\t\r\f\b\a\v]", text), f"a backslash that was meant for a formula? {text[:200]}"
            assert "[](" not in text, f"a link without words shows nothing here: {text[:200]}"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab that shows whole notebooks, those below the window included."""
    settings = tmp_path_factory.mktemp("lab") / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--port={port}", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    options += [f"--ServerApp.root_dir={ROOT}", f"--LabApp.user_settings_dir={settings.parent.parent}"]
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "jupyterlab", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=5)
                break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail("JupyterLab did not start within a minute")
        yield address
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.site
@pytest.mark.browser
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_complete(lab, browser, name):
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    said = [output.data["text/markdown"] for output in shown if "text/markdown" in output.get("data", {})]
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    try:
        page.goto(f"{lab}/lab/workspaces/{name}/tree/notebooks/{name}.ipynb?reset", timeout=120_000)
        panel = page.locator(".jp-NotebookPanel")
        panel.locator("h1").first.wait_for(timeout=120_000)
        page.wait_for_function(
            "([selector, count]) => document.querySelectorAll(selector).length >= count",
            arg=[".jp-NotebookPanel .jp-OutputArea .jp-RenderedMarkdown", len(said)],
            timeout=60_000,
        )
        text = panel.inner_text()
        assert not SPHINX_ONLY.search(text)
        assert panel.locator(".jp-OutputArea img").count() == sum("image/png" in o.get("data", {}) for o in shown)
        for each in said:
            line = re.sub(r"<[^>]+>", "", each).strip().splitlines()[0]  # what a fold shows, if it is one
            first = re.split(r"[$*`\[\\]", line.strip("*"))[0].strip()
            assert first in text, f"not shown: {first}"
    finally:
        page.close()
