"""Every explorer of the built site, operated by mouse and keyboard; its numbers are those that the package computes.

``tests/book/explorers/<kind>.py``, with underscores, says of a kind:

``PAGES`` : that have it. ``STATES`` : ten of them, each ``{control: value}``, the rest at its default.
A page that has some of the controls only is seen in those of the states that set no other.
``expected(state)`` : ``{name: value}`` for the complete state, computed with ``capcore`` and compared with the values
shown; all names there must be shown. Where pages start from different data, ``DATA`` has them by page, and it is
``expected(state, page)``. ``TOLERANCE`` : of that, absolute and relative; or ``{name: {"atol": …}}``, the
rest exact. ``POINT`` : where in the figure, as shares of its width
and height from the upper left, a click changes the state.
"""

import json
import os
from functools import partial
from importlib import import_module
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from tests.book.conftest import Reused

FOLDER = Path(__file__).resolve().parents[2] / "book" / "_static" / "explorer"
KINDS = sorted({path.stem for path in FOLDER.glob("*.js")} - {"d3.min", "plot.min", "shell"})
KNOWN = {kind: import_module(f"tests.book.explorers.{kind.replace('-', '_')}") for kind in KINDS}
PLACES = [(kind, page) for kind, known in KNOWN.items() for page in known.PAGES]
SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1440, "height": 1000}}
LOOKS = [(size, theme) for size in SIZES for theme in ("light", "dark")]
pytestmark = [pytest.mark.site, pytest.mark.browser]
each_place = pytest.mark.parametrize(("kind", "name"), PLACES)
each_look = pytest.mark.parametrize(("size", "theme"), LOOKS)


@pytest.fixture(scope="module")
def windows(browser):
    """``windows(size, theme, …)``: the page of a window of the browser, which keeps what was loaded."""
    opened = {}

    def window(size, theme, **options):
        key = (size, theme, *sorted(options.items()))
        if key not in opened:
            opened[key] = Reused(browser.new_context(viewport=SIZES[size], color_scheme=theme, **options))
        return opened[key]

    yield window
    for page in opened.values():
        page.context.close()


@pytest.fixture
def visit(windows, address):
    """``visit(name, kind)``: the page, and the explorer on it."""

    def visit(name, kind, size="desktop", theme="light", fragment="", blocked="", **options):
        reused = windows(size, theme, **options)
        page = reused.blank()
        page.errors, page.elsewhere = [], []
        reused.on("console", lambda message: message.type == "error" and page.errors.append(message.text))
        reused.on("pageerror", lambda error: page.errors.append(str(error)))
        reused.on("request", lambda request: _note(request.url, address, page.elsewhere))
        if blocked:
            page.route(f"**/{blocked}*", lambda route: route.abort())
        page.goto(f"{address}{name}.html{fragment}", wait_until="load")
        return page, page.locator(f'.cap-explorer[data-name="{kind}"]')

    return visit


def _note(url, address, elsewhere):
    if not url.startswith((address, "data:", "blob:")):
        elsewhere.append(url)


def picture_in(root):
    return root.locator(":scope > img, :scope > picture > img")


def state_of(root):
    return root.evaluate("root => root.capState")


def values_of(root):
    return root.evaluate("root => root.capValues")


def wait_for(page, root, state):
    """Until the explorer shows this state."""
    page.wait_for_function(
        "([root, state]) => Object.keys(state).every(key => root.capState[key] === state[key])",
        arg=[root.element_handle(), state],
    )


def states_at(root, kind):
    """The states that the controls on this page can set."""
    shown = root.get_attribute("data-controls")
    return [each for each in KNOWN[kind].STATES if shown is None or set(each) <= set(shown.split())]


def fragment_of(kind, state):
    said = {key: int(value) if isinstance(value, bool) else value for key, value in state.items()}
    return f"#{kind}?{urlencode(said)}"


@each_place
@each_look
def test_it_is_there_at_once_and_fits_and_print_shows_the_picture(visit, kind, name, size, theme):
    page, root = visit(name, kind, size, theme)
    assert page.errors == [] and page.elsewhere == []
    assert "is-live" in root.get_attribute("class")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not picture_in(root).is_visible() and root.locator(".cap-stage svg").first.is_visible()
    drawn = root.evaluate(
        "root => [...root.querySelectorAll('.cap-stage svg')].map(svg => svg.getBoundingClientRect())"
    )
    assert all(box["left"] >= 0 and box["right"] <= SIZES[size]["width"] for box in drawn)
    first = first_view(page, kind)
    page.emulate_media(media="print")
    assert picture_in(root).is_visible() and not root.locator(".cap-live").is_visible(), "print shows the picture"
    again = (first_view(visit(name, kind, size, theme)[0], kind) for _ in range(4))
    assert first < 1000 * busy() or min(again) < 1000 * busy()


def first_view(page, kind):
    """Milliseconds from the beginning of the visit to the first drawing."""
    return page.evaluate("name => performance.getEntriesByName(`explorer ${name}`)[0].startTime", kind)


