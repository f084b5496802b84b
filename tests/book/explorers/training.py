"""Capacity along training: what the page shows of the stored result, grouped again; one start computed anew."""

import numpy as np

from chapters.trained_capacity.directions import bands
from chapters.trained_capacity.study import explored

PAGES = ["notebooks/trained_capacity"]
TOLERANCE = 1e-9  # the numbers of the page themselves; what they are worth is tested with the experiment
POINT = (0.65, 0.8)  # within the curves at either width
STATES = [
    {"at": 0},
    {"at": 5},
    {"at": 12, "map": "modes", "labels": "shuffled labels"},
    {"at": 12, "map": "whitened modes"},
    {"at": 20, "map": "whitened modes", "labels": "shuffled labels"},
    {"at": 3, "map": "pixels"},
    {"at": 9, "map": "pixels", "labels": "shuffled labels"},
    {"at": 22, "map": "pixels"},
    {"at": 17},
    {"at": 1, "map": "whitened modes"},
]


def expected(state):
    data = explored()
    kind = data["labels"][state["labels"]]
    cells = np.array(kind["maps"][state["map"]][state["at"]])
    inner = np.zeros((8, 8), bool)
    inner[2:6, 2:6] = True
    which = inner.ravel().astype(int) if state["map"] == "pixels" else bands()
    return {
        "cells": cells,
        "means": [cells[which == each].mean() for each in range(which.max() + 1)],
        "error": kind["error"][state["at"]],
        "step": data["steps"][state["at"]],
    }
