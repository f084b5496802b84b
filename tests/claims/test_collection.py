import nbformat
import pytest

from chapters.claims import record
from chapters.claims.collection import collect, problems, write_verdicts
from chapters.claims.criteria import ClaimsError
from chapters.claims.registry import load


def test_values_of_several_cells_and_notebooks_come_together(notebooks, registry_file):
    collection = collect(notebooks, load(registry_file))
    assert [(finding.claim.id, finding.verdict) for finding in collection.values()] == [
        ("P1.01", "holds"),
        ("P1.02", "holds with a correction"),
        ("P2.01", "not attempted yet"),
    ]
    assert problems(collection) == []


def test_a_tampered_value_changes_the_verdict(notebooks, registry_file, tamper):
    tamper(notebooks[0], "count", 47)
    collection = collect(notebooks, load(registry_file))
    assert collection["P1.01"].verdict == "not found"
    assert ["P1.01: verdict is now 'not found'" in line for line in problems(collection)] == [True]


def test_lost_evidence_is_a_problem(notebooks, registry_file, executed):
    executed(notebooks[0], record("P1.01", registry=registry_file, gap=0.0))
    (line,) = problems(collect(notebooks, load(registry_file)))
    assert line.startswith("P1.01: no evidence for count in alpha.ipynb")
    assert len(problems(collect([], load(registry_file)))) == 2


def test_a_notebook_that_forgets_a_claim_is_a_problem(notebooks, registry_file, executed):
    write_verdicts(registry_file, {"P1.02": "not attempted yet"})
    executed(notebooks[1])
    (line,) = problems(collect(notebooks, load(registry_file)))
    assert line == "P1.02: beta.ipynb records none of its checks (all_cases, slope, seconds)."
    notebooks[1].unlink()
    assert problems(collect(notebooks[:1], load(registry_file))) == []


def test_the_same_value_twice_is_fine_but_not_two_values(notebooks, registry_file, executed):
    def alpha(*gaps):
        cells = [record("P1.01", registry=registry_file, gap=gap, count=48) for gap in gaps]
        return executed(notebooks[0], *cells)

    assert collect([alpha(1e-16, 1e-16)], load(registry_file))["P1.01"].verdict == "holds"
    with pytest.raises(ClaimsError, match=r"alpha.ipynb, cell 2: P1.01.gap is recorded twice"):
        collect([alpha(1e-16, 2e-16)], load(registry_file))


def test_all_problems_are_listed_at_once(notebooks, registry_file, executed):
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    elsewhere = record("P1.02", registry=registry_file, slope=1.0)
    executed(notebooks[0], error, elsewhere)
    notebooks[1].write_text("not json", encoding="utf-8")
    with pytest.raises(ClaimsError) as raised:
        collect(notebooks, load(registry_file))
    for message in (
        "alpha.ipynb, cell 1: has the error output ValueError: no",
        "alpha.ipynb, cell 2: P1.02 is recorded here, the registry expects it in beta.ipynb",
        "beta.ipynb: has the error output file that is no version 4 notebook",
    ):
        assert message in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: count", "name: number", "found no check of P1.01 called 'count'"),
        ("- id: P1.01", "- id: P1.07", "found no claim in claims.yml called 'P1.01'"),
        ("{equals: 48}", "{equals: 47}", "P1.01.count was judged by another test than '= 47'"),
    ],
)
def test_evidence_that_the_registry_does_not_know_is_refused(notebooks, registry_file, old, new, message):
    text = registry_file.read_text(encoding="utf-8")
    registry_file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ClaimsError, match=message):
        collect(notebooks, load(registry_file))


def test_writing_verdicts_keeps_everything_else(registry_file):
    before = registry_file.read_text(encoding="utf-8")
    assert write_verdicts(registry_file, {"P1.01": "false", "P2.01": "not attempted yet"}) == ["P1.01"]
    after = registry_file.read_text(encoding="utf-8")
    assert after == before.replace("verdict: holds  # kept", 'verdict: "false"  # kept')
    assert load(registry_file)["P1.01"].verdict == "false"


def test_writing_to_an_unknown_row_changes_nothing(registry_file):
    before = registry_file.read_text(encoding="utf-8")
    with pytest.raises(ClaimsError, match=r"for P9\.99"):
        write_verdicts(registry_file, {"P1.01": "false", "P9.99": "false"})
    assert registry_file.read_text(encoding="utf-8") == before
