"""Two stacks stopped at a loss: runs of less than a hundred iterations are made again, and end where the page says."""

from functools import cache

import numpy as np

from capcore.optimum import Problem
from capcore.processes import PowerLaw
from chapters.hierarchical_errors import stopped_stacks
from chapters.stored import stored

PAGES = ["notebooks/hierarchical_errors"]
TOLERANCE = 2e-3  # the loss is stored to three digits; longer runs part with the processor's arithmetic
POINT = (0.3, 0.9)
STATES = [{"level": level, "method": method} for method in ("l-bfgs-b", "gauss-newton") for level in range(5)]


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
        most = next(each["iterations"] for each in stack["runs"][state["method"]] if each["loss"] <= 1.001 * level)
        found = made(order, state["method"], most)
        per_input = np.array(found["per_input"])
        far = per_input[-(per_input.size // 3) :].sum() / per_input.sum()
        assert found["loss"] <= 1.001 * level
        values |= {f"{order} {name}": found[name] for name in ("iterations", "loss", "excess", "total", "per_input")}
        values |= {f"{order} far": far, f"{order} reached": True}
    return values
