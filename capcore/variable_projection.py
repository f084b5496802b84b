"""Fit sums of exponentials: the weights are eliminated, and only the poles are searched (variable projection).

For given poles the best weights solve a linear least-squares problem, so the loss is a function of the poles alone
(Golub & Pereyra, 1973); its Jacobian is taken in Kaufman's form. Starts are what matters: one is the matrix pencil of
the target (the poles of the system that a Hankel matrix of A* realises), one adds the best single pole of a grid to the
optimum with one channel less, others are random. Solved for 1, 2, … channels in turn, the loss never increases.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvals, hankel, lstsq, svd
from scipy.optimize import least_squares

from capcore.architectures.recurrent import Recurrent
from capcore.gauss_newton import Minimum

EPS = float(np.finfo(float).eps)
FLOOR = 1e-28  # of ‖RA*‖²: the target is attained to rounding
GRID = np.tanh(np.linspace(-3, 3, 61))
"""Single poles that are tried beside the optimum with one channel less."""


def best_weights(columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least-squares weights of columns (n, c) for values (n,), the residual (n,), and an orthonormal basis (n, r).

    Columns are scaled first; singular values below 4ε of the largest are dropped, so that merged poles cost nothing.
    """
    norms = np.linalg.norm(columns, axis=0)
    norms[norms == 0] = 1.0
    u, s, vt = svd(columns / norms, full_matrices=False, check_finite=False)
    kept = s > 4 * EPS * s[0]
    u, s, vt = u[:, kept], s[kept], vt[kept]
    weights = (vt.T @ ((u.T @ values) / s)) / norms
    return weights, values - u @ (u.T @ values), u


