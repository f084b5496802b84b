"""The long experiment behind Figure 6: L-BFGS-B from many random starts, stopped after more and more iterations.

``python -m chapters run lbfgs_stopping`` makes it again, in about five minutes on one core; ``study`` reads it.
"""

from functools import partial
from typing import Any

from tqdm import tqdm

from capcore.architectures.hierarchical import Hierarchical
from capcore.processes import FAMILIES, PowerLaw
from chapters.gaussian_prediction.experiment import plain
from chapters.hierarchical_errors.runs import many_runs
from chapters.kit.witness import CHAOTIC, Witness

SETTINGS: dict[str, Any] = {
    "channels": 4,
    "n_layers": 6,
    "kernel_size": 2,
    "seed": 0,
    "ftol": 1e-12,
    "stops": [100, 300, 1000, 2000, 5000, 20000],
    "n_runs": 30,
    "family_stop": 300,
    "family_n_runs": 10,
}
QUICK: dict[str, Any] = {"n_layers": 3, "stops": [5, 10], "n_runs": 3, "family_stop": 5, "family_n_runs": 2}
WITNESS = Witness(["stops"], fixed={"stops": [100, 300]}, **CHAOTIC)


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Run the experiment with settings like ``SETTINGS``, and return plain types.

    ``StoppingExperiment`` reads them.
    """
    arch, bar = architecture(settings), partial(tqdm, disable=not progress)
    limits = {"seed": settings["seed"], "ftol": settings["ftol"]}
    by_stop = {
        str(stop): plain(many_runs(arch, PowerLaw(), settings["n_runs"], max_iterations=stop, **limits))
        for stop in bar(settings["stops"])
    }
    limits["max_iterations"] = settings["family_stop"]
    families = {
        name: plain(many_runs(arch, family(), settings["family_n_runs"], **limits))
        for name, family in bar(FAMILIES.items())
    }
    return {"by_stop": by_stop, "families": families}


def architecture(settings: dict[str, Any] = SETTINGS) -> Hierarchical:
    """The model of the experiment."""
    return Hierarchical(settings["channels"], settings["n_layers"], settings["kernel_size"])
