"""Many runs from random starts: squared errors and the bound n_S − κ_S, run by run (paper 1, section 5.1.3, Fig. 6).

Each run ends with an error X = Â − A* and a constraint space 𝒦. Along every direction s of a basis there is a
squared error (sᵀX)² and a bound 1 − κ(s); the paper normalises both to sum one and compares their means and
spreads over the runs. By Eq. 6 the two agree on average if X is isotropic in 𝒦^⊥. Such errors are drawn here
in the same spaces, to tell what so many runs could show at best.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh

from capcore import Architecture, Problem, Process
from capcore.fitting.optimum import fit
from chapters.linear_systems.errors import complement
from chapters.shared.profiles import total_variation
from chapters.shared.survey import allocate_quietly, attains

RESOLUTION = 1e-3
"""A relative spread below this is how far apart runs stop at one and the same optimum: no spread of optima."""
QUANTILES = (0.05, 0.5, 0.95)


class Spread(NamedTuple):
    """Mean and standard deviation over runs of a quantity along n directions; each (n,)."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def over(cls, runs: np.ndarray) -> Self:
        """Of the rows of ``runs`` (n_runs, n), at least two."""
        return cls(runs.mean(axis=0), runs.std(axis=0, ddof=1))

    @property
    def relative(self) -> float:
        """Standard deviation divided by the mean, averaged over the directions where there is a mean; 0 if none."""
        seen = self.mean > 0
        return float(np.mean(self.deviation[seen] / self.mean[seen])) if seen.any() else 0.0


class AlongBasis(NamedTuple):
    """Normalised squared errors and bounds of many runs, along the n directions of a basis.

    Attributes
    ----------
    errors, bounds : :class:`Spread` over the runs; each run sums to one (to zero where there is nothing to divide).
    uncertainty : standard error of ``distance`` and of ``spread_ratio``, by the jackknife over runs.
    isotropic : ``distance``, ``error_spread`` and ``spread_ratio`` of errors drawn isotropically in each run's
        𝒦^⊥, independent from run to run, and ``distance_of_one``, that of a single such error: their 5 %, 50 %
        and 95 % quantiles over repeated draws.
    """

    errors: Spread
    bounds: Spread
    uncertainty: dict[str, float]
    isotropic: dict[str, list[float]]

    @property
    def distance(self) -> float:
        """Total-variation distance between mean errors and mean bounds; 0 where both are absent."""
        return _distance(self.errors.mean, self.bounds.mean)

    @property
    def error_spread(self) -> float:
        """Relative spread of the errors over runs."""
        return self.errors.relative

    @property
    def spread_ratio(self) -> float:
        """Relative spread of the bounds over that of the errors; 1 where neither spreads (0/0)."""
        return _ratio(self.bounds.relative, self.errors.relative)