def pencil_poles(target: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` complex poles of the target, by the matrix pencil of its Hankel matrix.

    A target that is a sum of exponentials gives its own poles:

    >>> np.round(pencil_poles(0.5 ** np.arange(8) + 2 * 0.25 ** np.arange(8), 2).real, 9).tolist()
    [0.5, 0.25]
    """
    half = target.size // 2
    if half < 1:
        return np.zeros(0, complex)
    u, s, _ = svd(hankel(target[:half], target[half - 1 :]), full_matrices=False)
    rank = min(count, int(np.count_nonzero(s > 1e-14 * s[0])), half - 1)
    if rank < 1:
        return np.zeros(0, complex)
    found = eigvals(lstsq(u[:-1, :rank], u[1:, :rank])[0])
    return found[np.argsort(-np.abs(found), kind="stable")]


def real_poles(poles: np.ndarray, count: int) -> np.ndarray:
    """(count,) real poles near the given ones: a complex pair becomes two poles either side of its real part."""
    found: list[float] = []
    for pole in poles:
        if pole.imag > 1e-9:
            found += [pole.real - 0.05, pole.real + 0.05]
        elif pole.imag >= -1e-9:
            found.append(float(pole.real))
    found = found[:count]
    return np.array(found + np.linspace(0, 0.95, count - len(found)).tolist())


def minimise_poles(
    arch: Recurrent,
    target: np.ndarray,
    root: np.ndarray,
    poles: np.ndarray,
    max_iterations: int = 100,
    callback: Callable[[float], None] | None = None,
) -> Minimum:
    """A local minimum of ‖R(A − A*)‖² over the poles, with the best weights for each, from the given poles.

    Parameters
    ----------
    target : (n,) A*. root : (n, n) R. poles : (c,) the start. max_iterations : evaluations of the loss.
    """
    goal = root @ target
    limit = 1e140 ** (1 / arch.n_inputs)  # beyond it, squares of r^n overflow
    losses: list[float] = []

    def residual(r: np.ndarray) -> np.ndarray:
        rest = best_weights(root @ arch.basis(r)[0], goal)[1]
        losses.append(float(rest @ rest))
        if callback is not None:
            callback(min(losses))
        return rest

    def jacobian(r: np.ndarray) -> np.ndarray:
        filters, slopes = arch.basis(r)
        weights, _, u = best_weights(root @ filters, goal)
        steered = root @ (slopes * weights)
        return u @ (u.T @ steered) - steered

    begin = np.clip(poles, -0.99 * limit, 0.99 * limit)
    with np.errstate(over="ignore", invalid="ignore"):
        result = least_squares(
            residual,
            begin,
            jacobian,
            bounds=(-limit, limit),
            x_scale="jac",
            xtol=1e-13,
            ftol=1e-13,
            gtol=1e-15,
            max_nfev=max(max_iterations, 1),
        )
    weights = best_weights(root @ arch.basis(result.x)[0], goal)[0]
    params = arch.assemble(result.x, weights)
    loss = float(np.sum(np.square(root @ (arch.coefficients(params) - target))))
    history = [*np.minimum.accumulate(losses)[:-1].tolist(), loss]
    return Minimum(params, history, result.status > 0, str(result.message))


def projection_path(
    n_inputs: int,
    channels: int,
    target: np.ndarray,
    root: np.ndarray,
    rng: np.random.Generator,
    n_random: int = 2,
    max_iterations: int = 100,
    callback: Callable[[float], None] | None = None,
) -> list[Minimum]:
    """The best optimum found for 1, 2, …, ``channels`` channels, losses never increasing.

    For each number of channels the starts are the matrix pencil, the optimum with one channel less and the best further
    pole of :data:`GRID`, and ``n_random`` random ones; the previous optimum with an idle pole is kept where none is
    better. Once the target is attained to rounding, or there are more poles than half the inputs, further channels get
    random poles in (0, 1) and only the weights, shared by all, are solved for again.
    """
    goal = root @ target
    scale = float(goal @ goal)
    found: list[Minimum] = []
    previous = np.zeros(0)
    for c in range(1, channels + 1):
        arch = Recurrent(n_inputs, c)
        if found and (found[-1].history[-1] <= FLOOR * scale or 2 * c > n_inputs + 1):
            starts, limit = [np.append(previous, rng.uniform(0, 1))], 1
        else:
            starts, limit = _starts(arch, target, root, previous, rng, n_random), max_iterations
        best = min((minimise_poles(arch, target, root, r, limit) for r in starts), key=lambda m: m.history[-1])
        if found and not best.history[-1] <= found[-1].history[-1]:
            best = _with_idle_pole(arch, found[-1], starts[0])
        found.append(best)
        previous = arch.poles(best.params)
        if callback is not None:
            callback(best.history[-1])
    return found


def minimise_recurrent(
    arch: Recurrent,
    target: np.ndarray,
    root: np.ndarray,
    params: np.ndarray | None,
    rng: np.random.Generator,
    max_iterations: int = 100,
    n_random: int = 2,
    callback: Callable[[float], None] | None = None,
) -> Minimum:
    """The best optimum of :func:`projection_path` where ``params`` is None, else the local one from their poles."""
    if params is None:
        return projection_path(
            arch.n_inputs, arch.channels, target, root, rng, n_random, max_iterations, callback=callback
        )[-1]
    return minimise_poles(arch, target, root, arch.poles(params), max_iterations, callback)


def _starts(
    arch: Recurrent,
    target: np.ndarray,
    root: np.ndarray,
    previous: np.ndarray,
    rng: np.random.Generator,
    n_random: int,
) -> list[np.ndarray]:
    goal, c = root @ target, arch.channels
    filters = root @ arch.basis(previous)[0] if previous.size else np.zeros((goal.size, 0))
    singles = root @ arch.basis(GRID)[0]
    rests = [np.sum(np.square(best_weights(np.column_stack([filters, one]), goal)[1])) for one in singles.T]
    return [
        real_poles(pencil_poles(target, c), c),
        np.append(previous, GRID[int(np.argmin(rests))]),
        *(rng.uniform(-1, 1, c) for _ in range(n_random)),
    ]


def _with_idle_pole(arch: Recurrent, smaller: Minimum, start: np.ndarray) -> Minimum:
    """The optimum with one channel less, and a channel with weight zero."""
    less = Recurrent(arch.n_inputs, arch.channels - 1)
    poles = np.append(less.poles(smaller.params), start[-1])
    params = arch.assemble(poles, np.append(less.weights(smaller.params), 0.0))
    return Minimum(params, smaller.history, smaller.converged, "no start was better than an idle channel")
