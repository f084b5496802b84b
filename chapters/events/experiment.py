"""What does capacity foretell? Events planted k samples back, and what each costs models that are fitted again.

An event is a term β x_{t−1−k} added to the best linear forecast of a series, in one of two ways:

target : The inputs stay as they are; what is to be predicted depends on the event. Its size is s = β²c_0/v*: a model
    that does not see it loses s·v*.
series : The series itself continues with the event in it, as in x_t = ½x_{t−1} + ¼x_{t−41} + e_t. The process is the
    autoregression whose first autocovariances are those of a named one; β is half of the least |1 − A(e^{iω})|, so that
    it stays stationary whatever the lag.

Capacity *before* is that of the model fitted without the event. The least variance v* is the same before and after,
and is the unit of the extra error. Both signs of β are averaged.

The criteria, which were committed before the first run:

rank : Inside a model, capacity before ranks the extra errors after. Spearman's correlation over lags of 1 − κ_k with
    the extra error, in the series, and in the target with size 0.1; mean over models, then Student's interval over
    processes. Yes if its lower end is at least 0.8, no if its upper end is below, undecided otherwise. The same for
    E_k / Σ_kk. A model whose worst event costs less than 5 % of its size has nothing to rank and is counted apart.
better : Paired differences of that correlation with those of the lag, of 1 − |Â_k| (the response of the output) and
    of 1 − R_kk. Yes if the interval is above 0, no if below, undecided otherwise.
models : Of seven stacks of 36 weights, capacity before ranks which loses least by an event in the series. Spearman's
    correlation over the models, mean over lags, interval over processes; bounds as in *rank*.
amount : The extra error is s·E_k/Σ_kk within a quarter of it or within 2 % of s. Share of models and lags for each
    size; yes if the lower end of its interval over processes is at least 0.9, no if the upper end is below.
two : Of two events in the target, of size 0.1 each and with all signs averaged, the extra error is the sum of those
    of each, within the same bounds; criterion as in *amount*.

``python -m chapters run events`` makes it again, in about half an hour on one core.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import orth
from tqdm import tqdm

import capcore as cc
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.named_processes import named

GRID = 2**17  # frequencies of an autoregression's spectrum
ITERATIONS = 200  # of a descent at most: where a loss is below 1e-12, they go on without an end
SETTINGS: dict[str, Any] = {
    "processes": [*named(), "AR(1), φ 0.5"],
    "models": [
        "stack 1",
        "stack 2",
        "stack 4",
        "overlapping 1",
        "overlapping 2",
        *(f"recurrent {c}" for c in (1, 2, 4)),
    ],
    "of_a_size": ["33111", "23211", "13311", "12321", "11331", "11232", "11133"],
    "lags": [3, 4, 7, 8, 11, 16, 20, 23, 24, 31, 32, 33, 40, 48, 56, 60],
    "pairs": [[8, 20], [4, 32], [11, 40], [23, 56]],
    "sizes": [0.01, 0.1, 1.0],
}
QUICK: dict[str, Any] = {"processes": ["damped cosine"], "models": ["stack 1"], "of_a_size": ["33111"], "sizes": [0.1]}
WITNESS = Witness(["processes models", "processes of_a_size"], **CHAOTIC)


def model(name: str) -> cc.Hierarchical | cc.Recurrent:
    """The architecture of a name of ``SETTINGS``, with 63 or 64 inputs.

    >>> [model(name).n_params for name in ("stack 1", "overlapping 2", "recurrent 4", "12321")]
    [12, 48, 12, 36]
    """
    kind, _, channels = name.partition(" ")
    if kind == "stack":
        return cc.Hierarchical(int(channels), 6)
    if kind == "overlapping":
        return cc.Hierarchical(int(channels), kernel_size=3, dilations=[1, 2, 4, 8, 16])
    if kind == "recurrent":
        return cc.Recurrent(n_inputs=64, channels=int(channels))
    return cc.Hierarchical([*map(int, name)], 6)


def autoregression(coefficients: np.ndarray, variance: float) -> cc.FromAutocovariance:
    """The process x_t = Σ_j a_j x_{t−1−j} + e_t with n coefficients a and innovations of a ``variance``.

    >>> autoregression(np.array([0.5, 0.0]), 0.75).autocovariance(3).round(6).tolist()
    [1.0, 0.5, 0.25]
    """
    return cc.FromAutocovariance(np.fft.irfft(variance / np.square(_transfer(coefficients)))[: len(coefficients) + 1])


def _transfer(coefficients: np.ndarray) -> np.ndarray:
    """|1 − A(e^{iω})| at the frequencies of the grid."""
    return np.abs(np.fft.rfft(np.concatenate([[1.0], -coefficients]), GRID))


def least_loss(arch: Any, process: Any, warm: np.ndarray) -> float:
    """The least loss of a descent from the parameters before the event, and of one from a new start."""
    new: dict[str, Any] = {"method": "gauss-newton"}
    if isinstance(arch, cc.Recurrent):
        new = {}
    elif not arch.has_disjoint_supports:
        new["start"] = "random"
    warm_fit = cc.fit(arch, process, start=warm, method="gauss-newton", max_iterations=ITERATIONS)
    return min(warm_fit.loss, cc.fit(arch, process, max_iterations=ITERATIONS, **new).loss)


def costs(name: str, process_name: str, settings: Mapping[str, Any], brief: bool = False) -> dict[str, Any]:
    """Of one model and process what each lag has *before*, and what events there cost *after*.

    brief : in the series alone.
    """
    arch, process = model(name), named().get(process_name, cc.AR1(0.5))
    n, lags = arch.n_inputs, [lag for lag in settings["lags"] if lag < arch.n_inputs]
    (target, variance), covariance = process.predictor(n), process.covariance(n)
    before = cc.fit(arch, process)
    allocation = cc.allocate(arch, before, process)
    tangents = orth(arch.jacobian(before.params))
    projection = tangents @ np.linalg.solve(tangents.T @ covariance @ tangents, tangents.T @ covariance)
    at = {"capacity": allocation.per_input, "missed": allocation.missed, "followed": np.diag(projection)}
    at["response"] = np.abs(before.coefficients)

    def extra(beta: float, *at_lags: int, in_series: bool = False) -> float:
        """Mean over signs of the extra loss in units of v*."""
        losses = []
        for signs in product((1, -1), repeat=len(at_lags)):
            changed = target.copy()
            changed[[*at_lags]] += beta * np.array(signs)
            task: Any = (
                autoregression(changed, variance) if in_series else cc.FromCovariance(covariance, target=changed)
            )
            losses.append(least_loss(arch, task, before.params))
        return _short((float(np.mean(losses)) - before.loss) / variance)

    in_series = 0.5 * float(_transfer(target).min())
    values: dict[str, Any] = {"total": allocation.total, "loss": _short(before.loss / variance)}
    values["before"] = {key: [_short(row[lag]) for lag in lags] for key, row in at.items()}
    values["size"] = _short(in_series**2 * covariance[0, 0] / variance)
    values["series"] = [extra(in_series, lag, in_series=True) for lag in lags]
    if not brief:
        betas = {str(size): float(np.sqrt(size * variance / covariance[0, 0])) for size in settings["sizes"]}
        values["target"] = {size: [extra(beta, lag) for lag in lags] for size, beta in betas.items()}
        values["pairs"] = [extra(betas["0.1"], *pair) for pair in settings["pairs"]]
    return values


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """All that is stored: process → model → values."""
    cells = [(process, name, False) for process, name in product(settings["processes"], settings["models"])]
    cells += [(process, name, True) for process, name in product(settings["processes"], settings["of_a_size"])]
    table: dict[str, Any] = {process: {} for process in settings["processes"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)
        for process, name, brief in tqdm(cells, "models", disable=not progress):
            table[process][name] = costs(name, process, settings, brief)
    return table
