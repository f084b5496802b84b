"""Which estimate of the autocovariance gives the better forecasts of real series: plain, or with a taper?

The series are of statsmodels and pmdarima, which the package does not need (``pip install statsmodels pmdarima``).
Each is centred by the mean of its first four fifths, from which the autocovariance is estimated: plain (1/m), with 10 %
of the values under a cosine taper (Tukey's window, 5 % at each end), and with a Hann taper. The Yule–Walker predictor
of 16 and 32 inputs foretells an error, v*; the error found is that on the last fifth. Least squares is fitted to the
same four fifths. A window needs four values for each of its lags, as ``estimate_process`` asks.

Criterion, written before the run. A taper wins a series if its found error, the geometric mean over the windows, is
lower than the plain estimate's by more than 1 %, and its foretold error is closer to the found one (mean of
|log(foretold/found)| over the windows). It becomes the default if it wins at least six of the ten series, and nowhere
forecasts worse than the plain estimate by more than 5 %. If both tapers qualify, the one whose found error is lower, in
the geometric mean over the series, becomes the default.

What came out: a cosine taper wins three series, a Hann taper two, and on the traded volume both forecast worse by more
than 5 %. So the plain estimate stays. Errors are geometric means over the windows, the last three columns over that of
the plain estimate; ``estimate_process`` warns of the series with a sign.

| series                            | foretold / found | cosine 10 % | Hann | least squares |
|-----------------------------------|------------------|-------------|------|---------------|
| CO₂, monthly *                    |             6.57 |        0.40 | 0.39 |          0.27 |
| sunspots, yearly                  |             0.48 |        1.02 | 1.25 |          1.00 |
| electricity demand, half-hourly * |             1.31 |        1.01 | 1.05 |          1.01 |
| sea temperature, monthly          |             0.96 |        1.01 | 1.05 |          1.04 |
| logarithm of GDP, quarterly *     |            10.57 |        0.13 | 0.18 |          0.08 |
| inflation, quarterly              |             0.31 |        1.00 | 1.02 |          0.99 |
| Nile, yearly                      |             1.15 |        0.99 | 1.11 |          0.98 |
| beer, quarterly *                 |             2.21 |        0.94 | 1.02 |          0.80 |
| wine, monthly *                   |             0.98 |        0.95 | 1.04 |          0.91 |
| logarithm of traded volume, daily |             1.87 |        1.23 | 1.08 |          1.00 |
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from pmdarima.datasets import load_ausbeer, load_msft, load_taylor, load_wineind
from scipy.linalg import solve_toeplitz
from scipy.signal.windows import hann, tukey
from statsmodels.datasets import co2, elnino, macrodata, nile, sunspots

WINDOWS = (16, 32)
TAPERS: dict[str, Callable[[int], np.ndarray]] = {
    "plain": np.ones,
    "cosine 10 %": lambda m: tukey(m, 0.1),
    "Hann": lambda m: hann(m + 2)[1:-1],
}


def ten_series() -> dict[str, np.ndarray]:
    """By name, oldest value first."""
    macro = macrodata.load_pandas().data
    carbon = co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    temperatures = elnino.load_pandas().data.drop(columns="YEAR")
    series = {
        "CO₂, monthly": carbon,
        "sunspots, yearly": sunspots.load_pandas().data["SUNACTIVITY"],
        "electricity demand, half-hourly": load_taylor(),
        "sea temperature, monthly": temperatures.to_numpy().ravel(),
        "logarithm of GDP, quarterly": np.log(macro["realgdp"]),
        "inflation, quarterly": macro["infl"],
        "Nile, yearly": nile.load_pandas().data["volume"],
        "beer, quarterly": load_ausbeer(),
        "wine, monthly": load_wineind(),
        "logarithm of traded volume, daily": np.log(load_msft()["Volume"].clip(lower=1)),
    }
    arrays = {name: np.asarray(values, float) for name, values in series.items()}
    return {name: values[np.isfinite(values)] for name, values in arrays.items()}


def errors(values: np.ndarray, n: int) -> dict[str, tuple[float, float]]:
    """By estimate, foretold and found error, in variances of the first differences of the training part."""
    split = 4 * len(values) // 5
    training, unit = values[:split], np.mean(np.diff(values[:split]) ** 2)
    values, training = values - training.mean(), training - training.mean()
    past = np.stack([values[n - 1 - lag : len(values) - 1 - lag] for lag in range(n)], axis=1)
    late = np.arange(n, len(values)) >= split

    def found(weights: np.ndarray) -> float:
        return float(np.mean((values[n:] - past @ weights)[late] ** 2) / unit)

    results = {"repeat": (1.0, found(np.eye(n)[0]))}
    for name, taper in TAPERS.items():
        window = taper(split)
        tapered = training * window
        lags = [tapered[: split - lag] @ tapered[lag:] / (window @ window) for lag in range(n + 1)]
        weights = solve_toeplitz(lags[:-1], lags[1:])
        results[name] = (float(lags[0] - weights @ lags[1:]) / unit, found(weights))
    fitted = np.linalg.lstsq(past[~late], values[n:][~late])[0]
    residuals = (values[n:] - past @ fitted)[~late]
    results["least squares"] = (float(np.mean(residuals**2) / unit), found(fitted))
    return results


if __name__ == "__main__":
    rows = []
    for name, values in ten_series().items():
        for n in WINDOWS:
            if 4 * len(values) // 5 >= 4 * (n + 1):
                rows += [(name, len(values), n, kind, *pair) for kind, pair in errors(values, n).items()]
    table = pd.DataFrame(rows, columns=["series", "values", "n", "estimate", "foretold", "found"])
    print(table.pivot(index=["series", "values", "n"], columns="estimate").round(4).to_string())
    table["gap"] = np.log(table["foretold"] / table["found"]).abs()
    table["found"] = np.log(table["found"])
    each = table.groupby(["series", "estimate"])[["found", "gap"]].mean().unstack()
    for name in ("cosine 10 %", "Hann"):
        gain = each["found", "plain"] - each["found", name]
        wins = (gain > np.log(1.01)) & (each["gap", name] < each["gap", "plain"])
        print(name, "wins", int(wins.sum()), "worst", float(np.exp(-gain.min())), "mean", float(np.exp(-gain.mean())))
        print(pd.DataFrame({"found / plain": np.exp(-gain), "wins": wins}).round(3).to_string())
