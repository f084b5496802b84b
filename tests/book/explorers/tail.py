"""A spectrum and its tail: states, and what the package fits from there on."""

import numpy as np

from capcore.spectra import fit_power_law
from chapters.kit.stored import stored

PAGES = ["notebooks/spectra"]
POINT = (0.8, 0.4)
TOLERANCE = 1e-9
SHIFTS = {"shuffled": (0, -60), "untrained": (5,), "decay": (0, 40), "layer3.2.conv2.weight": (0, 250)}
SHIFTS |= {"layer2.1.conv2.weight": (-100,), "law2": (0,), "law3": (60,)}
STATES = [{"shift": shift} for shift in (-203, 20, 51)]
STATES += [{"spectrum": name, "shift": shift} for name, shifts in SHIFTS.items() for shift in shifts]


def expected(state):
    """The fit from the eigenvalue that is ``shift`` places above the one that the search for x_min takes."""
    spectrum = next(each for each in stored("tails")["values"]["spectra"] if each["name"] == state["spectrum"])
    values = np.array(spectrum["eigenvalues"])
    best = fit_power_law(values, threshold=0)
    place = int(np.flatnonzero(values == best.x_min)[0]) + state["shift"]
    fit = fit_power_law(values, x_min=values[place], threshold=0)
    shown = {name: getattr(fit, name) for name in ("alpha", "sigma", "distance", "n_tail")}
    ends = {"log_x_min": np.log(fit.x_min), "log_best": np.log(best.x_min)}
    return {**shown, **ends, "smaller": spectrum["smaller"][place]}
