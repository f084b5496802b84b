"""The chapter on early stopping with another process."""

from tests.notebooks.conftest import said

VARIANTS = {"another process": {"process": "RationalQuadratic", "process_parameters": {"scale": 2.0}}}


def test_it_runs_with_another_process(run, parameters):
    text = said(run(**parameters))
    assert "rational quadratic" in text and "power law" not in text
    assert "| 30 | 1 |" in text and "| 100 | 2 |" in text
