"""Hierarchical models on features: what they predict, and what their capacity depends on (paper 1, section 6.2)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky

from capcore import FeatureProcess, Hierarchical
from capcore.capacity.allocation import CapacityAllocation
from capcore.processes import FAMILIES, Process
from capcore.processes.features import Basis, Features, Hermite
from capcore.processes.hermite import hermite_coefficients
from chapters.gaussian_prediction.response import measured_responses, probe_moves
from chapters.shared import survey


class Target(NamedTuple):
    """A function of the next value, and the points where it is not smooth."""

    function: Callable[[np.ndarray], np.ndarray]
    kinks: tuple[float, ...] = ()


TARGETS: dict[str, Target] = {
    "value": Target(lambda y: y),
    "square": Target(np.square),
    "square plus value": Target(lambda y: y**2 + y),
    "cube": Target(lambda y: y**3),
    "absolute value": Target(np.abs, (0.0,)),
    "sign": Target(np.sign, (0.0,)),
}
"""Name → function g of the next value that is to be predicted."""


def named_features(names: Sequence[str], count: int = 3, period: float = 8.0) -> dict[str, Features]:
    """Name → ``count`` features of that basis; the period is that of the Fourier features.

    Raises ``ValueError`` for collinear features.
    """
    bases: dict[str, Any] = {basis.__name__: basis for basis in Basis.__subclasses__()}
    by_name = {name: bases[name](count, **({"period": period} if name == "Fourier" else {})) for name in names}
    for features in by_name.values():
        features.check_independent()
    return by_name


def pose(process: Process, features: Features, target: str = "square plus value") -> FeatureProcess:
    """The task of predicting the named function of the next value from features of the inputs.

    >>> from capcore import AR1, Hermite
    >>> pose(AR1(), Hermite(2), "square").input_dim
    2
    """
    function, kinks = TARGETS[target]
    return FeatureProcess(process, features, function, kinks)


def share_explained(task: FeatureProcess, n: int) -> float:
    """Share of the target's variance that the best sum of features of n inputs explains."""
    return 1 - task.predictor(n)[1] / task.target_variance


def share_explained_by_model(optimum: survey.Case) -> float:
    """Share of the target's variance that a trained model explains, for a case posed by a
    :class:`~capcore.processes.feature_process.FeatureProcess`.
    """
    variance: float = optimum.process.target_variance  # type: ignore[attr-defined]
    return 1 - optimum.fit.variance / variance


def share_explained_exactly(process: Process, n: int, target: str) -> float:
    """Share of the target's variance that its conditional expectation given n inputs explains: the most there is.

    The past tells of the next value y its linear prediction m, with correlation R, R² = 1 − v*/c_0, and no more; and
    E[He_k(y) | m] = R^k He_k(m/sd(m)). So the share is Σ g_k² R^2k / Σ g_k² over the Hermite coefficients of g. For
    the square it is (1 − v*/c_0)².
    """
    function, kinks = TARGETS[target]
    known = 1 - process.predictor(n)[1] / process.autocovariance(1)[0]
    squares = np.square(hermite_coefficients(function, kinks=kinks))
    squares[0] = 0.0
    variance = hermite_coefficients(lambda y: np.square(function(y)), 0, kinks)[0]
    variance -= hermite_coefficients(function, 0, kinks)[0] ** 2
    return float(squares @ known ** np.arange(squares.size) / variance)


class SampledMoments(NamedTuple):
    """An estimate and its standard error, entry by entry; each (n·d, n·d)."""

    mean: np.ndarray
    standard_error: np.ndarray


def sampled_covariance(process: FeatureProcess, n: int, n_samples: int, seed: int) -> SampledMoments:
    """Σ_φ as the mean over independent samples of n successive values: the second route to it.

    Parameters
    ----------
    n_samples : at least 2.

    >>> from capcore import AR1, Hermite
    >>> sampled_covariance(FeatureProcess(AR1(), Hermite(2)), 3, 100, seed=0).mean.shape
    (6, 6)
    """
    rng = np.random.default_rng(seed)
    sigma = process.process.covariance(n)
    root = cholesky(sigma / sigma[0, 0], lower=True)
    size = n * process.input_dim
    first, second = np.zeros((size, size)), np.zeros((size, size))
    for start in range(0, n_samples, 10_000):
        y = rng.normal(size=(min(10_000, n_samples - start), n)) @ root.T
        phi = process.features(y).reshape(len(y), size)
        first += phi.T @ phi
        second += np.square(phi).T @ np.square(phi)
    mean = first / n_samples
    return SampledMoments(mean, np.sqrt((second / n_samples - np.square(mean)) / (n_samples - 1)))


