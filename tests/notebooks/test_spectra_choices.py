"""The chapter on choices with other parameters."""

VARIANTS = {"pooled": {"column": "α, pooled"}, "weighted": {"column": "α̂", "power": 0.5}}
DRAWN = {}


def test_it_runs_with_other_parameters(run, parameters):
    text = str(run(**parameters))
    assert f"For {parameters['column']}, ρ is" in text and f"{100 * parameters.get('power', 0.8):.0f} %" in text
