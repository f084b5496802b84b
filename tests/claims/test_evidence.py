import subprocess
import sys

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from pydantic import create_model

from chapters.claims import record
from chapters.claims.collection import collect
from chapters.claims.criteria import ClaimsError
from chapters.claims.registry import load
from chapters.kit.parameters import note_changes


def test_the_exact_values_survive_nbformat(registry_file, executed):
    value = 0.1 + 0.2
    evidence = record("P1.02", registry=registry_file, all_cases=np.int64(5), slope=np.float64(value), seconds=61.5)
    path = executed(registry_file.parent.parent / "notebooks" / "beta.ipynb", evidence)
    metadata = nbformat.read(path, as_version=4).cells[0].outputs[0].metadata
    assert metadata["capcore"]["values"] == {"all_cases": 5, "slope": value, "seconds": 61.5}
    assert collect([path], load(registry_file))["P1.02"].values["slope"] == value


def test_what_is_shown_hides_round_off_and_timings(registry_file):
    def shown(**values):
        return record("P1.01", registry=registry_file, **values)._repr_mimebundle_()[0]

    assert shown(gap=2e-16) == shown(gap=5e-15)
    assert "below 1e-10" in shown(gap=2e-16)["text/plain"]
    assert shown(gap=2e-9) != shown(gap=5e-15)
    assert "below 60" in str(record("P1.02", registry=registry_file, seconds=2.34567))
    assert "0.618" in str(record("P1.02", registry=registry_file, slope=0.61803))


def test_the_page_says_by_word_and_mark_what_holds(registry_file):
    page = BeautifulSoup(record("P1.01", registry=registry_file, gap=1e-3, count=48).html(), "html.parser")
    cells = [[cell.get_text() for cell in row.find_all("td")] for row in page.find_all("tr")][1:]
    assert [row[0] for row in cells] == ["|gap|The gap at n = 4.", "count (identity)How many."]
    assert [row[1:] for row in cells] == [["0.001", "≤ 1e-10", "✗ fails"], ["48", "= 48", "✓ passes"]]
    assert "The gap is zero & nothing else." in page.get_text()
    assert not page.find(style=True), "colours belong to the style sheet"


def test_each_cell_says_its_column_for_narrow_screens(registry_file):
    page = BeautifulSoup(record("P1.01", registry=registry_file, gap=1e-3, count=48).html(), "html.parser")
    heads = [cell.get_text() for cell in page.select("th")]
    for row in page.select("tbody tr"):
        assert [heads[0], *(cell.get("data-label") for cell in row.find_all("td")[1:])] == heads


def test_the_book_has_it_as_one_element_that_opens(registry_file):
    found = record("P1.01", registry=registry_file, gap=1e-15, count=48)
    (box,) = BeautifulSoup(found.folded_html(), "html.parser").find_all(recursive=False)
    assert box.name == "details" and box["id"] == found.claim.anchor and not box.find("details")
    verdict, sentence = box.summary.strong.get_text(), box.summary.select_one(".claim-sentence").get_text()
    assert box.summary.get_text() == f"{verdict} · P1.01. {found.claim.sentence}" and found.claim.sentence in sentence
    assert str(box.table) == str(BeautifulSoup(found.html(), "html.parser").table)
    later = BeautifulSoup(record("P1.01", registry=registry_file, count=48).folded_html(), "html.parser").details
    assert "id" not in later.attrs and "P1.01" in later.summary.get_text() and not later.select(".claim-sentence")


def test_the_verdict_and_its_sentence_come_before_the_checks(registry_file):
    found = record("P1.01", registry=registry_file, gap=0.0, count=48)
    page = BeautifulSoup(found.html(), "html.parser")
    assert page.strong.get_text() == "✓ holds" and page.find("table").find_parent("details") is not None
    assert page.p.get_text() == "✓ holds · P1.01 (paper 1, Property 1): The gap is zero."
    assert "nothing else" in page.details.p.get_text()
    assert str(found).splitlines()[:2] == ["✓ holds · P1.01 (paper 1, Property 1)", "  The gap is zero."]


def test_a_run_with_other_parameters_has_values_and_no_verdict(registry_file):
    declaration = create_model("Parameters", n=(int, 4), m=(int, 2))
    try:
        note_changes(declaration, {"n": 6, "m": 2})
        found = record("P1.01", registry=registry_file, gap=0.0)
        page = BeautifulSoup(found.html(), "html.parser")
        assert page.strong.get_text() == "other n than in the book: this run's values, without a verdict"
        assert page.details.has_attr("open") and "below 1e-10" in page.table.get_text()
        for word in ("holds", "passes", "The gap is zero."):
            assert word not in page.get_text() and word not in str(found)
    finally:
        note_changes(declaration, {"n": 4, "m": 2})
    assert "✓ holds" in str(record("P1.01", registry=registry_file, gap=0.0))


def test_a_check_that_fails_does_not_borrow_the_verdict(registry_file):
    page = BeautifulSoup(record("P1.01", registry=registry_file, gap=0.9).html(), "html.parser")
    assert page.strong.get_text() == "✓ holds at the book's parameters, not with those of this run"
    assert page.details.has_attr("open")


def test_a_counterexample_found_is_no_tick(registry_file):
    text = registry_file.read_text(encoding="utf-8").replace("role: claim", "role: counterexample", 1)
    registry_file.write_text(text, encoding="utf-8")
    page = BeautifulSoup(record("P1.01", registry=registry_file, gap=0.0).html(), "html.parser")
    assert page.select("tbody td")[-1].get_text() == "found"


@pytest.mark.parametrize(
    ("claim", "values", "message"),
    [
        ("P9.99", {"gap": 0}, "found no claim in claims.yml called 'P9.99'"),
        ("P1.01", {"gab": 0}, "Did you mean gap"),
        ("P1.01", {}, r"one keyword per check \(gap, count\)"),
        ("P2.01", {}, "none yet"),
        ("P1.01", {"gap": float("nan")}, "P1.01.gap: found nan, expected a finite number"),
        ("P1.01", {"gap": "small"}, "P1.01.gap: found 'small'"),
        ("P1.01", {"gap": True}, "P1.01.gap: found True, expected a number for the test '≤ 1e-10'"),
    ],
)
def test_refuses(registry_file, claim, values, message):
    with pytest.raises(ClaimsError, match=message):
        record(claim, registry=registry_file, **values)


def test_a_notebook_gets_the_evidence_and_one_hidden_output_per_value(registry_file):
    client = pytest.importorskip("nbclient")
    source = 'from chapters.claims import record\nrecord("P1.01", gap=3e-16, count=48)'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    folder = registry_file.parent.parent / "notebooks"
    client.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    *glued, shown = notebook.cells[0].outputs
    assert {out.metadata["scrapbook"]["name"]: out.data for out in glued} == {
        "P1.01.gap": {"application/papermill.record/text/plain": "below 1e-10"},
        "P1.01.count": {"application/papermill.record/text/plain": "48"},
    }
    assert set(shown.data) == {"text/plain", "text/html"}
    nbformat.validate(notebook)
    nbformat.write(notebook, folder / "alpha.ipynb")
    assert collect([folder / "alpha.ipynb"], load(registry_file))["P1.01"].verdict == "holds"


def test_importing_the_package_does_not_import_ipython_or_yaml():
    code = "import sys, capcore, chapters.claims; print([m for m in ('IPython', 'yaml') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
