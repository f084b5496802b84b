"""The built site: complete, self-contained, with links that lead somewhere and figures that are described."""

import json
import re
from functools import cache
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from lxml import html

from scripts.contents import main_line
from tests.book.test_pages import entries
from tests.listings import ROOT

pytestmark = pytest.mark.site
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
NAMED = entries(yaml.safe_load((ROOT / "_toc.yml").read_text()))
NOTEBOOKS = [name for name in NAMED if name.startswith("notebooks/")]


@cache
def parsed(path):
    return html.fromstring(path.read_bytes())


def found(path, selector, attribute):
    """The values of an attribute, over what a CSS selector finds on a page."""
    return [tag.get(attribute, "") for tag in parsed(path).cssselect(selector)]


def article(path):
    return next(iter(parsed(path).cssselect("article")), None)


@cache
def anchors(path):
    return set(parsed(path).xpath("//@id")) | set(parsed(path).xpath("//@name"))


@pytest.fixture(scope="module")
def pages(site):
    """All HTML pages, those of the theme's own templates aside."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def test_every_page_is_there(site):
    assert [name for name in NAMED if not (site / f"{name}.html").is_file()] == []
    assert "book/index.html" in (site / "index.html").read_text()


def test_the_contents_at_the_side_of_the_main_line_are_short(site):
    for name in main_line():
        entries_in_sight = parsed(site / f"{name}.html").xpath(
            "//nav[contains(@class, 'bd-links')]//li[not(ancestor::details[not(@open)])]"
        )
        assert 17 < len(entries_in_sight) <= 25, name


def test_next_and_previous_follow_the_main_line_and_details_lead_back_to_their_chapter(site):
    def leads(name):
        links = parsed(site / f"{name}.html").cssselect(".prev-next-area a")
        return [(site / f"{name}.html").parent.joinpath(link.get("href")).resolve() for link in links]

    led = [(site / f"{name}.html").resolve() for name in main_line()]
    assert [leads(name)[-1] for name in list(main_line())[:-1]] == led[1:]
    assert [leads(name)[0] for name in list(main_line())[1:]] == led[:-1]
    assert leads("notebooks/far_structure") == [(site / "notebooks/design_certificate.html").resolve()]


def test_no_two_figures_have_one_number(site):
    """Those of a chapter and its details have the chapter's, those of the pages behind the chapters a letter."""
    numbers = {}
    for name in NOTEBOOKS:
        for shown in parsed(site / f"{name}.html").cssselect("article figure .caption-number"):
            numbers.setdefault(shown.text_content().strip(), []).append(name)
    assert {number: names for number, names in numbers.items() if len(names) > 1} == {}
    plain = {name for number, names in numbers.items() if re.fullmatch(r"Fig\. \d+", number) for name in names}
    assert plain == {"notebooks/idea", "notebooks/events"}


def test_summaries_of_the_reference_are_whole_sentences(site):
    summaries = [
        cell.text_content() for cell in parsed(site / "book" / "api" / "index.html").cssselect(".autosummary p")
    ]
    assert summaries and [text for text in summaries if re.search(r"\b(Eqs?|Fig)\.$", text.strip())] == []


def test_every_module_has_a_reference_page(site):
    text = "".join(path.read_text("utf8") for path in (site / "book" / "api").rglob("*.html"))
    for path in (ROOT / "capcore").rglob("*.py"):
        module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        if module in {"capcore", "capcore.__main__", "capcore.commands.cli", "capcore.commands.working_folder"}:
            continue
        assert f'id="module-{module}"' in text, f"{module}: on no page of the package reference"


def is_elsewhere(url):
    return bool(urlsplit(url).netloc)


def test_pages_load_nothing_from_elsewhere(pages):
    loading = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
    for path in pages:
        urls = [url for name, attribute in loading.items() for url in found(path, name, attribute)]
        urls += [
            tag.get("href")
            for tag in parsed(path).cssselect("link")
            if set(tag.get("rel").split()) - {"canonical", "author", "license"}
        ]
        assert [url for url in urls if is_elsewhere(url)] == [], path
        for script in parsed(path).cssselect("script:not([src])"):
            assert not re.search(r"(import|fetch|src\s*=|_URL)[^;]{0,20}https?://", script.text_content()), path


