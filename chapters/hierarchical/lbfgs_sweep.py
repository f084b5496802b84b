"""Where L-BFGS-B, the paper's optimiser, stops: over seeds, over sizes, and one rounding error apart.

Its path on this problem is chaotic: for few channels two starts that differ in the last digit stop at losses that
differ by a tenth or more. So one run per size, as in Figure 4 of paper 1, is one draw; this long experiment shows how
wide the distribution is, and fits the model with millions of parameters.

``python -m chapters run lbfgs_sweep`` makes it again, in about five minutes on one core.
"""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from capcore.architectures import Hierarchical, Linear
from capcore.fitting.optimum import FitResult, fit
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters.hierarchical.study import Sweep, sweep
from chapters.kit.witness import CHAOTIC, Witness

SETTINGS: dict[str, Any] = {
    "n_layers": 6,
    "kernel_size": 2,
    "channels": [1, 2, 4, 8, 16, 32, 64, 128, 256],
    "seeds": list(range(10)),
    "max_iterations": 2000,
    "ftol": 1e-12,
    "nudged_channels": [2, 4, 8, 16, 32, 64],
    "n_nudges": 9,
    "families": list(FAMILIES),
    "family_channels": [8, 64],
    "family_max_iterations": 500,
    "large_channels": 512,
    "large_max_iterations": 100,
}
QUICK: dict[str, Any] = {
    "n_layers": 4,
    "channels": [1, 2],
    "seeds": [0],
    "max_iterations": 5,
    "nudged_channels": [2],
    "family_channels": [1, 2],
    "large_channels": 4,
}
WITNESS = Witness(
    ["channels seeds", "nudged_channels", "families seeds"],
    fixed={"large_max_iterations": 2},
    volatile=["seconds"],
    **CHAOTIC,
)


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """The long experiment, in plain types.

    Returns
    -------
    ``losses`` : channels → one value per seed, power law. ``benchmark`` : loss of the fully connected model per seed.
    ``speedup`` : :func:`speedup` of the two ``family_channels`` per seed. ``nudged`` : channels → losses of the first
    seed's start multiplied by 1 + kε, k = 0, 1, …. ``families`` : family → channels → losses per seed. ``large`` :
    :func:`large_runs` for the first seed.
    """
    process, seeds, first = PowerLaw(), settings["seeds"], SETTINGS["seeds"][0]
    stopped = {"max_iterations": settings["max_iterations"], "ftol": settings["ftol"]}
    n_inputs = settings["kernel_size"] ** settings["n_layers"]
    values: dict[str, Any] = {"losses": {}, "nudged": {}, "families": {}}
    values["benchmark"] = [_fit(Linear(np.eye(n_inputs)), process, seed, **stopped).loss for seed in seeds]
    fits: dict[int, list[FitResult]] = {}
    for c in tqdm(settings["channels"], desc="sizes", disable=not progress):
        arch = _model(c, settings)
        fits[c] = [_fit(arch, process, seed, **stopped) for seed in seeds]
        values["losses"][str(c)] = [fitted.loss for fitted in fits[c]]
    narrow, wide = (fits.get(c, []) for c in settings["family_channels"])
    values["speedup"] = [speedup(*pair) for pair in zip(narrow, wide, strict=False)]
    for c in tqdm(settings["nudged_channels"], desc="nudges", disable=not progress):
        arch, eps = _model(c, settings), np.finfo(float).eps
        start = arch.init(np.random.default_rng(first))
        nudged = [start * (1 + k * eps) for k in range(settings["n_nudges"])]
        values["nudged"][str(c)] = [_fit(arch, process, first, start=one, **stopped).loss for one in nudged]
    brief = {"max_iterations": settings["family_max_iterations"], "ftol": settings["ftol"]}
    for family in tqdm(settings["families"], desc="families", disable=not progress):
        values["families"][family] = {
            str(c): [_fit(_model(c, settings), FAMILIES[family](), seed, **brief).loss for seed in seeds]
            for c in settings["family_channels"]
        }
    if first in seeds:
        values["large"] = large_runs(_model(settings["large_channels"], settings), process, first, settings)
    return values


def iterations_to(history: object, loss: float) -> int:
    """Iterations until the loss was at most ``loss``; one more than were made if it never was.

    >>> iterations_to([4.0, 2.0, 1.0], 2.5), iterations_to([4.0, 2.0, 1.0], 0.5)
    (1, 3)
    """
    losses = np.asarray(history)
    reached = np.flatnonzero(losses <= loss)
    return int(reached[0]) if reached.size else losses.size


