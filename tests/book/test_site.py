"""The built site: complete, self-contained, with links that lead somewhere and figures that are described."""

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup

from tests.book.test_pages import entries

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.site
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
NAMED = entries(yaml.safe_load((ROOT / "_toc.yml").read_text()))
NOTEBOOKS = [name for name in NAMED if name.startswith("notebooks/")]


@cache
def soup(path):
    return BeautifulSoup(path.read_text("utf8"), "html.parser")


@cache
def anchors(path):
    return {tag["id"] for tag in soup(path).find_all(id=True)} | {
        tag["name"] for tag in soup(path).find_all(attrs={"name": True})
    }


@pytest.fixture(scope="module")
def pages(site):
    """All HTML pages, those of the theme's own templates aside."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def test_every_page_is_there(site):
    assert [name for name in NAMED if not (site / f"{name}.html").is_file()] == []
    assert "book/index.html" in (site / "index.html").read_text()


def test_every_module_has_a_reference_page(site):
    internal = {"capcore.cli", "capcore.validation"}
    text = "".join(path.read_text("utf8") for path in (site / "book" / "api").rglob("*.html"))
    for path in (ROOT / "capcore").rglob("*.py"):
        module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        if module in internal or module == "capcore" or module.startswith(("capcore.plotting.", "capcore.claims.")):
            continue
        assert f'id="module-{module}"' in text, f"{module}: on no page of the package reference"


def is_elsewhere(url):
    return bool(urlsplit(url).netloc)


def test_pages_load_nothing_from_elsewhere(pages):
    loading = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
    for path in pages:
        urls = [
            tag[attribute]
            for name, attribute in loading.items()
            for tag in soup(path).find_all(name, **{attribute: True})
        ]
        urls += [
            tag["href"] for tag in soup(path).find_all("link") if set(tag["rel"]) - {"canonical", "author", "license"}
        ]
        assert [url for url in urls if is_elsewhere(url)] == [], path
        for script in soup(path).find_all("script", src=False):
            assert not re.search(r"(import|fetch|src\s*=|_URL)[^;]{0,20}https?://", script.get_text()), path


def test_styles_load_nothing_from_elsewhere(site):
    for path in site.rglob("*.css"):
        found = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", path.read_text("utf8"))
        assert found == [], path


def test_links_lead_somewhere(site, pages):
    missing = []
    for path in pages:
        for tag in soup(path).find_all("a", href=True):
            url, fragment = urldefrag(tag["href"])
            if is_elsewhere(url) or urlsplit(url).scheme:
                continue
            target = (path.parent / unquote(url)).resolve() if url else path
            if not target.exists() or (
                fragment and target.suffix == ".html" and unquote(fragment) not in anchors(target)
            ):
                missing.append(f"{path.relative_to(site)}: {tag['href']}")
    assert missing == []


def test_images_exist_and_are_described(site, pages):
    for path in pages:
        for image in soup(path).find_all("img"):
            assert image.get("alt", "").strip(), f"{path.relative_to(site)}: {image}"
            if not image["src"].startswith("data:"):
                assert (path.parent / unquote(image["src"])).resolve().is_file(), image["src"]


def test_figures_are_numbered_and_captioned(site):
    for name in NOTEBOOKS:
        article = soup(site / f"{name}.html").find("article")
        for image in article.select(".cell_output img"):
            figure = image.find_parent("figure")
            assert figure is not None, f"{name}: an image without a caption"
            assert figure.select_one(".caption-number").get_text(strip=True).startswith("Fig.")
            assert len(figure.select_one(".caption-text").get_text().split()) >= 4
            assert len(image["alt"].split()) >= 5, f"{name}: {image['alt']!r} describes little"


def test_figures_are_cited(site):
    for name in NOTEBOOKS:
        article = soup(site / f"{name}.html").find("article")
        for figure in article.select(".cell_output figure[id]"):
            cited = [p for p in NAMED if soup(site / f"{p}.html").select(f'article p a[href$="#{figure["id"]}"]')]
            assert cited, f"{name}: {figure['id']} is never cited"


def test_landing_page_shows_a_figure_and_values_of_this_build(site):
    article = soup(site / "book/index.html").find("article")
    assert article.select_one("figure img") is not None
    assert len(article.select_one("figcaption").get_text().split()) > 5
    assert article.select(".pasted-text")


def test_values_were_filled_in(pages):
    for path in pages:
        text = soup(path).find("article").get_text() if soup(path).find("article") else ""
        for sign in ("{glue", "{numref}", "{cite", "{{", "np.float64(", "SLOT"):
            prose = "".join(p.get_text() for p in soup(path).select("article p, article figcaption, article td"))
            assert sign not in prose, f"{path}: {sign} in {text[:40]!r}"


def test_notebooks_are_offered_as_executed(site):
    for name in NOTEBOOKS:
        offered = json.loads((site / "_sources" / f"{name}.ipynb").read_text("utf8"))
        code = [cell for cell in offered["cells"] if cell["cell_type"] == "code"]
        assert all(cell["execution_count"] for cell in code)
        links = [a["href"] for a in soup(site / f"{name}.html").find_all("a", href=True)]
        assert any(link.endswith(f"_sources/{name}.ipynb") for link in links)


def test_buttons_lead_to_the_repository(site):
    owner = REPOSITORY.removeprefix("https://github.com/")
    for name in NOTEBOOKS:
        links = " ".join(a["href"] for a in soup(site / f"{name}.html").find_all("a", href=True))
        for expected in (
            f"https://mybinder.org/v2/gh/{owner}/main?urlpath=lab/tree/{name}.ipynb",
            f"https://colab.research.google.com/github/{owner}/blob/main/{name}.ipynb",
            f"{REPOSITORY}/edit/main/{name}.ipynb",
        ):
            assert expected in links
    assert REPOSITORY in [a["href"] for a in soup(site / "book/index.html").find_all("a", href=True)]


def test_pages_name_no_place_on_this_machine(pages):
    for path in pages:
        assert str(ROOT) not in path.read_text("utf8"), path


def test_mathematics_comes_from_the_site_itself(site):
    script = soup(site / "book/conventions.html").find("script", src=re.compile("mathjax"))
    assert (site / "book" / script["src"].split("?")[0]).resolve() == site / "_static/mathjax/tex-chtml.js"