def test_styles_load_nothing_from_elsewhere(site):
    for path in site.rglob("*.css"):
        elsewhere = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", path.read_text("utf8"))
        assert elsewhere == [], path


def test_links_lead_somewhere(site, pages):
    missing = []
    for path in pages:
        for link in filter(None, found(path, "a[href]", "href")):
            url, fragment = urldefrag(link)
            if is_elsewhere(url) or urlsplit(url).scheme:
                continue
            target = (path.parent / unquote(url)).resolve() if url else path
            if not target.exists() or (
                fragment and target.suffix == ".html" and unquote(fragment) not in anchors(target)
            ):
                missing.append(f"{path.relative_to(site)}: {link}")
    assert missing == []


def test_images_exist_and_are_described(site, pages):
    for path in pages:
        for image in parsed(path).cssselect("img"):
            assert image.get("alt", "").strip(), f"{path.relative_to(site)}: {image.get('src')}"
            if not image.get("src").startswith("data:"):
                assert (path.parent / unquote(image.get("src"))).resolve().is_file(), image.get("src")


def test_figures_are_numbered_and_captioned(site):
    for name in NOTEBOOKS:
        for figure in parsed(site / f"{name}.html").cssselect("article .cell_output figure[id]"):
            assert figure.cssselect("figcaption strong"), f"{name}: {figure.get('id')}"
        for image in article(site / f"{name}.html").cssselect(".cell_output img"):
            figure = next(image.iterancestors("figure"), None)
            assert figure is not None, f"{name}: an image without a caption"
            assert figure.cssselect(".caption-number")[0].text_content().strip().startswith("Fig.")
            assert len(figure.cssselect(".caption-text")[0].text_content().split()) >= 4
            assert len(image.get("alt").split()) >= 5, f"{name}: {image.get('alt')!r} describes little"


def test_landing_page_shows_a_figure_and_values_of_this_build(site):
    landing = article(site / "book/index.html")
    assert landing.cssselect("figure img")
    assert len(landing.cssselect("figcaption")[0].text_content().split()) > 5
    assert landing.cssselect(".pasted-text")


def test_values_were_filled_in(pages):
    for path in pages:
        tags = parsed(path).cssselect("article p, article figcaption, article td")
        prose = "".join(tag.text_content() for tag in tags)
        for sign in ("{glue", "{numref}", "{cite", "{{", "np.float64(", "SLOT"):
            assert sign not in prose, f"{path}: {sign}"


def test_notebooks_are_offered_as_executed(site):
    for name in NOTEBOOKS:
        offered = json.loads((site / "_sources" / f"{name}.ipynb").read_text("utf8"))
        code = [cell for cell in offered["cells"] if cell["cell_type"] == "code"]
        assert all(cell["execution_count"] for cell in code)
        links = found(site / f"{name}.html", "a[href]", "href")
        assert any(link.endswith(f"_sources/{name}.ipynb") for link in links)


@pytest.mark.skipif(not REPOSITORY, reason="there is no repository for buttons to lead to")
def test_buttons_lead_to_the_repository(site):
    owner = REPOSITORY.removeprefix("https://github.com/")
    for name in NOTEBOOKS:
        links = " ".join(found(site / f"{name}.html", "a[href]", "href"))
        for expected in (
            f"https://mybinder.org/v2/gh/{owner}/main?urlpath=lab/tree/{name}.ipynb",
            f"https://colab.research.google.com/github/{owner}/blob/main/{name}.ipynb",
            f"{REPOSITORY}/edit/main/{name}.ipynb",
        ):
            assert expected in links
    assert REPOSITORY in found(site / "book/index.html", "a[href]", "href")


def test_pages_name_no_place_on_this_machine(pages):
    for path in pages:
        assert str(ROOT) not in path.read_text("utf8"), path