def speedup(narrow: FitResult, wide: FitResult) -> float:
    """Iterations of the narrow model's fit, divided by those the wide one's took to get to the same loss."""
    return narrow.n_iterations / max(iterations_to(wide.history, narrow.loss), 1)


def large_runs(arch: Hierarchical, process: Process, seed: int, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """L-BFGS-B from a random start, and the default fit: method → parameters, v*, losses by iteration, seconds."""
    limits = {"max_iterations": settings["large_max_iterations"], "ftol": settings["ftol"]}
    values = {}
    for method, options in {"l-bfgs-b": {"method": "l-bfgs-b", **limits}, "gauss-newton": {}}.items():
        begun = time.perf_counter()
        fitted = fit(arch, process, rng=seed, **options)
        values[method] = {
            "n_params": arch.n_params,
            "variance": fitted.variance - fitted.loss,
            "history": fitted.history.tolist(),
            "seconds": time.perf_counter() - begun,
        }
    return values


def _model(channels: int, settings: dict[str, Any]) -> Hierarchical:
    return Hierarchical(channels, settings["n_layers"], settings["kernel_size"])


def _fit(arch: Hierarchical | Linear, process: Process, seed: int, **options: Any) -> FitResult:
    return fit(arch, process, rng=seed, method="l-bfgs-b", **options)


def describes(settings: dict[str, Any], arch: Hierarchical, process: Process, channels: int | None = None) -> bool:
    """Whether stored results with these settings are of this process and of models with these layers.

    With ``channels``, the model must also have that many in every hidden layer.

    >>> describes({"n_layers": 6, "kernel_size": 2}, Hierarchical(4, 6), PowerLaw(0.5))
    True
    """
    same = arch.kernel_sizes == settings["n_layers"] * [settings["kernel_size"]] and arch.has_disjoint_supports
    return same and process == PowerLaw() and (channels is None or set(arch.channels) == {channels})


class RegisteredStops(NamedTuple):
    """Where L-BFGS-B stops, as the claims judge it.

    Attributes
    ----------
    loss : (m,) final loss of each model. benchmark : that of the fully connected model.
    speedup : see ``speedup``. tenfold : for each family, whether 64 channels end at a loss at least ten times lower
        than 8.
    """

    loss: np.ndarray
    benchmark: float
    speedup: float
    tenfold: list[bool]


def registered_stops(
    content: dict[str, Any],
    live: Sweep,
    benchmark: float,
    pair: Mapping[str, Hierarchical],
    process: Process,
    seed: int = 0,
    **options: Any,
) -> RegisteredStops:
    """The stored stopping points where they are of these models, process and seed, otherwise those made now.

    Parameters
    ----------
    content : ``stored("lbfgs_sweep")``. live, benchmark : the stopping points made now.
    pair : the two models, narrow and wide, that are compared. options : of L-BFGS-B.
    """
    settings, values = content["settings"], content["values"]
    models = list(live.models.values())
    same = (
        len(models) == len(settings["channels"])
        and all(describes(settings, arch, process, c) for arch, c in zip(models, settings["channels"], strict=True))
        and seed in settings["seeds"]
        and options["max_iterations"] == settings["max_iterations"]
    )
    if same:
        k = settings["seeds"].index(seed)
        races = [[losses[str(c)][k] for c in settings["family_channels"]] for losses in values["families"].values()]
        loss = np.array([losses[k] for losses in values["losses"].values()])
        benchmark, ratio = values["benchmark"][k], values["speedup"][k]
    else:
        brief = {**options, "max_iterations": min(settings["family_max_iterations"], options["max_iterations"])}
        races = [sweep(pair, family(), seed=seed, **brief).loss.tolist() for family in FAMILIES.values()]
        loss, ratio = live.loss, speedup(*sweep(pair, process, seed=seed, **options).fits.values())
    return RegisteredStops(loss, benchmark, ratio, [narrow >= 10 * wide for narrow, wide in races])


def registered_large_runs(content: dict[str, Any], arch: Hierarchical, process: Process, seed: int) -> dict[str, Any]:
    """The large model by both methods: stored runs where they are of this model, process and seed, else new ones.

    ``content`` is ``stored("lbfgs_sweep")``; returns what :func:`large_runs` does.
    """
    settings = content["settings"]
    if describes(settings, arch, process, settings["large_channels"]) and seed == settings["seeds"][0]:
        return content["values"]["large"]
    return large_runs(arch, process, seed, settings)
