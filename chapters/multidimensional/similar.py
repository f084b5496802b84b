"""Components with similar autocorrelations, as paper 1 has them in section 6.1: the experiment on a narrow range.

The exponents are spread over 0.56 … 0.64, so that the autocorrelations of two components differ by 0.05 at most, at
every lag. The range was fixed before any capacity was computed.

``python -m chapters run similar_components`` makes it again, in about three minutes on one core.
"""

from dataclasses import replace
from typing import Any

from chapters.multidimensional import experiment

SETTINGS: dict[str, Any] = {
    **experiment.SETTINGS,
    "channels": {"PowerLaw": {"1": experiment.PAPER["1"], "4": [2, 4, 8], "16": [1, 2, 4, 8, 16]}},
    "ranges": {"PowerLaw": ["exponent", 0.56, 0.64]},
    "random_starts": {},
}
QUICK: dict[str, Any] = {"channels": {"PowerLaw": {"1": [2], "4": [2]}}, "n_layers": 3}
WITNESS = replace(experiment.WITNESS, fixed={})


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, dict[str, Any]]:
    """The optima, as ``experiment.run`` returns them."""
    return experiment.run(settings, progress)
