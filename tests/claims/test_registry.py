import re
from pathlib import Path

import pytest

from chapters.claims.criteria import ClaimsError
from chapters.claims.registry import load

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT.parent / "shared" / "CLAIMS.md"
LATER = {f"P1.{n:02}" for n in (*range(28, 36), *range(40, 46), 51, 52)}


def spelled(prefix, last, without=(), extra=()):
    return [f"{prefix}.{n:02}" for n in range(1, last + 1) if n not in without] + [f"{prefix}.{x}" for x in extra]


ADDED = {"P1.51", "P1.52", "P1.53", "P3.11"}  # statements of the papers that the list of the sources' claims leaves out
IDS = {
    *ADDED,
    *spelled("P1", 50),
    *spelled("P2", 19),
    *spelled("P3", 10, without=[7], extra=["07a", "07b", "07c", "07d"]),
    *spelled("S4", 10),
    *spelled("N2", 2),
}


@pytest.fixture(scope="module")
def registry():
    return load(ROOT / "book" / "claims.yml")


def test_ids_are_complete(registry):
    assert {claim.id for claim in registry} == IDS
    assert len(registry) == len(IDS) == 98


@pytest.mark.skipif(not SOURCES.is_file(), reason="needs ../shared/CLAIMS.md, which is absent")
def test_ids_and_kinds_are_those_of_the_list(registry):
    kinds = {"E": "exact", "S": "statistical", "Q": "qualitative"}
    rows = re.findall(r"^\| ([PSN]\d\.\d+[a-d]?) \|[^|]*\| ([ESQ]) \|", SOURCES.read_text(encoding="utf-8"), re.M)
    listed = {claim.id: claim.kind for claim in registry if claim.id not in ADDED}
    assert listed == {name: kinds[kind] for name, kind in rows}


def test_the_forms_that_the_sentences_have_are_all_used(registry):
    used = {claim.form for claim in registry} | {check.form for claim in registry for check in claim.checks}
    assert {form.name for form in registry.forms} == used - {None}


def test_where_the_source_leaves_the_threshold_open_none_of_ours_decides(registry):
    assert all(claim.verdict != "not found" for claim in registry if claim.open)
    assert all(claim.open or claim.declared for claim in registry if claim.verdict == "undecided")


def test_every_row_reads_as_a_sentence_and_names_its_place(registry):
    for claim in registry:
        assert claim.claim.rstrip('"”)').endswith("."), claim.id
        assert re.match(r"(paper [123], |slides, |note$)", claim.source), claim.id
        for check in claim.checks:
            assert check.statement.endswith("."), f"{claim.id}.{check.name}"
            assert check.why.endswith("."), f"{claim.id}.{check.name}"
            assert len(check.quantity) <= 70, f"{claim.id}.{check.name}: too long for a table"


def test_the_first_chapters_are_preregistered(registry):
    first = [claim for claim in registry if claim.id.startswith("P1") and claim.id not in LATER]
    chapters = ("linear_systems", "gaussian_prediction", "hierarchical")
    assert all(claim.notebook and claim.notebook.startswith(chapters) for claim in first)
    assert all(claim.checks for claim in first)


def test_finds_the_registry_above_the_working_directory_or_beside_the_package(registry_file, tmp_path, monkeypatch):
    monkeypatch.chdir(registry_file.parent.parent / "notebooks")
    assert load().path.samefile(registry_file)
    registry_file.unlink()
    assert load().path == ROOT / "book" / "claims.yml"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ClaimsError, match="found no file"):
        load(tmp_path / "absent.yml")


def test_unknown_names_get_close_matches(registry_file):
    rows = load(registry_file)
    with pytest.raises(ClaimsError, match=r"found no claim in claims.yml called 'P1.2'\. Did you mean P1.02"):
        rows["P1.2"]
    with pytest.raises(ClaimsError, match=r"found no check of P1.01 called 'gpa'. Did you mean gap"):
        rows["P1.01"].check("gpa")
    with pytest.raises(ClaimsError, match=r"It has: gap, count"):
        rows["P1.01"].check("zzz")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: exact", "kind: exakt", "claims.yml, claims, P1.01, kind: found exakt: .*'exact', 'statistical' or"),
        ("  verdict: holds  # kept", "  verdict: fine", "P1.01, verdict: found fine"),
        ("{at_most: 1.0e-10}", "{at_most: 1e-10}", "gap, test: .*test at_most: found '1e-10'.*write 1.0e-10"),
        ("{at_most: 1.0e-10}", "{under: 1}", "P1.01, checks, gap, test: .*test: found 'under'"),
        ("    correction: \"power law\"\n    quantity: \"slope\"", "    quantity: \"slope\"",
         "slope: .*key correction"),
        ("    why: \"Round-off.\"\n", "", "gap, why: .*required"),
        ("    why: \"Round-off.\"\n", "    why: \"x\"\n    colour: red\n", "gap, colour: found red: .*not permitted"),
        ("name: count", "name: gap", "two checks share a name"),
        ("name: count", "name: no-name", "expected a Python identifier"),
        ("- id: P1.02", "- id: P1.01", "P1.01: found more than once"),
        ("notebook: alpha", "notebook: null", "P1.01: .*expected the notebook that computes them"),
        ("role: claim\n    quantity: \"cases\"", "role: question\n    quantity: \"cases\"",
         "expected a claim or a counterexample among its checks, or the key declared"),
        ("checks: []\n  verdict: not attempted yet", "checks: []\n  verdict: not found", "'not found' without checks"),
        ("verdict: not attempted yet", "verdict: not attempted yet\n  declared: holds", "declared: found holds"),
        ("  sentence: \"The gap is zero.\"\n", "", "P1.01: .*has a verdict, expected the key sentence"),
        ("  form: law\n", "  form: lore\n", "found no form, as P1.01 has it called 'lore'. It has: law, trend"),
        ("test: {equals: 5}", "test: {at_least: 4}",
         "P1.02.all_cases: found the test '≥ 4', expected that of the form 'trend', ≥ 0.25 or equals"),
        ("- name: trend", "- name: law", "form law: found a second criterion, expected one for each form"),
        ("tests: [{at_least: 0.25}, equals]", "tests: [{about: 1}]", "forms, trend, tests, .*found 'about'"),
        ("forms:\n", "norms:\n", "claims.yml, norms: .*not permitted"),
        ("    why: \"Exact.\"\n", "    why: \"Exact.\"\n    form: lore\n", "form, as P1.01.count has it"),
        ("  first_edition: refuted", "  open: \"the process\"\n  declared: undecided", "found declared and open"),
        ("claims:\n", "rows:\n", "claims.yml, rows: .*not permitted"),
        ("claims:\n", "claims: [\n", "no valid YAML"),
    ],
)  # fmt: skip
def test_a_malformed_row_is_named(registry_file, old, new, message):
    text = registry_file.read_text(encoding="utf-8")
    assert old in text
    registry_file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ClaimsError, match=f"(?s){message}"):
        load(registry_file)
