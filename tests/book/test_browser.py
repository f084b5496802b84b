"""The site in a browser: every page at two widths, light and dark.

Nothing is asked of other hosts, mathematics is rendered, no page is wider than a phone, axe-core finds no fault.
"""

import gzip
from functools import cache
from urllib.parse import urlsplit

import pytest
import yaml

from chapters.claims.registry import load
from tests.book.axe import violations
from tests.book.conftest import Reused
from tests.book.test_pages import entries
from tests.listings import ROOT

NAMED = entries(yaml.safe_load((ROOT / "_toc.yml").read_text()))
CLAIMS = {f"notebooks/{claim.notebook}": [".capcore-claim tbody tr"] for claim in load() if claim.notebook}
CLAIMS["book/claims"] = [".claims-summary tbody tr:last-child", ".claims-table tbody tr"]
pytestmark = [pytest.mark.site, pytest.mark.browser]
PAGES = [*NAMED, "search", "genindex"]
OTHER = {"light": "dark", "dark": "light"}
WHOLE = ("notebooks/idea", "book/api/rooms/processes")  # axe looks at their code, and at both themes at each width
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1400, "height": 1000}


@pytest.fixture(params=[("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"], scope="module")
def visit(request, browser, address):
    """``visit(name)``: the page after its mathematics, the requests it made, and what went wrong."""
    scheme, viewport = request.param
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    page = Reused(context)

    def visit(name):
        tab, requests, errors = page.blank(), [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("response", lambda reply: reply.status >= 400 and errors.append(f"{reply.status} {reply.url}"))
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(f"{address}{name}.html", wait_until="load")
        if tab.locator(".math").count():
            tab.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
            tab.evaluate("MathJax.startup.promise")
        return tab, requests, errors

    yield visit
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_page(visit, address, site, name):
    page, requests, errors = visit(name)
    assert [url for url in requests if not url.startswith((address, "data:", "blob:"))] == []
    assert weight(site, address, requests) < 1.5e6
    formulas = page.locator("span.math, div.math").count()
    assert page.locator("mjx-container").count() >= formulas
    assert page.locator("mjx-merror").count() == 0
    said = page.locator(".cell.tag_remove-input .cell_output")
    assert [each.text_content() for each in said.all() if not each.is_visible()] == [], "what cells say is shown"
    if name in CLAIMS:
        for rows in CLAIMS[name]:
            claims_are_legible(page, rows)
    if name in CLAIMS.keys() - {"book/claims"}:
        claims_are_one_line_each_at_the_end_of_their_section(page)
    chapter = name == "book/index" or name.startswith("notebooks/")
    if chapter:
        figures_are_legible(page)
    assert violations(page, whole=name in WHOLE) == []
    looks_right(page)
    page.add_style_tag(content="* { transition: none !important; }")
    page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", OTHER[theme_of(page)])
    assert name not in WHOLE or violations(page, whole=True, rules=["color-contrast"]) == []
    page.evaluate("document.querySelectorAll('article details').forEach(each => { each.open = true })")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    looks_right(page)
    if chapter:
        boxes_can_be_scrolled(page)
    assert errors == []


def looks_right(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    cut = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.innerText)"
    assert page.viewport_size == PHONE or page.locator("article div.highlight pre").evaluate_all(cut) == []
    behind = "images => images.map(image => getComputedStyle(image).backgroundColor)"
    assert set(page.locator("article figure :not(picture) > img").evaluate_all(behind)) <= {"rgb(255, 255, 255)"}
    assert set(page.locator("article figure picture > img").evaluate_all(behind)) <= {"rgba(0, 0, 0, 0)"}


def theme_of(page):
    return page.evaluate("document.documentElement.dataset.theme")


def weight(site, address, requests):
    """Bytes of the files that the page has asked for, as servers send them; up to three times as many on a disk."""
    return sum(compressed(site / urlsplit(url).path.lstrip("/")) for url in set(requests) if url.startswith(address))


@cache
def compressed(path):
    return len(gzip.compress(path.read_bytes(), 6))


@pytest.fixture(scope="module")
def plain_page(browser):
    """A page on which no script runs."""
    context = browser.new_context(viewport=DESKTOP, java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", NAMED)
def test_page_without_scripts(plain_page, address, name):
    """All that it says and shows is there; formulas are TeX, the contents a list."""
    page = plain_page
    page.goto(f"{address}{name}.html", wait_until="load")
    assert page.locator("article").inner_text().strip()
    shown = "parts => parts.filter(part => !part.closest('details:not([open])')).map(part => part.checkVisibility())"
    for part in ("article img", "article .cell_output", "article section > p", "article table"):
        assert set(page.locator(part).evaluate_all(shown)) <= {True}, part
    drawn = "images => images.map(image => image.complete && image.naturalWidth > 0)"
    assert set(page.locator("article img").evaluate_all(drawn)) <= {True}
    assert page.locator("nav.bd-links a").count() > 40


def figures_are_legible(page):
    """Nothing scrolls sideways, the picture is the one made for this width, and it is shown in letters of true size."""
    narrow = page.viewport_size == PHONE
    figures = page.locator("article figure:has(img):not(:has(.is-live))").evaluate_all(
        """figures => figures.map(figure => {
            const image = figure.querySelector('img'), box = image.getBoundingClientRect();
            const source = figure.querySelector('picture source');
            return {name: figure.id, wide: figure.scrollWidth - figure.clientWidth, left: box.left, right: box.right,
                    scale: box.width / image.naturalWidth, small: !!figure.closest('.figure-index'),
                    narrow: source && image.currentSrc.endsWith(source.getAttribute('srcset').split('/').pop())};
        })"""
    )
    assert figures or page.locator("article figure").count()
    for figure in figures:
        assert figure["wide"] <= 0, figure
        assert figure["left"] >= 0 and figure["right"] <= page.viewport_size["width"], figure
        assert figure["narrow"] == narrow, figure
        assert figure["small"] or 0.96 <= figure["scale"] <= 1, figure


def boxes_can_be_scrolled(page):
    """What is wider than its box scrolls in it: with the keyboard, too, and with a hint that there is more."""
    found = page.locator(".bd-content .pst-scrollable-table-container, .bd-content mjx-container[display='true']")
    for box in found.all():
        wide, hint, focus = box.evaluate(
            "box => [box.scrollWidth > box.clientWidth + 2, box.classList.contains('more-right'), box.tabIndex]"
        )
        assert hint == wide and (focus == 0 or not wide)


def claims_are_legible(page, rows):
    """Nothing stands outside its cell or the window, and on a phone each row is as wide as its table."""
    assert page.locator(rows).count()
    found = page.locator(rows).evaluate_all(
        """(rows, narrow) => rows.flatMap(row => {
            const table = row.closest('table').getBoundingClientRect(), cells = [...row.querySelectorAll('td')];
            const wide = cells.filter(cell => cell.scrollWidth > cell.clientWidth + 1
                || cell.getBoundingClientRect().right > window.innerWidth);
            const first = cells[0].getBoundingClientRect();
            const cramped = narrow && first.width < 0.9 * table.width;
            return wide.length || cramped ? [row.innerText] : [];
        })""",
        page.viewport_size == PHONE,
    )
    assert found == []


CLASHES = """boxes => {
    const shown = 'article :is(figure, table, pre, .erratum, .capcore-claim), .bd-sidebar-secondary';
    const others = [...document.querySelectorAll(shown)].filter(each => each.checkVisibility());
    return boxes.flatMap(box => others.filter(other => {
        if (box === other || box.contains(other)) return false;
        const [a, b] = [box, other].map(each => each.getBoundingClientRect());
        return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    }).map(other => `${box.id}: ${other.tagName} ${other.className} ${other.id}`));
}"""


def claims_are_one_line_each_at_the_end_of_their_section(page):
    """Closed and opened they cover nothing; afterwards they are closed, and the page is at its top."""
    boxes = page.locator(".claims-of-section:is(:last-child, :has(+ section)) .capcore-claim")
    assert boxes.count() == page.locator(".capcore-claim").count() > 0
    lines = "boxes => boxes.map(box => box.offsetHeight / parseFloat(getComputedStyle(box).lineHeight))"
    assert max(boxes.evaluate_all(lines)) < 2
    for opened in (True, False):
        boxes.evaluate_all("(boxes, opened) => boxes.forEach(box => { box.open = opened })", opened)
        page.evaluate("scrollTo(0, 0)")
        assert boxes.evaluate_all(CLASHES) == []
    bars = page.locator(".cell:has(.capcore-claim) details.hide")
    assert bars.evaluate_all("bars => bars.some(bar => bar.checkVisibility())") is False


ASKED = {
    "own model": "notebooks/your_own_model",
    "LSTM": "notebooks/your_trained_network",
    "missing values": "book/howto/gaps",
    "save": "book/howto/saving",
    "own kernel": "book/howto/own_kernel",
    "install": "book/index",
    "what is capacity": "notebooks/idea",
    "overfitting": "notebooks/double_descent",
}
FIRST = {
    "how many parameters count": "notebooks/your_trained_network",
    "effective number of parameters": "notebooks/your_trained_network",
    "receptive field": "book/howto/receptive_field",
    "forgets": "notebooks/recurrent",
    "event": "notebooks/idea",
}
"""What readers ask the search for, and the page that answers it: among the first three, or the first."""


@pytest.mark.parametrize(("asked", "answer"), (ASKED | FIRST).items())
def test_search_finds_the_answer_among_the_first(visit, asked, answer):
    page, _, errors = visit("search")
    page.goto(f"{page.url}?q={asked}")
    page.wait_for_selector("#search-results li a")
    page.wait_for_function("!document.querySelector('#search-results h2').innerText.startsWith('Searching')")
    found = page.locator("#search-results li > a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert any(
        link.split("#")[0].removesuffix(".html").endswith(answer) for link in found[: 1 if asked in FIRST else 3]
    )
    assert errors == []


def test_errata_are_in_the_margin_of_a_wide_page_and_in_the_line_of_a_narrow_one(visit):
    page, _, _ = visit("notebooks/spectra_metrics")
    beside = page.locator(".erratum").evaluate_all(
        """notes => notes.map(note =>
            note.getBoundingClientRect().left > note.closest("p").getBoundingClientRect().right)"""
    )
    assert len(beside) > 3 and set(beside) == {page.viewport_size == DESKTOP}


def test_a_word_of_the_glossary_that_is_tapped_shows_its_explanation(browser, address):
    page = browser.new_page(viewport=PHONE, has_touch=True)
    page.goto(f"{address}notebooks/hierarchical.html")
    word = page.locator("abbr.glossary-term").first
    shown = "word => getComputedStyle(word, '::after').content"
    assert word.evaluate(shown) == "none"
    word.tap()
    assert word.get_attribute("title") in word.evaluate(shown)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_claims_can_be_filtered_and_searched(browser, address):
    page = browser.new_page()
    page.goto(f"{address}book/claims.html")
    rows, shown = page.locator(".claims-table tbody tr"), page.locator(".claims-table tbody tr:visible")
    assert shown.count() == rows.count() == len(load())
    page.locator(".claims-filter select").first.select_option("P2")
    assert 0 < shown.count() < rows.count()
    page.locator(".claims-filter input").fill("no such word anywhere")
    assert shown.count() == 0
    page.goto(f"{address}book/claims.html#p1-13")
    assert page.locator("#p1-13").is_visible(), "a link to a row shows it, whatever was filtered"
    page.close()
