"""Two inputs and one parameter: the optimum, its constraint space, and what follows a target that moves."""

from typing import Any, NamedTuple

import numpy as np

import capcore as cc


class LineModel(NamedTuple):
    """A(w) = w d for inputs of variance 1: trained, and trained again for other targets.

    Attributes
    ----------
    direction : (2,) d, not zero. target : (2,) the best coefficients A*. correlation : between the inputs, in (−1, 1).
    """

    direction: np.ndarray
    target: np.ndarray
    correlation: float

    @property
    def covariance(self) -> np.ndarray:
        """(2, 2) Σ of the inputs."""
        return np.array([[1.0, self.correlation], [self.correlation, 1.0]])

    @property
    def space(self) -> cc.ConstraintSpace:
        """The line 𝒦 spanned by Σ d."""
        return cc.ConstraintSpace.from_columns((self.covariance @ self.direction)[:, None])

    def trained(self, target: np.ndarray | None = None) -> np.ndarray:
        """(2,) coefficients where (A − A*)ᵀ Σ (A − A*) is least, for another target if one is given."""
        normal = self.covariance @ self.direction
        return (self.target if target is None else target) @ normal / (self.direction @ normal) * self.direction

    def moved(self, step: np.ndarray) -> np.ndarray:
        """(2,) how the trained coefficients move when the target moves by ``step``."""
        return self.trained(self.target + step) - self.trained()


def line_model(direction: object, target: object, correlation: float) -> LineModel:
    """The model of the chapter.

    >>> line_model([2, 1], [1, 3], 0.0).trained().tolist()
    [2.0, 1.0]
    """
    return LineModel(np.asarray(direction, float), np.asarray(target, float), float(correlation))


def to_explore(model: LineModel) -> dict[str, Any]:
    """What the explorer of the first picture starts from, of plain types: ``book/_static/explorer/moved-target.js``.

    >>> to_explore(line_model([2, 1], [1, 3], 0.0))["models"][0]["powers"]
    [[0.0, 2.0], [0.0, 1.0]]
    """
    return {
        "target": model.target.tolist(),
        "correlation": model.correlation,
        "models": [
            {"name": "all (2w, w)", "powers": [[0.0, power] for power in model.direction.tolist()], "use": [-3, 3]}
        ],
        "inputs": ["input 1", "input 2"],
        "far": 1.2,
        "box": [[-1.5, 4.5], [-0.3, 5.3]],
    }


def refitted(stack: cc.Hierarchical, fit: cc.Fit, process: Any, lag: int, size: float) -> float:
    """What an event in the target costs a stack that is fitted again from a fit without it, in units of its size."""
    covariance, (target, least) = process.covariance(stack.n_inputs), process.predictor(stack.n_inputs)
    event = np.sqrt(size * least / covariance[0, 0]) * np.eye(stack.n_inputs)[lag]
    tasks = [cc.FromCovariance(covariance, target=target + sign * event) for sign in (1, -1)]
    losses = [cc.fit(stack, task, start=fit.params, method="gauss-newton").loss for task in tasks]
    return float(np.mean(losses) - fit.loss) / (size * least)
