"""The comparison with searches: quickly, and what is stored of it made again in part."""

import numpy as np
import pytest

from capcore.designs.bonds import bond_table
from chapters.design_certificate import design_search as experiment
from chapters.design_certificate.processes import named
from chapters.design_certificate.stacks import size as n_params
from chapters.kit.stored import stored

CONTENT = stored("design_search")
VALUES, SETTINGS = CONTENT["values"], CONTENT["settings"]


def test_a_quick_run_has_what_the_page_reads():
    quick = experiment.SETTINGS | experiment.QUICK
    (found,) = experiment.run(quick).values()
    assert list(found) == ["power law, exponent 0.5", "music-like"]
    for process in found.values():
        assert process["below"] == 0 and max(process["spent"].values()) <= process["fits"]
        (cell,) = process["cells"].values()
        assert cell["proven"] <= cell["bound"] * (1 + 1e-9) <= cell["design"] * (1 + 2e-9)
        assert len(cell["random"]) == len(quick["seeds"])


@pytest.mark.parametrize(
    "size", [pytest.param(each, marks=pytest.mark.slow if each == "128" else pytest.mark.ci) for each in VALUES]
)
def test_the_stored_cells_are_those_of_the_criterion(size):
    assert SETTINGS == experiment.SETTINGS and len(VALUES[size]) == 7 and len(SETTINGS["seeds"]) == 5
    cells = [cell for process in VALUES[size].values() for cell in process["cells"].values()]
    assert len(cells) == 21
    for name, process in VALUES[size].items():
        table = bond_table(named()[name], int(size), proven=False)
        assert process["fits"] == 3 * table.n_fits + SETTINGS["tried"] >= max(process["spent"].values())
        for budget, cell in process["cells"].items():
            kernels, channels = cell["stack"]
            assert n_params((tuple(kernels), tuple(channels))) <= int(budget) and np.prod(kernels) == int(size)
            lowest = min(cell["design"], *(loss for each in SETTINGS["searches"] for loss in cell[each]))
            assert cell["bound"] <= lowest + 1e-9 and cell["proven"] <= cell["bound"] + 1e-12
