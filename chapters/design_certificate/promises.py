"""Whether the errors that ``cc.design`` tells come true, on values that it has not seen.

Series, windows and stretches are those of ``peers``. From all values before the last fifth ``cc.design`` recommends a
model and tells two errors. The root of the model's mean squared error in the last fifth is what happened:

promised : Told from the covariance of the values before those that ``cc.design`` held out.
held out : Told from what ``cc.design`` held out, by which it also chose the model.
warned : Whether the promise misses what was held out, so that the report warns.

The criteria, committed before the run:

an average : The geometric mean over the series of what happened over what was told, with a 95 % interval by Student's t
    of the logarithms. True on average if all of the interval lies between 1/1.1 and 1.1, false if none of it, undecided
    otherwise.
a series : A told error came true where what happened is within a factor of 1.25 of it. Where the report does not warn,
    promises should come true more often: counted, without a threshold.

``python -m chapters run promises`` makes it again, in some two minutes. It needs the packages of the series.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.design_certificate import peers
from chapters.design_certificate.real_series import NEEDS, forecast, recommended, series
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import Witness

SETTINGS: dict[str, Any] = dict(peers.SETTINGS)
QUICK: dict[str, Any] = {"series": ["traded volume, daily"]}
WITNESS = Witness(["series"], needs=NEEDS)


def of_series(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What was told of one series, and what happened, in its units."""
    values = series(name)
    stretches, knowns = peers.stretches_of(values, settings)
    model = recommended(knowns[0], peers.window(len(knowns[0])), settings["max_params"])
    errors = [values[new] - forecast(model, known, values[new]) for known, new in zip(knowns, stretches, strict=True)]
    happened, told = float(np.sqrt(np.mean(np.concatenate(errors) ** 2))), model.held_out
    assert told, "every series is long enough to hold out values"
    return {"promised": told.promised, "held out": told.error, "warned": told.misses(), "happened": happened}


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Series → what was promised, held out and warned of, and what happened."""
    return {name: plain(of_series(name, settings)) for name in tqdm(settings["series"], disable=not progress)}
