"""Missed events: states, and what the package computes for them."""

from capcore import Hierarchical, PowerLaw, allocate, fit
from chapters.idea.study import refitted

PAGES = ["book/index", "notebooks/idea", "notebooks/hierarchical"]
POINT = (0.3, 0.8)
TOLERANCE = {name: {"atol": 2e-4} for name in ("capacity", "missed", "cost")}  # four decimals
STATES = [
    {"lag": 32},
    {"lag": 20},
    {"lag": 8},
    {"lag": 0},
    {"lag": 63},
    {"channels": 2},
    {"channels": 2, "lag": 32},
    {"channels": 3, "lag": 45},
    {"channels": 4, "lag": 20},
    {"channels": 5, "lag": 60},
    {"channels": 8, "lag": 31},
]


def expected(state):
    """From the package's own fit before the event, and a refit with it."""
    stack, process = Hierarchical(state["channels"], 6), PowerLaw()
    before = fit(stack, process)
    found = allocate(stack, before, process)
    values = {"n_params": stack.n_params, "total": found.total, "capacity": found.per_input, "missed": found.missed}
    return values | {"cost": refitted(stack, before, process, state["lag"], 0.1)}
