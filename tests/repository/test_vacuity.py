"""The search for vacuous checks finds those that could not fail, and no honest one beside them."""

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_notebook

from chapters.claims.registry import load
from chapters.five_families import experiment
from chapters.kit.running import sweep_here
from chapters.shared import survey
from scripts import changes, vacuity

pytestmark = pytest.mark.ci

CELLS = [
    new_code_cell("seed: int = 0  # of the start", metadata={"tags": ["parameters"]}),
    new_code_cell(
        "import capcore as cc\nfrom chapters import claims\nfrom chapters.kit.start import start\n"
        "stacks = [cc.Hierarchical(c, 4) for c in (1, 2, 4, 8)]"
    ),
    new_code_cell(
        "optima = [cc.fit(stack, cc.PowerLaw()) for stack in stacks]\n"
        "attained = [c for c, found in zip((1, 2, 4, 8), optima) if found.loss < 1e-20]\n"
        "claims.record('T.1', transition=attained[0])"
    ),
    new_code_cell(
        "starts = [cc.fit(stacks[2], cc.PowerLaw(), start='random', rng=seed + i).n_iterations for i in range(5)]\n"
        "claims.record('T.2', iterations=max(starts))"
    ),
    new_code_cell(
        "from chapters.scaling_pdes.relations import counts, degree\n"
        "if degree([0, 1, 2, 3, 4, 5, 6, 7]) != 1:\n    raise ValueError('a fault that is refused')\n"
        "claims.record('T.3', pixels=counts(L=10)[1])"
    ),
]


def test_a_check_that_begins_at_the_optimum_is_found(tmp_path, monkeypatch):
    """The check of P1.17 in the first edition, "channels at the transition, Gauss–Newton", beside two honest ones.

    One of these is reached only where the fault that is refused before it is spared.
    """
    path = tmp_path / "toy.ipynb"
    nbformat.write(new_notebook(cells=CELLS), path)
    monkeypatch.setattr(vacuity, "NOTEBOOKS", tmp_path)
    jobs = [(str(path.with_suffix("")), change) for change in changes.CHANGES]
    found = dict(zip(changes.CHANGES, vacuity.apart(jobs, 2), strict=True))
    assert {name: set(values) for name, values in found.items()} == {
        each: {"T.1.transition", "T.2.iterations", "T.3.pixels"} for each in changes.CHANGES
    }
    assert found["none"]["T.1.transition"] == 4
    assert vacuity.unmoved(found, {}) == {"T.1.transition": "nothing"}


def test_starts_that_are_all_one_are_found(monkeypatch):
    """The five families began at the tensor train of the target, whatever the seed."""

    def columns():
        settings = experiment.SETTINGS | experiment.QUICK | {"families": {"PowerLaw": {"exponent": [0.5]}}}
        return vacuity.columns_of_seeds(lambda each: experiment.run(each, sweep_here), settings)

    from capcore.fitting import optimum, variable_projection

    replaced = [(optimum, f"minimise_{name}") for name in ("gauss_newton", "lbfgs", "poles")]
    for module, name in (*replaced, (variable_projection, "minimise_poles")):
        monkeypatch.setattr(module, name, getattr(module, name))  # put back what the script replaces
    changes.stop_early()
    assert columns()["loss"]

    def case(*args, **options):
        return survey.case(*args, **{**options, "start": "auto"})

    monkeypatch.setattr(experiment, "case", case)
    assert not columns()["loss"]


def test_what_was_judged_is_in_the_registry():
    known = {f"{row.id}.{check.name}": check.identity for row in load() for check in row.checks}
    judged = yaml.safe_load(vacuity.JUDGED.read_text("utf8"))
    assert {name for name in judged if ": " not in name} <= set(known)
    assert all(known[name] for name, reason in judged.items() if reason.startswith("identity"))
    cannot_fail = ("P1.28.parameters", "P1.32.similar_same_parameters", "P2.04.traversed_exponent", "P2.13.uniform_gap")
    assert all(known[name] for name in cannot_fail)
    assert all(isinstance(reason, str) and reason for reason in judged.values())
