"""Regions along training: states, and the polygons into which the package cuts the plane."""

import numpy as np

from chapters.kit.stored import stored
from chapters.linear_regions import plane

PAGES = ["notebooks/linear_regions"]
POINT = (0.8, 0.85)
TOLERANCE = 1e-9
STATES = [{"step": 0}, {"step": 1}]
STATES += [{"step": step, "measure": measure} for step, measure in ((4, "linear"), (7, "circle"), (10, "test"))]
STATES += [{"labels": "shuffled", "step": step} for step in (0, 2, 5)]
STATES += [{"labels": "shuffled", "step": 9, "measure": "train"}, {"labels": "shuffled", "step": 11}]


def expected(state):
    """Number, areas and boundaries of the polygons of the same network."""
    values = stored("plane_networks")["values"]
    of_kind = values["kinds"][state["labels"]]
    found = plane.cut(plane.unpacked(of_kind["networks"][state["step"]]), values["half"])
    return {
        "polygons": found.n_patterns,
        "areas": np.sort(found.areas),
        "boundary": found.boundary_length,
        **{name: of_kind[name][state["step"]] for name in plane.MEASURES},
    }
