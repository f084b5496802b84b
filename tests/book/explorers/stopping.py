"""Two stacks stopped at a loss: runs of up to a hundred iterations are made again, and end where the page says."""

from functools import cache

import numpy as np

from capcore.processes import PowerLaw
from capcore.processes.problem import Problem
from chapters.hierarchical_errors import stopped_stacks
from chapters.kit.stored import stored

PAGES = ["notebooks/hierarchical_errors"]
TOLERANCE = 2e-3  # the loss is stored to three digits; longer runs part with the processor's arithmetic
POINT = (0.3, 0.9)
STATES = [
    {"level": level, "method": method} for method in ("l-bfgs-b", "gauss-newton") for level in (0, 1, 2, 3, 4, 20)
]
LONG = 100


@cache
def made(order, method, most):
    stack = stopped_stacks.stacks()[order]
    problem = Problem.of(stack, PowerLaw())
    found = stopped_stacks.stop(stack, problem, stopped_stacks.SETTINGS, method, most)
    return stopped_stacks.look(stack, problem, found)


def expected(state):
    content = stored("stopped_stacks")["values"]
    level, values = content["levels"][state["level"]], {}
    for order, stack in content["stacks"].items():
        run = stack["runs"][state["method"]]
        reached = run[-1]["loss"] <= 1.001 * level
        stop = next(each for each in run if each["loss"] <= 1.001 * level) if reached else run[-1]
        found = made(order, state["method"], stop["iterations"]) if stop["iterations"] <= LONG else stop
        per_input = np.array(found["per_input"])
        far = per_input[-(per_input.size // 3) :].sum() / per_input.sum()
        values |= {f"{order} {name}": found[name] for name in ("iterations", "loss", "excess", "total", "per_input")}
        values |= {f"{order} far": far, f"{order} reached": reached}
    return values
