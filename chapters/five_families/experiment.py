"""What the main line says of five processes at one setting each, asked again over their parameters, depths and seeds.

One model at its optimum is one run of a sweep. ``python -m chapters run five_families`` makes it again, in minutes.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from capcore.architectures import Hierarchical, Recurrent
from capcore.processes import FAMILIES
from chapters.gaussian_prediction.experiment import plain
from chapters.hierarchical_errors.study import PredictionErrors
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.layers import LayerProfiles
from chapters.shared.profiles import distant, mean_lag, roughness, share
from chapters.shared.survey import Case, case
from chapters.shared.swept import values_of

SETTINGS: dict[str, Any] = {
    "families": {
        "PowerLaw": {"exponent": [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0]},
        "FractionalGaussianNoise": {"hurst": [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]},
        "AR1": {"phi": [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99]},
        "DampedCosine": {"period": [4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0]},
        "RationalQuadratic": {"scale": [0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]},
    },
    "n_layers": [3, 4, 5, 6],
    "channels": [1, 2, 4],
    "seeds": {"Hierarchical": [0, 1, 2, 3, 4], "Recurrent": [0, 1, 2, 3, 4]},
}
QUICK: dict[str, Any] = {
    "families": {"PowerLaw": {"exponent": [0.5]}, "AR1": {"phi": [0.9]}},
    "n_layers": [3],
    "channels": [1, 2],
    "seeds": {"Hierarchical": [0], "Recurrent": [0]},
}
WITNESS = Witness(["families n_layers channels seeds"], **CHAOTIC)
COLUMNS = (
    "loss", "total", "generic", "recent", "mean_lag", "rough_inputs", "rough_eigenvectors",
    "lower_layers", "upper_layers", "short_lags", "attained", "converged",
)  # fmt: skip
DIGITS = {"loss": 9, "mean_lag": 6}
"""Significant digits that are kept, where not four: starts are compared by their losses, live models by mean lags."""
LONGEST = 1000
"""Iterations of a fit. From random starts, variable projection often needs more than its usual 100."""


def one_model(
    architecture: str = "Hierarchical",
    process: str = "PowerLaw",
    parameter: str = "exponent",
    value: float = 0.5,
    n_layers: int = 6,
    channels: int = 2,
    seed: int = 0,
) -> dict[str, Any]:
    """What is asked of one model at the optimum that a random start leads to: see ``COLUMNS``.

    The usual starts know the target (its tensor train, its matrix pencil), so their optima say nothing of other starts.

    n_layers : layers of two taps each; a recurrent model has as many inputs as such a stack.
    seed : of the random parameters at which the fit begins.
    """
    arch = Hierarchical(channels, n_layers, 2) if architecture == "Hierarchical" else Recurrent(2**n_layers, channels)
    fitted = case(arch, FAMILIES[process](**{parameter: value}), rng=seed, start="random", max_iterations=LONGEST)
    profile = fitted.allocation.per_input
    layers = LayerProfiles.of(fitted.allocation).chain_shares() if architecture == "Hierarchical" else {}
    values = {
        "loss": fitted.fit.loss,
        "total": fitted.allocation.total,
        "generic": fitted.allocation.generic_total,
        "recent": 1 - float(share(profile, distant(len(profile)))),
        "mean_lag": float(mean_lag(profile)),
        "rough_inputs": roughness(profile),
        "rough_eigenvectors": roughness(fitted.allocation.per_eigenvector),
        "lower_layers": layers.get("forward_short"),
        "upper_layers": layers.get("backward_long"),
        "short_lags": _of_short_lags(fitted),
        "attained": int(fitted.attained),
        "converged": int(fitted.fit.converged),
    }
    return {name: plain(value, DIGITS.get(name, 4)) for name, value in values.items()}


def _of_short_lags(optimum: Case) -> float | None:
    """Error of the autocorrelation at short lags over that at long ones; None without an error, or if unstable."""
    try:
        return None if optimum.attained else PredictionErrors.of(optimum).short_long_ratio()
    except ValueError:
        return None


def settings_of(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings of all models."""
    for architecture, seeds in settings["seeds"].items():
        for process, rule in settings["families"].items():
            ((parameter, values),) = rule.items()
            names = ("value", "n_layers", "channels", "seed")
            for chosen in product(values, settings["n_layers"], settings["channels"], seeds):
                fixed = {"architecture": architecture, "process": process, "parameter": parameter}
                yield fixed | dict(zip(names, chosen, strict=True))


def run(settings: dict[str, Any], sweep: Callable, progress: bool = False, workers: int = 1) -> dict[str, Any]:
    """Column → its values over all models, in the order of :func:`settings_of`; ``sweep`` is that of the engine."""
    rows = values_of(one_model, list(settings_of(settings)), sweep, progress=progress, workers=workers)
    return {name: plain([row[name] for row in rows], 17) for name in COLUMNS}  # None for a table's NaN
