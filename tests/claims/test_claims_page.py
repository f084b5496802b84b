"""The claims page of a small book, built as the real one is: warnings are errors."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

pytest.importorskip("jupyter_book")
BOOK = Path(__file__).resolve().parents[2] / "book"

CONFIG = """\
title: Small
only_build_toc_files: true
execute: {execute_notebooks: force}
sphinx:
  local_extensions: {claims_table: book/_ext/}
  config: {nb_execution_raise_on_error: true}
"""
TOC = """\
format: jb-book
root: book/claims
chapters:
- file: book/other
- file: notebooks/alpha
- file: notebooks/beta
"""
CLAIMS = """\
# Claims

```{claims-summary}
```

```{claims-settings}
```

```{claims-forms}
```

```{claims-table}
```
"""
OTHER = """\
# Other

Gap {glue:text}`../notebooks/alpha.ipynb::P1.01.gap:s`, count {glue:text}`../notebooks/alpha.ipynb::P1.01.count:d`,
slope {glue:text}`../notebooks/beta.ipynb::P1.02.slope:.2f`; see {claim}`P1.02`.
"""
CELLS = {
    "alpha": ['record("P1.01", gap=2e-16)', 'record("P1.01", count=48)'],
    "beta": ['record("P1.02", all_cases=3, slope=0.61803, seconds=2.5)'],
}


@pytest.fixture
def book(registry_file):
    root = registry_file.parent.parent
    text = registry_file.read_text(encoding="utf-8")
    registry_file.write_text(text.replace("The gap is zero", "The gap in 𝒦^⊥ is zero"), encoding="utf-8")
    shutil.copytree(BOOK / "_ext", root / "book" / "_ext", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(BOOK / "_static", root / "book" / "_static")
    files = {"_config.yml": CONFIG, "_toc.yml": TOC, "book/claims.md": CLAIMS, "book/other.md": OTHER}
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    for name, sources in CELLS.items():
        write_notebook(root / "notebooks" / f"{name}.ipynb", name, sources)
    return root


def write_notebook(path, title, sources):
    cells = [nbformat.v4.new_markdown_cell(f"# {title.title()}")]
    cells += [nbformat.v4.new_code_cell(s) for s in ["from chapters.claims import record", *sources]]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


def build(root):
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(root), "-W", "-n", "--keep-going"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=root)
    return result.returncode, re.sub(r"\x1b\[[0-9;]*m", "", result.stdout + result.stderr)


def page(root, name):
    return BeautifulSoup((root / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8"), "html.parser").article


@pytest.mark.slow
def test_the_page_shows_this_builds_numbers_and_guards_the_verdicts(book):
    status, log = build(book)
    assert status == 0, log
    claims, other, alpha = page(book, "book/claims"), page(book, "book/other"), page(book, "notebooks/alpha")
    row = claims.find(id="p1-01")
    assert "2e-16 (≤ 1e-10)" in row.get_text()
    assert "✓ holds" in row.get_text()
    assert row.find("a", string="Alpha")["href"] == "../notebooks/alpha.html#claim-p1-01"
    assert {"source-P1", "verdict-holds", "chapter-alpha"} <= set(row["class"]), "for the filter"
    assert alpha.find(id="claim-p1-01") is not None
    assert len(alpha.select(".cell_output .output")) == 2, "the glued values show nothing of their own"
    assert "count: 48 (= 48) [identity]" in row.get_text()
    second = claims.find(id="p1-02").get_text()
    assert "[correction: power law]" in second and "The slope is positive for the power law." in second
    assert "The source leaves open: its bound." in second
    assert "First edition: refuted; The setting was ours." in row.details.get_text()
    assert "of kind exact" in row.details.get_text() and row.td.p.get_text().startswith("The gap in")
    assert "Third edition: false → holds: no reason." in row.details.get_text()
    assert "trend: The sign, in all five cases." in [item.get_text(strip=True) for item in claims.select("li")]
    assert "⊥" in [tag.get_text() for tag in row.find_all("sup")]
    heads = [cell.get_text(strip=True) for cell in claims.select(".claims-summary th")]
    total = claims.select(".claims-summary tr")[-1].find_all("td")
    assert [cell.select_one(".claims-label").extract().get_text() for cell in total] == heads, "for narrow screens"
    assert [cell.get_text(strip=True) for cell in total] == ["all", "1", "1", "1", "3"]
    assert "Gap below 1e-10, count 48" in other.get_text()
    assert "slope 0.62; see P1.02" in other.get_text()
    assert other.find("a", string="P1.02")["href"] == "claims.html#p1-02"
    assert (book / "_build" / "html" / "_static" / "claims.css").is_file()

    # Another number in a notebook: the page follows although its own source did not change, and the build objects.
    write_notebook(book / "notebooks" / "alpha.ipynb", "alpha", ['record("P1.01", gap=2e-16, count=47)'])
    status, log = build(book)
    assert status != 0
    assert "claims: P1.01 is 'not found' in this build, 'holds' in claims.yml" in log
    assert "count: 47 (= 48)" in page(book, "book/claims").find(id="p1-01").get_text()


@pytest.mark.slow
def test_an_unknown_claim_or_conflicting_evidence_breaks_the_build(book):
    (book / "book" / "other.md").write_text("# Other\n\nSee {claim}`P1.2`.\n", encoding="utf-8")
    sources = ['record("P1.01", gap=2e-16, count=48)', 'record("P1.01", gap=3e-16)']
    write_notebook(book / "notebooks" / "alpha.ipynb", "alpha", sources)
    status, log = build(book)
    assert status != 0
    assert "Did you mean P1.02" in log
    assert "P1.01.gap is recorded twice" in log
