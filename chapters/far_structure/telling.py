"""A slice of the run again, and what the page says of all of it."""

from dataclasses import dataclass

import numpy as np

from chapters.far_structure import experiment
from chapters.far_structure.networks import train_all
from chapters.far_structure.resampling import Effect
from chapters.far_structure.series import LENGTH, series
from chapters.far_structure.stacks import Stack, all_stacks
from chapters.kit.stored import stored
from chapters.shared.numbers import ends
from chapters.shared.numbers import signed as signed


@dataclass(frozen=True, eq=False)
class Again:
    """Networks of one stack on one series, trained now.

    Attributes
    ----------
    stack : Stack
        That with the most far share on the series.
    far, before : (K,) array
        Far errors of the seeds, now and stored; NaN where a network diverged.
    curve : (65,) array
        Autocorrelation of what they generate.
    """

    stack: Stack
    far: np.ndarray
    before: np.ndarray
    curve: np.ndarray


def again(name: str, units: str) -> Again:
    """The stack with the most far share on a series, with some units, from all seeds, as the stored run has it."""
    content = stored("far_structure")
    settings, values = content["settings"], content["values"]
    stacks = all_stacks()
    number = experiment.ends(values["series"][name]["far share"], stacks)[1]
    shape = settings["n_sequences"], settings["burn_in"] + LENGTH
    networks = train_all(stacks[number], units, *experiment.padded([name]), settings["seeds"], settings["steps"], shape)
    judgement = experiment.judged(networks, experiment.autocorrelation(series(name))[None], settings["burn_in"])
    before = np.array([row[number] for row in values["networks"][units][name]["far"]], dtype=float) / 1e4
    return Again(stacks[number], judgement["far"][0], before, judgement["curve"][0])


def in_words(effect: Effect) -> str:
    """A mean and its interval.

    >>> in_words(Effect(-0.2, -0.31, 0.04))
    '−0.20 [−0.31, 0.04]'
    """
    return ends(effect, 2)
