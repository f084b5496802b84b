"""The experiment behind the chapter on effective complexity: 40 networks along training, and 100 in a factorial.

``python -m chapters run effective_complexity`` makes it again, in about a minute on one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity import Network
from chapters.effective_complexity import complexity_factors as factors
from chapters.effective_complexity import study
from chapters.effective_complexity.curve_activations import tangent_network
from chapters.stored import stored

SETTINGS: dict[str, Any] = {
    "n_images": 600,
    "activations": ["relu", "tanh"],
    "width": 64,
    "learning_rate": 0.002,
    "n_epochs": 100,
    "snapshots": [0, 1, 3, 10, 30, 100],
    "seeds": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "error": 0.1,
    "factorial_seeds": 5,
    "equal_loss": 0.05,
    "tolerances": [0.3, 0.03],
    "literal_tolerance": 0.1,
}
QUICK: dict[str, Any] = {
    "n_images": 60,
    "width": 8,
    "n_epochs": 1,
    "snapshots": [0, 1],
    "seeds": [0],
    "factorial_seeds": 1,
    "equal_loss": 10.0,
}
PACKAGES = ("numpy", "scipy", "scikit-learn")


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """All numbers of the experiment, as plain lists; see :class:`Stored` for what they are."""
    data = study.images(settings["n_images"])
    along = {}
    for activation in tqdm(settings["activations"], unit="activation", disable=not progress):
        along[activation] = study.along_training(
            data,
            settings["seeds"],
            settings["snapshots"],
            activation,
            settings["width"],
            settings["learning_rate"],
            settings["n_epochs"],
            settings["error"],
        )
    n_seeds, error = settings["factorial_seeds"], settings["error"]
    after, before, networks = factors.run_factorial(data, n_seeds, settings["n_epochs"], error)
    return plain(
        {
            "along": along,
            "after": after.values,
            "before": before.values,
            "equal_loss": factors.at_equal_loss(data, 2 * n_seeds, settings["equal_loss"], error=error),
            "tolerances": tolerances(networks["tanh 64"], data, settings["tolerances"], settings["literal_tolerance"]),
        }
    )


def tolerances(
    networks: list[Network], data: study.Images, relative: list[float], literal: float
) -> dict[str, list[float]]:
    """Curve complexities of networks: at tolerances relative to the logits' deviation, and at one taken literally.

    "literal" is at ``literal`` units of the logits, "rescaled" the same after multiplying the logits by ten.
    """
    found: dict[str, list[float]] = {name: [] for name in (*map(str, relative), "literal", "rescaled")}
    for net in networks:
        spread = float(net(data.x).std())
        for share in relative:
            found[str(share)].append(tangent_network(net, data.x, share * spread).complexity)
        found["literal"].append(tangent_network(net, data.x, literal).complexity)
        top = (*net.weights[:-1], 10 * net.weights[-1]), (*net.biases[:-1], 10 * net.biases[-1])
        found["rescaled"].append(tangent_network(Network(*top, net.activation), data.x, literal).complexity)
    return found


class Stored:
    """The stored experiment, as arrays.

    Attributes
    ----------
    settings : what it was made with.
    along : activation → labels → measure → (n_snapshots, n_seeds).
    after, before : the factorial after and before training.
    equal_loss : measure → (2, n_seeds), logarithms at equal training loss for both learning rates.
    tolerances : curve complexities (20,) of tanh networks by tolerance.
    """

    def __init__(self) -> None:
        content = stored("effective_complexity")
        values = content["values"]
        self.settings: dict[str, Any] = content["settings"]
        self.along = {
            activation: {kind: _arrays(table) for kind, table in kinds.items()}
            for activation, kinds in values["along"].items()
        }
        self.after, self.before = (factors.Factorial(_arrays(values[name])) for name in ("after", "before"))
        self.equal_loss, self.tolerances = _arrays(values["equal_loss"]), _arrays(values["tolerances"])

    def final(self, name: str, labels: str = "right", activation: str = "relu") -> np.ndarray:
        """(n_seeds,) a measure at the last snapshot."""
        return self.along[activation][labels][name][-1]


def plain(values: Any) -> Any:
    """Arrays as nested lists, numbers with seven digits."""
    if isinstance(values, Mapping):
        return {name: plain(value) for name, value in values.items()}
    if isinstance(values, list | tuple | np.ndarray):
        return [plain(value) for value in values]
    return float(f"{float(values):.7g}")


def _arrays(table: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in table.items()}