def z_scores(task: FeatureProcess, n: int, n_samples: int, seed: int = 0) -> np.ndarray:
    """(m,) z-scores of the entries on and above the diagonal of Σ_φ: sampled minus exact, in standard errors."""
    sampled = sampled_covariance(task, n, n_samples, seed)
    scores = (sampled.mean - task.covariance(n)) / sampled.standard_error
    return scores[np.triu_indices(len(scores))]


def response_ratio(arch: Hierarchical, optimum: survey.Case, step: float = 1e-4, seed: int = 0) -> float:
    """Response of the optimum to a move of the target orthogonal to 𝒦, over that to a random move; 0 where 𝒦 is all.

    Parameters
    ----------
    step : length of the moves. seed : of the moves and of the nudges that the refits start from.
    """
    rng = np.random.default_rng(seed)
    moves = probe_moves(optimum.allocation.space, rng)
    if "orthogonal to 𝒦" not in moves:
        return 0.0
    columns = np.stack([moves["orthogonal to 𝒦"], moves["generic"]], axis=1)
    responses = measured_responses(arch, optimum.fit.params, optimum.problem, columns, step, rng=rng)
    orthogonal, generic = np.linalg.norm(responses, axis=0)
    return float(orthogonal / generic)


def change_of_basis(old: Features, new: Features) -> np.ndarray:
    """(d, d) M with new = M · old, for two bases of the same functions.

    >>> from capcore import Hermite, Monomials
    >>> change_of_basis(Monomials(2), Hermite(2)).round(4).tolist()[1][1]
    0.7071
    """
    before, after = old.hermite_coefficients(), new.hermite_coefficients()
    return np.linalg.lstsq(before.T, after.T, rcond=None)[0].T


def rewrite(arch: Hierarchical, optimum: survey.Case, new: Features) -> survey.Case:
    """The same trained model with its features written in another basis, and its allocation there.

    With φ' = Mφ at every input, A' = M⁻ᵀA: the first kernel takes up M⁻ᵀ, so every model of one basis is a model of the
    other, and the optimum stays one. Σ'J' = MΣJ, so the constraint space becomes M𝒦.
    """
    task: Any = optimum.process
    matrix = change_of_basis(task.features, new)
    kernels = arch.kernels(optimum.fit.params)
    kernels[0] = np.tensordot(np.linalg.inv(matrix).T, kernels[0], axes=1)
    params = np.concatenate([kernel.reshape(-1) for kernel in kernels])
    process = FeatureProcess(task.process, new, task.target, task.kinks, task.order)
    return survey.case(arch, process, start=params, max_iterations=0)


def per_feature(allocation: CapacityAllocation) -> np.ndarray:
    """(n_inputs, d) the capacity κ_i^j of feature j of input i (paper 1, Eqs 26–28); rows sum to ``per_input``."""
    return allocation.space.per_input().reshape(-1, allocation.input_dim)


def sum_gap(allocation: CapacityAllocation) -> float:
    """Largest |κ_i − Σ_j κ_i^j|, with κ_i the capacity of the subspace that the features of input i span (Eq. 28)."""
    d = allocation.input_dim
    axes = np.eye(allocation.covariance.shape[0])
    spans = [allocation.capacity(axes[:, i : i + d]) for i in range(0, len(axes), d)]
    return float(np.abs(np.array(spans) - per_feature(allocation).sum(axis=1)).max())


def offset(optimum: survey.Case) -> float:
    """Cosine of the angle between the residual and the tangent space; 0 where the target is attained (no residual)."""
    return 0.0 if optimum.attained else optimum.fit.relative_offset


def square_shares(n: int) -> dict[str, dict[str, float]]:
    """Kind of predictor → family → share of the variance of the next value's square that n inputs explain.

    The kinds are the best linear predictor, the best sum of functions of single inputs, and the conditional
    expectation. Of the Hermite components of a function of one input only the second correlates with the square of the
    next value, so two Hermite features already give the best sum.
    """
    processes = {name: family() for name, family in FAMILIES.items()}
    return {
        "linear in the inputs": {k: share_explained(pose(p, Hermite(1), "square"), n) for k, p in processes.items()},
        "sum over inputs": {k: share_explained(pose(p, Hermite(2), "square"), n) for k, p in processes.items()},
        "exact": {k: share_explained_exactly(p, n, "square") for k, p in processes.items()},
    }
