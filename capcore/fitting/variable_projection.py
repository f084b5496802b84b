"""Fit recurrent models (paper 1, Eq. 21): for given poles the best weights are eliminated, only the poles are searched.

Variable projection (Golub & Pereyra, 1973), with the Jacobian of the projected residual in Kaufman's form (1975).

Starts are what matters: one is the matrix pencil of the target, one adds the best single pole of a grid to the optimum
with one channel less, others are random. Solved for 1, 2, … channels in turn, the loss never increases.

The matrix pencil: the Hankel matrix H_ij = A_{i+j} of a sum of c exponentials has rank c, and shifting its column space
by one row multiplies it by the poles (Hua & Sarkar, 1990). Complex poles come in conjugate pairs.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize
from scipy.linalg import eigvals, hankel, lstsq, svd

from capcore.architectures.recurrent import Recurrent
from capcore.fitting.gauss_newton import EPS, Minimum
from capcore.fitting.projection import least_squares

FLOOR = 1e-28  # of ‖RA*‖²: the target is attained to rounding
MERGED = 4 * EPS  # of the largest singular value: below it directions are dropped, so that merged poles cost nothing
SMALL = 1e-20  # of ‖RA*‖²: what is left is not worth a search with more poles than the target's Hankel matrix shows
RANDOM_STARTS = 2  # for each number of channels
GRID = np.tanh(np.linspace(-3, 3, 61))
"""Single poles tried beside the optimum with one channel less; as a first pole, their inverses, too."""


def minimise_poles(
    arch: Recurrent,
    target: np.ndarray,
    root: np.ndarray,
    poles: np.ndarray,
    max_iterations: int = 100,
    callback: Callable[[float], None] | None = None,
) -> Minimum:
    """A local minimum of ‖R(A − A*)‖² over the poles, with the best weights for each, from the given poles.

    Poles stay below a modulus at which squares of r^n would overflow. The last loss of ``history`` is computed from the
    parameters themselves, with their rounding; the earlier ones are those of the projection.

    Parameters
    ----------
    target : (n,) array
        A*.
    root : (n, n) array
        R.
    poles : (c,) array
        The start.
    max_iterations : int
        Evaluations of the loss, at least one.
    """
    limit, largest = pole_limit(arch.n_inputs), np.abs(root).max()
    if not 1e-4 <= largest <= 1e100:  # the search stops at an absolute slope
        raise ValueError(f"root: found entries up to {largest:.1e}, expected 1e-4 to 1e100. Use other units.")
    goal = root @ target
    losses = []

    def residual(r: np.ndarray) -> np.ndarray:
        _, span = least_squares(root @ arch.basis(r)[0], goal, MERGED)
        rest = goal - span @ (span.T @ goal)
        losses.append(float(rest @ rest))
        if callback is not None:
            callback(min(losses))
        return rest

    def jacobian(r: np.ndarray) -> np.ndarray:
        filters, slopes = arch.basis(r)
        weights, span = least_squares(root @ filters, goal, MERGED)
        steered = root @ (slopes * weights)
        return span @ (span.T @ steered) - steered

    with np.errstate(over="ignore", invalid="ignore"):
        start = np.clip(poles, -limit, limit)
        options = {"max_nfev": max(max_iterations, 1), "xtol": 1e-13, "ftol": 1e-13, "gtol": 1e-15}
        result = optimize.least_squares(residual, start, jacobian, (-limit, limit), x_scale="jac", **options)
        weights, _ = least_squares(root @ arch.basis(result.x)[0], goal, MERGED)
    params = arch.assemble(result.x, weights)
    loss = float(np.sum(np.square(root @ (arch.coefficients(params) - target))))
    history = [*np.minimum.accumulate(losses)[:-1].tolist(), loss]
    return Minimum(params, history, result.status > 0, str(result.message))


def pole_limit(n_inputs: int) -> float:
    """Largest modulus of a pole in a search.

    >>> round(pole_limit(64))
    154
    """
    return 1e140 ** (1 / n_inputs)


def projection_path(
    model: Recurrent,
    channels: Sequence[int],
    target: np.ndarray,
    root: np.ndarray,
    rng: np.random.Generator,
    max_iterations: int = 100,
    callback: Callable[[float], None] | None = None,
) -> dict[int, Minimum]:
    """Number of channels → the best optimum found, losses never increasing in c.

    For 1, 2, 3, … channels the starts are the matrix pencil, the optimum with one channel less and the best further
    pole of :data:`GRID` (a first pole may also grow with the lag), and two random ones. One goes on until there are as
    many poles as half the inputs, or the target is attained to rounding (or nearly so, and shows no further poles).
    Larger models start from that optimum with random poles in (0, 1) added, and from poles spread over (−1, 1); they
    are searched if they have no more poles than inputs and the target was not attained. Where no start is better than
    a smaller model, that is kept with idle channels.

    Parameters
    ----------
    model : Recurrent
        The model, with any number of channels.
    channels : list of int
        The numbers of channels wanted; what is found for one depends on the others by rounding only.
    target : (n,) array
        A*.
    root : (n, n) array
        R.
    max_iterations : int
        Evaluations of the loss from each start.

    Examples
    --------
    >>> from capcore.architectures.recurrent import Recurrent
    >>> target, rng = np.array([1.0, 0.5, 0.25, 1.0]), np.random.default_rng(0)
    >>> path = projection_path(Recurrent(4, 1), [1, 2], target, np.eye(4), rng)
    >>> bool(path[2].history[-1] <= path[1].history[-1])
    True
    """
    goal = root @ target
    scale, shown = float(goal @ goal), hankel_vectors(target).shape[1]

    optima: dict[int, Minimum] = {}

    def search(arch: Recurrent, starts: list[np.ndarray], limit: int) -> Minimum:
        ends = (minimise_poles(arch, target, root, r, max_iterations=limit) for r in starts)
        best = min(ends, key=lambda end: end.history[-1])
        smaller = optima[max(optima)] if optima else best
        if not best.history[-1] <= smaller.history[-1]:
            best = _with_idle_poles(arch, smaller, starts[0])
        if callback is not None:
            callback(best.history[-1])
        return best

    base = np.zeros(0)
    for c in range(1, max(channels) + 1):
        arch = Recurrent(model.n_inputs, c)
        optima[c] = search(arch, _starts(arch, target, root, base, rng), max_iterations)
        base, lowest = arch.poles(optima[c].params), optima[c].history[-1]
        negligible = lowest <= FLOOR * scale or (lowest <= SMALL * scale and c >= shown)
        if negligible or 2 * c >= model.n_inputs:
            break
    further = rng.uniform(0, 1, max(max(channels) - base.size, 0))
    for c in sorted(set(channels) - set(optima)):
        starts = [np.append(base, further[: c - base.size]), np.cos(np.pi * (np.arange(c) + 0.5) / c)]
        limit = 1 if negligible or c > model.n_inputs else max_iterations
        optima[c] = search(Recurrent(model.n_inputs, c), starts[: 1 if negligible else 2], limit)
    return {c: optima[c] for c in sorted(set(channels))}


def _starts(
    arch: Recurrent, target: np.ndarray, root: np.ndarray, previous: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    goal, c = root @ target, arch.channels
    filters = root @ arch.basis(previous)[0]
    beyond = [] if previous.size else [1 / GRID[np.abs(GRID) >= 1 / pole_limit(arch.n_inputs)]]

    def best_single(grid: np.ndarray) -> float:
        singles = root @ arch.basis(grid)[0]
        spans = (least_squares(np.column_stack([filters, one]), goal, MERGED)[1] for one in singles.T)
        rests = [np.sum(np.square(goal - span @ (span.T @ goal))) for span in spans]
        return float(grid[int(np.argmin(rests))])

    return [
        real_poles(pencil_poles(target, c), c),
        *(np.append(previous, best_single(grid)) for grid in [GRID, *beyond]),
        *(rng.uniform(-1, 1, c) for _ in range(RANDOM_STARTS)),
    ]


def _with_idle_poles(arch: Recurrent, smaller: Minimum, start: np.ndarray) -> Minimum:
    """The optimum with fewer channels, and further channels with the last poles of ``start`` and weights of zero."""
    less = Recurrent(arch.n_inputs, smaller.params.size // 3)
    poles, weights = np.append(less.poles(smaller.params), start[less.channels :]), np.zeros(arch.channels)
    weights[: less.channels] = less.weights(smaller.params)
    params = arch.assemble(poles, weights)
    return Minimum(params, smaller.history, smaller.converged, "no start was better than idle channels")


def hankel_vectors(target: np.ndarray) -> np.ndarray:
    """(n // 2, r) left singular vectors of the Hankel matrix of a target (n,), one for each pole that it shows.

    In double precision: the singular values are above 1e-14 of the largest.

    >>> hankel_vectors(0.5 ** np.arange(8) + 2 * 0.25 ** np.arange(8)).shape
    (4, 2)
    """
    half = target.size // 2
    if half == 0:
        return np.zeros((0, 0))
    u, s, _ = svd(hankel(target[:half], target[half - 1 :]), full_matrices=False)
    return u[:, s > 1e-14 * s[0]]


def pencil_poles(target: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` complex poles of the target, by the matrix pencil of its Hankel matrix, the largest first.

    A target that is a sum of exponentials gives its own poles:

    >>> np.round(pencil_poles(0.5 ** np.arange(8) + 2 * 0.25 ** np.arange(8), 2).real, 9).tolist()
    [0.5, 0.25]
    """
    u = hankel_vectors(target)[:, : min(count, target.size // 2 - 1)]
    if not u.size:
        return np.zeros(0, complex)
    poles = eigvals(lstsq(u[:-1], u[1:])[0])
    return poles[np.argsort(-np.abs(poles), kind="stable")]


def real_poles(poles: np.ndarray, count: int) -> np.ndarray:
    """(count,) real poles near the given ones: a complex pair becomes two poles either side of its real part."""
    chosen = []
    for pole in poles:
        if pole.imag > 1e-9:
            chosen += [pole.real - 0.05, pole.real + 0.05]
        elif pole.imag >= -1e-9:
            chosen.append(float(pole.real))
    chosen = chosen[:count]
    return np.array(chosen + np.linspace(0, 0.95, count - len(chosen)).tolist())
