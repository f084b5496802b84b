"""How the statistics of many L-BFGS-B runs depend on where the runs are stopped: the long experiment behind Fig. 6.

L-BFGS-B has not converged when it is stopped, and its path is chaotic: the round-off of another processor sends every
run elsewhere. The 30 runs of the registered checks are therefore stored, with longer and shorter ones
(``lbfgs_stopping``), and a few of them are run again where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters import stored as results
from chapters.hierarchical_errors.lbfgs_stopping import architecture
from chapters.hierarchical_errors.runs import Runs


@dataclass(frozen=True, eq=False)
class StoppingExperiment:
    """L-BFGS-B runs stopped after more and more iterations (power law), and stopped early for the five families.

    Attributes
    ----------
    by_stop : most iterations → ``Runs``, ascending. families : family name → the same.
    settings, versions : what they were made with.
    """

    by_stop: dict[int, Runs]
    families: dict[str, Runs]
    settings: dict[str, Any] = field(repr=False)
    versions: dict[str, str] = field(repr=False)

    @classmethod
    def load(cls, path: str | Path | None = None) -> StoppingExperiment:
        """Read the committed file, or another. Raises ``StaleResultsError`` if the code has changed."""
        content = results.load(path or results.path_of("lbfgs_stopping"))
        by_stop = {int(stop): Runs.from_json(stored) for stop, stored in content["values"]["by_stop"].items()}
        families = {name: Runs.from_json(stored) for name, stored in content["values"]["families"].items()}
        return cls(by_stop, families, content["settings"], content["versions"])

    def paper(self, arch: Hierarchical, process: Process, stop: int) -> Runs | None:
        """The stored runs up to ``stop`` iterations if they are of this model and process, and None otherwise."""
        same = repr(arch) == repr(architecture(self.settings)) and process == PowerLaw()
        return self.by_stop.get(stop) if same else None

    def overlap(self, arch: Hierarchical, process: Process, stop: int) -> Runs | None:
        """The stored short runs of this model and family that stopped after ``stop`` iterations, or None."""
        if repr(arch) != repr(architecture(self.settings)) or stop != self.settings["family_stop"]:
            return None
        return next((self.families[name] for name, family in FAMILIES.items() if process == family()), None)


def beyond_limit(runs: Runs) -> np.ndarray:
    """Indices of the inputs whose mean share of the squared error exceeds the mean of its limit.

    An error with KᵀX = 0 has x_i² ≤ (1 − κ_i)‖X‖² (paper 1, section 3.3), so at stationary points there are none. The
    limit is the normalised bound times n − κ.
    """
    free = runs.inputs.bounds.mean.size - runs.totals.min()
    return np.flatnonzero(runs.inputs.errors.mean > 1.01 * free * runs.inputs.bounds.mean)


def agrees(live: Runs, stored: Runs, n_errors: float = 4.0) -> bool:
    """Whether two sets of runs agree within sampling error: distances and spread ratios within ``n_errors`` of it.

    On the same kind of processor the same runs are equal to the last digit stored; elsewhere each set is a sample.
    """
    pairs = [(live.inputs, stored.inputs), (live.eigenvectors, stored.eigenvectors)]
    gaps = [
        abs(getattr(a, name) - getattr(b, name))
        - n_errors * (a.uncertainty[name] ** 2 + b.uncertainty[name] ** 2) ** 0.5
        for a, b in pairs
        for name in ("distance", "spread_ratio")
    ]
    return max(gaps) <= 1e-5
