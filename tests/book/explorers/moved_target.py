"""The target in the plane of two inputs: the browser's optimum beside that of ``capcore.fit`` from several starts."""

from functools import cache

import numpy as np

from capcore import Linear, PowerLaw, allocate, fit
from capcore.processes.problem import Problem
from chapters.idea.study import line_model, to_explore
from chapters.linear_systems.study import ExponentialSmoothing, error_curve, plane_to_explore

PAGES = ["notebooks/linear_systems", "notebooks/idea"]
TOLERANCE = 1e-6
POINT = (0.4, 0.3)
STATES = [
    {"first": 0.0, "second": 0.0},
    {"first": 0.5, "second": 0.0},
    {"first": -0.4, "second": 0.0},
    {"first": 0.0, "second": 0.7},
    {"first": 0.0, "second": -0.7},  # across 𝒦, and far enough for another optimum
    {"first": 0.3, "second": -0.3, "correlation": 0.0},
    {"first": 0.6, "second": 0.2, "ways": "inputs", "correlation": -0.8},
    {"first": -0.7, "second": -0.7, "ways": "inputs"},
    {"first": 0.2, "second": 0.5, "model": 1},
    {"first": 0.0, "second": -0.6, "model": 1, "ways": "inputs", "correlation": 0.9},
]
LINE = (Linear(np.array([[2.0], [1.0]])), [0.5])
MODELS = {
    "notebooks/linear_systems": [(ExponentialSmoothing(2), np.linspace(-2, 3, 11)), LINE],
    "notebooks/idea": [LINE],
}
DATA = {
    "notebooks/linear_systems": cache(lambda: plane_to_explore(error_curve(PowerLaw()))),
    "notebooks/idea": cache(lambda: to_explore(line_model([2, 1], [1, 3], 0.0))),
}


def trained(arch, starts, target, correlation):
    """The best of the fits, and its constraint space as a unit vector that points to the right."""
    covariance = np.array([[1.0, correlation], [correlation, 1.0]])
    problem = Problem(np.array(target), covariance, np.linalg.cholesky(covariance).T, 1.0)
    found = min((fit(arch, problem, start=np.array([w])) for w in starts), key=lambda each: each.loss)
    space = allocate(arch, found.params, problem).space
    return found, space, space.basis[:, 0] * np.sign(space.basis[0, 0])


def expected(state, page):
    target, model = DATA[page]()["target"], MODELS[page][state["model"]]
    before, _, k = trained(*model, target, state["correlation"])
    across = np.array([-k[1], k[0]])
    axes = [k, across] if state["ways"] == "space" else np.eye(2)
    step = state["first"] * axes[0] + state["second"] * axes[1]
    after, space, _ = trained(*model, target + step, state["correlation"])
    return {
        "target": target + step,
        "model": after.coefficients,
        "parameter": after.params[0],
        "loss": after.loss,
        "capacities": space.per_input(),
        "along": step @ k,
        "across": step @ across,
        "response": np.linalg.norm(after.coefficients - before.coefficients),
    }
