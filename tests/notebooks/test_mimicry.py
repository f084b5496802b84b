"""The chapter on mimicry with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "mimicry"
FAST = {"n_trials": 2, "n_steps": 20}


def test_it_mimics_another_teacher(run, recorded):
    shown = run(NAME, teacher_layers=1, teacher_width=5, n_trials=3, n_steps=20)
    (cell,) = [cell for cell in shown.cells if cell.id == "own-teacher"]
    assert "385" in cell.outputs[-1].data["text/plain"]  # 64·5 + 5 + 5·10 + 10 parameters, and as many of the student
    values = recorded(shown)
    assert len(values) == 11 and {name.split(".")[1] for name in values} == {"10"}
    assert values["S4.10.memorises"] == 1


def test_its_figures_are_drawn(drawn):
    drawn(NAME, **FAST)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("teacher_layers: found 0", {"teacher_layers": 0}),
        ("teacher_width: found 2.5", {"teacher_width": 2.5}),
        ("n_trials: found 1, expected a whole number of at least 2", {"n_trials": 1}),
        ("n_steps: found 0", {"n_steps": 0}),
        ("trials: not a parameter.*Did you mean 'n_trials'", {"trials": 2}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
