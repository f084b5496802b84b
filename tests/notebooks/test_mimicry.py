"""The chapter on mimicry with other parameters."""

FAST = {"n_trials": 2, "n_steps": 20}
DRAWN = FAST


def test_it_mimics_another_teacher(run, recorded):
    shown = run(teacher_layers=1, teacher_width=5, n_trials=3, n_steps=20)
    (cell,) = [cell for cell in shown.cells if cell.id == "own-teacher"]
    assert "385" in cell.outputs[-1].data["text/plain"]  # 64·5 + 5 + 5·10 + 10 parameters, and as many of the student
    values = recorded(shown)
    assert len(values) == 11 and {name.split(".")[1] for name in values} == {"10"}
    assert values["S4.10.memorises"] == 1
