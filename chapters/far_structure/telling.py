"""A slice of the run again, and what the page says of all of it."""

import numpy as np

from chapters.far_structure import experiment
from chapters.far_structure.networks import train_all
from chapters.far_structure.series import LENGTH, series
from chapters.far_structure.stacks import all_stacks
from chapters.kit.stored import stored


class Again:
    """The stack with the most far share on a series, with some units, from all seeds, as the stored run has it.

    Attributes
    ----------
    far, before : (K,) array
        Far errors of the seeds, now and stored; NaN where a network diverged.
    curve : (65,) array
        Autocorrelation of what they generate.
    """

    def __init__(self, name: str, units: str) -> None:
        content = stored("far_structure")
        settings, values = content["settings"], content["values"]
        stacks, seeds, burn_in = all_stacks(), settings["seeds"], settings["burn_in"]
        number = experiment.ends(values["series"][name]["far share"], stacks)[1]
        shape = settings["n_sequences"], burn_in + LENGTH
        networks = train_all(stacks[number], units, *experiment.padded([name]), seeds, settings["steps"], shape)
        judgement = experiment.judged(networks, experiment.autocorrelation(series(name))[None], burn_in)
        self.far, self.curve = judgement["far"][0], judgement["curve"][0]
        self.before = np.array([row[number] for row in values["networks"][units][name]["far"]], dtype=float) / 1e4
