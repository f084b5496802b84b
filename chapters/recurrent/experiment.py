"""Where L-BFGS-B, the paper's optimiser, stops on recurrent models: over seeds, sizes and process families.

The weights of a recurrent model are ill-conditioned functions of its coefficients, and L-BFGS-B stops long before the
optimum from a few channels on. One run per size, as in Figure 10 of paper 1, is one draw of where.

``python -m chapters run recurrent_lbfgs`` makes it again, in under a minute on one core.
"""

from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from capcore import Problem, Recurrent
from capcore.fitting.optimum import fit
from capcore.processes import FAMILIES, Process
from chapters.kit.witness import CHAOTIC, Witness

SETTINGS: dict[str, Any] = {
    "n_inputs": 64,
    "channels": [1, 2, 4, 8, 16, 32, 64, 128, 256],
    "seeds": list(range(10)),
    "max_iterations": 2000,
    "ftol": 1e-12,
    "families": list(FAMILIES),
}
QUICK: dict[str, Any] = {"n_inputs": 8, "channels": [1, 16], "seeds": [0], "max_iterations": 5}
WITNESS = Witness(["families channels seeds"], **CHAOTIC)


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """The long experiment, in plain types: family → :func:`stops`."""
    families = tqdm(settings["families"], desc="families", disable=not progress)
    return {name: stops(FAMILIES[name](), settings) for name in families}


def stops(process: Process, settings: Mapping[str, Any] = SETTINGS) -> dict[str, dict[str, list[Any]]]:
    """Where L-BFGS-B stops for one process: ``losses`` and ``params``, each channels → one per seed.

    ``params`` (n_params,) are kept for up to 8 channels, for the profiles of Figure 11. Settings that are not given are
    those of ``SETTINGS``.

    >>> values = stops(FAMILIES["AR1"](), {"n_inputs": 4, "channels": [1], "seeds": [0, 1], "max_iterations": 5})
    >>> len(values["losses"]["1"]), len(values["params"]["1"][0])
    (2, 3)
    """
    settings = {**SETTINGS, **settings}
    options = {"max_iterations": settings["max_iterations"], "ftol": settings["ftol"]}
    values: dict[str, dict[str, list[Any]]] = {"losses": {}, "params": {}}
    for c in settings["channels"]:
        arch = Recurrent(settings["n_inputs"], c)
        problem = Problem.of(arch, process)
        fits = [fit(arch, problem, rng=seed, method="l-bfgs-b", **options) for seed in settings["seeds"]]
        values["losses"][str(c)] = [fitted.loss for fitted in fits]
        if c <= 8:
            values["params"][str(c)] = [fitted.params.tolist() for fitted in fits]
    return values