def busy():
    """Processes that share a processor, and so make each other wait; 1 where there are enough of them."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 1.0


@each_place
@pytest.mark.parametrize("size", SIZES)
def test_nothing_below_moves(visit, kind, name, size):
    """The picture's box, shown while the scripts load or where they are blocked, is that of the live figure."""
    height = "root => root.getBoundingClientRect().height"
    _, picture = visit(name, kind, size, blocked="shell.js")
    assert picture_in(picture).is_visible() and picture.locator(".cap-live").count() == 0
    before = picture.evaluate(height)
    page, root = visit(name, kind, size)
    assert root.evaluate(height) == before
    for state in states_at(root, kind):
        page.evaluate("hash => { location.hash = hash; }", fragment_of(kind, state))
        wait_for(page, root, state)
        assert root.evaluate(height) == before, f"--cap-height is too small at {state}"


@each_place
def test_without_scripts_the_picture_is_complete(visit, kind, name):
    page, root = visit(name, kind, java_script_enabled=False)
    picture = picture_in(root).bounding_box()
    assert picture["width"] > 300 and picture["height"] > 100
    assert root.bounding_box()["height"] <= picture["height"] + 20, "no empty box"
    assert page.locator("figure", has=root).locator("figcaption").is_visible()


@each_place
def test_every_control_answers_to_the_keyboard(visit, kind, name):
    page, root = visit(name, kind)
    inputs = root.locator(".cap-controls :is(input, select)")
    assert inputs.count()
    for field in inputs.all():
        if field.is_disabled():
            continue
        key = field.get_attribute("id").removeprefix(f"cap-{kind}-")
        assert root.locator(f'label[for="{field.get_attribute("id")}"]').inner_text().strip()
        field.focus()
        before = state_of(root)[key]
        for press in ("Space",) if field.get_attribute("type") == "checkbox" else ("ArrowDown", "ArrowUp", "End"):
            page.keyboard.press(press)
            page.wait_for_timeout(50)
            if state_of(root)[key] != before:
                break
        assert state_of(root)[key] != before, f"{key}: no key changes it"
        assert field.evaluate("field => field === document.activeElement"), f"{key}: lost the focus"
    root.locator("summary").focus()
    page.keyboard.press("Enter")
    root.locator(".cap-table tbody tr").first.wait_for()
    root.get_by_role("button", name="Reset").press("Enter")
    page.wait_for_function("() => !location.hash")
    assert page.errors == []


@each_place
@pytest.mark.parametrize("size", SIZES)
def test_the_pointer_changes_the_state(visit, kind, name, size):
    page, root = visit(name, kind, size)
    before = state_of(root)
    stage = root.locator(".cap-stage")
    stage.scroll_into_view_if_needed()
    box, (x, y) = stage.bounding_box(), KNOWN[kind].POINT
    stage.click(position={"x": x * box["width"], "y": y * box["height"]})
    page.wait_for_function(
        "([root, before]) => JSON.stringify(root.capState) !== before",
        arg=[root.element_handle(), json.dumps(before, separators=(",", ":"), ensure_ascii=False)],
    )
    assert state_of(root) != before and page.errors == []


@each_place
def test_a_view_can_be_linked_and_a_wrong_link_is_the_first_view(visit, kind, name):
    page, root = visit(name, kind)
    state = states_at(root, kind)[-1]
    first = state_of(root)
    assert any(first[key] != value for key, value in state.items()), "the last state differs from the first view"
    page, root = visit(name, kind, fragment=fragment_of(kind, state))
    assert {key: state_of(root)[key] for key in state} == state
    assert page.evaluate("scrollY") > 0 or root.bounding_box()["y"] < page.viewport_size["height"]
    root.get_by_role("button", name="Reset").click()
    wait_for(page, root, first)
    page.wait_for_function("() => !location.hash")
    page, root = visit(name, kind, fragment=fragment_of(kind, dict.fromkeys(first, "no such value")))
    assert state_of(root) == first and page.errors == []


@each_place
def test_the_numbers_are_those_of_the_package(visit, kind, name):
    known = KNOWN[kind]
    assert len(known.STATES) >= 10
    page, root = visit(name, kind)
    for state in states_at(root, kind):
        page.evaluate("hash => { location.hash = hash; }", fragment_of(kind, state))
        wait_for(page, root, state)
        shown, complete = values_of(root), state_of(root)
        at_page = [name] if name in getattr(known, "DATA", {}) else []
        for key, value in known.expected(complete, *at_page).items():
            allowed = known.TOLERANCE
            allowed = allowed.get(key) if isinstance(allowed, dict) else {"atol": allowed, "rtol": allowed}
            close = partial(np.testing.assert_allclose, **allowed) if allowed else np.testing.assert_array_equal
            numbers = np.asarray(value).dtype.kind in "fiub" and None not in np.ravel(shown[key]).tolist()
            compare = close if numbers else np.testing.assert_array_equal
            compare(shown[key], value, err_msg=f"{key} at {complete}")
    assert page.errors == []
