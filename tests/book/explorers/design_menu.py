"""What can be ordered: the stack that is shown is fitted again, and its loss, capacity and share are the page's."""

from functools import cache

import numpy as np

import capcore as cc
from capcore.large.fit import fit_large
from chapters.design_certificate import design_menu
from chapters.design_certificate.figures import front
from chapters.kit.stored import stored
from chapters.shared.named_processes import named

PAGES = ["notebooks/design_certificate"]
TOLERANCE = {"chosen": {"rtol": 2e-3}}  # four digits are stored; a loss near the rounding of v* has as many elsewhere
POINT = (0.5, 0.5)
STATES = [
    {},
    {"share": 0},
    {"budget": 32},
    {"budget": 32, "share": 30},
    {"budget": 40, "share": 45},
    {"process": "two seasons"},
    {"process": "two seasons", "budget": 32, "share": 40},
    {"process": "two seasons", "budget": 96, "share": 60},
    {"process": "music-like", "share": 35},
    {"process": "music-like", "budget": 96, "share": 5},
    {"process": "music-like", "budget": 24, "share": 0},
]


@cache
def made(name, kernels, channels):
    """(loss over v*, capacity, share) of a stack at its optimum."""
    settings, process = design_menu.SETTINGS, named()[name]
    arch = cc.Hierarchical(list(channels), kernel_size=list(kernels))
    found = fit_large(arch, process, max_iterations=settings["max_iterations"])
    alloc = cc.allocate(arch, found.params, process, method="dense")
    half = settings["n_inputs"] // 2
    return found.loss / (found.variance - found.loss), alloc.total, alloc.per_input[half:].sum() / alloc.total


def expected(state):
    menu = stored("design_menu")["values"][state["process"]]
    within = [each for each in menu["stacks"] if each["parameters"] <= state["budget"]]
    reached = [bound for size, bound in menu["wall"] if size <= state["budget"]]
    best = design_menu.ordered(menu, state["budget"], state["share"] / 100)
    chosen = []
    if best:
        loss, capacity, share = made(state["process"], tuple(best["kernels"]), tuple(best["channels"]))
        chosen = [best["parameters"], capacity, loss, share, best["bound"]]
    return {
        "chosen": chosen,
        "most": max(each["share"] for each in within),
        "least": reached[-1] if reached else np.inf,
        "front": [loss for _, loss in front(menu, state["budget"])],
    }