class Runs(NamedTuple):
    """What many runs of one optimiser ended with.

    Attributes
    ----------
    max_iterations : limit of the optimiser. losses, totals : (n_runs,) final loss and numerical capacity of each run.
    attained : runs whose target is attained to rounding.
    inputs, eigenvectors : errors and bounds along the inputs and along the eigenvectors of Σ, largest first.
    """

    max_iterations: int
    losses: np.ndarray
    totals: np.ndarray
    attained: int
    inputs: AlongBasis
    eigenvectors: AlongBasis

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return self.losses.size

    @property
    def exists(self) -> bool:
        """Whether there are errors to compare: no run attains the target to rounding (0/0)."""
        return self.attained == 0

    @property
    def resolved(self) -> bool:
        """Whether the errors exist and spread by more than ``RESOLUTION``: otherwise spreads are 0/0."""
        return self.exists and min(self.inputs.error_spread, self.eigenvectors.error_spread) > RESOLUTION

    def follows(self) -> dict[str, float]:
        """How far the mean errors are from the mean bounds; the names are those of the checks of claim P1.22."""
        inputs, eigenvectors = self.inputs.distance, self.eigenvectors.distance
        ratio = _ratio(eigenvectors, inputs)
        return {"distance_inputs": inputs, "distance_eigenvectors": eigenvectors, "distance_ratio": ratio}

    def stability(self) -> dict[str, float]:
        """Relative spread of bounds over that of errors; the names are those of the checks of claim P1.23."""
        return {"ratio_inputs": self.inputs.spread_ratio, "ratio_eigenvectors": self.eigenvectors.spread_ratio}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The runs that ``plain`` has made plain."""

        def basis(own: Mapping[str, Any]) -> AlongBasis:
            errors, bounds = (Spread(*map(np.array, own[name].values())) for name in ("errors", "bounds"))
            return AlongBasis(errors, bounds, own["uncertainty"], own["isotropic"])

        numbers = stored["max_iterations"], np.array(stored["losses"]), np.array(stored["totals"]), stored["attained"]
        return cls(*numbers, basis(stored["inputs"]), basis(stored["eigenvectors"]))


def many_runs(
    arch: Architecture, process: Process, n_runs: int, *, seed: int = 0, method: str = "l-bfgs-b", **options: Any
) -> Runs:
    """Fit ``arch`` from ``n_runs`` random starts and compare errors and bounds (paper 1, Fig. 6).

    Parameters
    ----------
    n_runs : at least 2. Run i starts from the generator seeded by (seed, i), so fewer runs are the first of more.
    method, options : as in :func:`capcore.fitting.optimum.fit`. progress : show a progress bar over the runs.

    >>> from capcore import Hierarchical, PowerLaw
    >>> runs = many_runs(Hierarchical(channels=1, n_layers=3), PowerLaw(), 4, max_iterations=50)
    >>> runs.n_runs, round(float(runs.inputs.bounds.mean.sum()), 9)
    (4, 1.0)
    """
    problem = Problem.of(arch, process)
    vectors = eigh(problem.covariance)[1][:, ::-1]
    fits, free, totals = [], [], []
    for i in range(n_runs):
        rng = np.random.default_rng([seed, i])
        fitted = fit(arch, problem, rng=rng, method=method, start="random", **options)
        space = allocate_quietly(arch, fitted.params, problem).space
        fits.append(fitted)
        free.append(complement(space))
        totals.append(space.dimension)
    losses = np.array([fitted.loss for fitted in fits])
    errors = np.array([fitted.coefficients - problem.target for fitted in fits])
    rng = np.random.default_rng([seed, n_runs])
    return Runs(
        max_iterations=int(options.get("max_iterations", 0)),
        losses=losses,
        totals=np.array(totals),
        attained=int(attains(losses, problem).sum()),
        inputs=along_basis(errors, free, np.eye(problem.target.size), rng),
        eigenvectors=along_basis(errors, free, vectors, rng),
    )


def along_basis(
    errors: np.ndarray, free: list[np.ndarray], basis: np.ndarray, rng: np.random.Generator, n_draws: int = 200
) -> AlongBasis:
    """Compare the errors (n_runs, n) with the bounds of their spaces along the columns of ``basis`` (n, n).

    Parameters
    ----------
    free : for each run an orthonormal basis of 𝒦^⊥, so that 1 − κ(s) = ‖freeᵀs‖² loses no digits.
    n_draws : repetitions of the isotropic errors.
    """
    squares = _shares(np.square(errors @ basis))
    bounds = _shares(np.array([np.square(columns.T @ basis).sum(axis=0) for columns in free]))
    keep = ~np.eye(len(squares), dtype=bool)
    left_out = [_statistics(squares[included], bounds[included]) for included in keep] if len(squares) > 2 else []
    return AlongBasis(
        errors=Spread.over(squares),
        bounds=Spread.over(bounds),
        uncertainty={name: _jackknife([row[name] for row in left_out]) for name in ("distance", "spread_ratio")},
        isotropic=_isotropic(free, basis, bounds, rng, n_draws),
    )


def _isotropic(
    free: list[np.ndarray], basis: np.ndarray, bounds: np.ndarray, rng: np.random.Generator, n_draws: int
) -> dict[str, list[float]]:
    # Drawn in R^n and projected, so that the draws do not depend on the basis that was chosen for 𝒦^⊥.
    projectors = [basis.T @ columns @ columns.T for columns in free]
    resampled = []
    for _ in range(n_draws):
        drawn = _shares(np.array([np.square(onto @ rng.normal(size=onto.shape[1])) for onto in projectors]))
        one = _distance(drawn[0], bounds.mean(axis=0))
        resampled.append({**_statistics(drawn, bounds), "distance_of_one": one})
    return {name: np.quantile([sample[name] for sample in resampled], QUANTILES).tolist() for name in resampled[0]}


def _statistics(errors: np.ndarray, bounds: np.ndarray) -> dict[str, float]:
    compared = AlongBasis(Spread.over(errors), Spread.over(bounds), {}, {})
    return {name: getattr(compared, name) for name in ("distance", "error_spread", "spread_ratio")}


def _shares(values: np.ndarray) -> np.ndarray:
    """Each row divided by its sum; a row of zeros stays."""
    totals = values.sum(axis=1, keepdims=True)
    return values / np.where(totals > 0, totals, 1.0)


def _distance(first: np.ndarray, second: np.ndarray) -> float:
    return float(total_variation(first, second)) if first.any() and second.any() else 0.0


def _ratio(numerator: float, denominator: float) -> float:
    if denominator > 0:
        return numerator / denominator
    return 1.0 if numerator == 0 else np.inf


def _jackknife(values: list[float]) -> float:
    """Standard error of a statistic from its values with one run left out; 0 where there are too few runs."""
    return float(np.sqrt((len(values) - 1) * np.var(values))) if values else 0.0
