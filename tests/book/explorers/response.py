"""The response of 64 trained coefficients: what the page shows of the stored result, computed again."""

from functools import cache

from capcore import Hierarchical, PowerLaw
from chapters.gaussian_prediction.response import answers
from chapters.shared.survey import case

PAGES = ["notebooks/gaussian_prediction"]
TOLERANCE = 1e-4  # the moves are stored to four decimals
POINT = (0.3, 0.2)
STATES = [
    *({"lag": lag, "model": "1 channel"} for lag in (0, 8, 31, 63)),
    *({"lag": lag, "model": "2 channels"} for lag in (1, 16, 40)),
    *({"lag": lag, "model": "4 channels"} for lag in (12, 35, 62)),
]


@cache
def answer(label):
    trained = case(Hierarchical(int(label[0]), n_layers=6), PowerLaw())
    return trained.allocation.total, answers(Hierarchical(int(label[0]), n_layers=6), trained)


def expected(state):
    total, found = answer(state["model"])
    lag, bounds = state["lag"], found.bounds
    return {
        "total": total,
        "capacities": found.capacities,
        "squares": found.squares,
        "column": found.matrix[:, lag],
        "own": found.matrix[lag, lag],
        "capacity": found.capacities[lag],
        "square": found.squares[lag],
        "low": bounds[0] * found.capacities[lag],
        "high": bounds[1] * found.capacities[lag],
    }
