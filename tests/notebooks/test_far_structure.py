"""The page on far structure: its words are those of the stored run, and it runs with other series and units."""

import re

import pytest

pytest.importorskip("jax")
pytest.importorskip("sklearn")
from chapters.far_structure import criteria, study
from chapters.shared.numbers import ends, signed
from tests.listings import cells
from tests.notebooks.conftest import said

NAME = "far_structure"


@pytest.mark.parametrize("parameters", [{"source": "volume of trade", "units": "linear"}, {"source": "AR(1)"}], ids=str)
def test_it_runs_with_other_parameters(run, parameters):
    text = said(run(**parameters))
    assert f"keep of the {parameters['source']}." in text
    now, before, among = map(
        float, re.search(r"now (\d.\d+), and stored (\d.\d+).*among them, (\d.\d+)\.", text).groups()
    )
    # single precision, and another order of sums, move a far error by much less than another seed does
    assert abs(now - before) <= 0.01 + max(among, 0.01) and "seeds agree with" in text


def test_the_first_sentence_is_the_answer():
    findings = study.Findings(*study.networks())
    title, limits = ("".join(each.source) for each in cells(NAME) if each.id in ("title", "end"))
    first = re.search(r"\*\*In one sentence\.\*\* (.*)", title).group(1)
    assert ends(findings.effect["nonlinear"], 2) in first
    assert f"over {len(study.networks()[0].names)} series; we had called {signed(criteria.WANTED, 1)} the" in first
    assert first.startswith(findings.answer.capitalize() + ":")
    assert f"5 % of which get below {signed(findings.chance)}" in limits
