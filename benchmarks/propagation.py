"""Capacity propagation: a power of the symbol against the layers one by one, and the limits against sparse products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.integrate import solve_ivp
from scipy.sparse.linalg import expm_multiply
from scipy.stats import skellam

from benchmarks.measure import Row, Skipped, best_of, peer
from capcore.propagation import (
    ConvolutionTransport,
    LimitCoefficients,
    Segment,
    evolve,
    propagate,
    propagate_equal,
    residual,
)


def rows(quick: bool = False) -> Iterator[Row | Skipped]:
    """Deep convolutional networks, with rates of order one over all layers."""
    n = 1_000 if quick else 100_000
    yield _against_layers(n, 50 if quick else 1_000)
    yield _deepest(n, 1_000 if quick else 1_000_000)
    yield _lattice_against_sparse(n)
    yield _heat_against_method_of_lines(128 if quick else 1_024)
    yield _heat_against_pde_package(128 if quick else 1_024)


def _against_layers(n: int, n_layers: int) -> Row:
    """Where the layer-by-layer product still runs."""
    rates = ConvolutionTransport.of_offsets({-2: 1.0, -1: 3.0, 1: 2.0, 3: 1.0})
    step, output = residual(rates, max(n_layers, 10)), np.random.default_rng(0).uniform(size=n)
    seconds, ours = best_of(lambda: propagate_equal(output, step, n_layers), 3)
    peer_seconds, theirs = best_of(lambda: propagate(output, [step] * n_layers).input)
    gap = float(np.abs(ours - theirs).max())
    work = f"{n_layers:,} layers of five taps on {n:,} positions"
    name = "layer by layer, SciPy sparse matrix"
    return Row(work, name, seconds, peer_seconds, f"largest difference {gap:.0e}", gap < 1e-12)


def _deepest(n: int, n_layers: int) -> Row:
    """The target: under a second. The peer's time is that of a few more layers, in proportion, without its set-up."""
    d, few, more = 50.0, 20, 120
    step = residual(ConvolutionTransport.of_offsets({-1: d, 1: d}), n_layers)
    output = np.zeros(n)
    output[n // 2] = 1
    seconds, ours = best_of(lambda: propagate_equal(output, step, n_layers)[:, 0], 3)
    times = [best_of(lambda k=k: propagate(output, [step] * k).input, 3)[0] for k in (few, more)]  # type: ignore[misc]
    peer_seconds = max(times[1] - times[0], 1e-9) * n_layers / (more - few)
    law = skellam.pmf(np.arange(n) - n // 2, d, d)
    distance, missing = float(np.abs(ours - law).sum()), abs(float(ours.sum()) - 1)
    work = f"{n_layers:,} layers of three taps on {n:,} positions"
    name = f"layer by layer, SciPy sparse matrix, {more - few} layers in proportion"
    agreement = f"{distance:.0e} from the lattice law, wanted at most 1/N; mass missing {missing:.0e}"
    return Row(work, name, seconds, peer_seconds, agreement, distance <= 1 / n_layers and missing < 1e-12)


def _ring(rates: ConvolutionTransport, n: int) -> sparse.csr_array:
    """The generator Δ of jump rates on n positions in a ring."""
    matrix = rates.operator((n, 1))[0]
    return (matrix - sparse.diags_array(np.asarray(matrix.sum(axis=0)).reshape(-1))).tocsr()


def _lattice_against_sparse(n: int) -> Row:
    """exp(tΔ) with a leak α, and what leaked: d/dt (π, ∫π) = (Δπ − απ, π)."""
    rates, leak = ConvolutionTransport.of_offsets({-1: 30.0, 2: 10.0}), 0.7
    output = np.random.default_rng(1).uniform(size=n)

    def products() -> np.ndarray:
        one = sparse.eye_array(n)
        system = sparse.block_array([[_ring(rates, n) - leak * one, None], [one, sparse.csr_array((n, n))]]).tocsr()
        return np.asarray(expm_multiply(system, np.concatenate([output, np.zeros(n)]))) * np.repeat([1.0, leak], n)

    seconds, ours = best_of(lambda: evolve(output, [Segment(1.0, rates, leak)]), 3)
    peer_seconds, theirs = best_of(products)
    gap = float(np.abs(np.concatenate([ours.final[:, 0], ours.leaked[:, 0]]) - theirs).max())
    work = f"lattice law with a leak on {n:,} positions"
    return Row(work, "SciPy expm_multiply", seconds, peer_seconds, f"largest difference {gap:.0e}", gap < 1e-11)


def _heat_against_method_of_lines(n: int) -> Row:
    """The equation on a periodic range, against second differences: a wave that decays as e^{−t/2}."""
    wave = np.cos(2 * np.pi * np.arange(n) / n)
    output, d, exact = 1 + wave, (n / (2 * np.pi)) ** 2 / 2, 1 + np.exp(-0.5) * wave
    equation = LimitCoefficients(np.array([[d]]), np.zeros(1))
    delta = _ring(ConvolutionTransport.of_offsets({-1: d, 1: d}), n).tocsc()

    def lines() -> np.ndarray:
        return solve_ivp(lambda _, u: delta @ u, (0, 1), output, "BDF", jac=delta, rtol=1e-6, atol=1e-9).y[:, -1]

    seconds, ours = best_of(lambda: evolve(output, [Segment(1.0, equation)]).final[:, 0], 3)
    peer_seconds, theirs = best_of(lines, 3)
    errors = [float(np.abs(solution - exact).max()) for solution in (ours, theirs)]
    name = "method of lines, SciPy BDF with its sparse Jacobian"
    agreement = f"error {errors[0]:.0e} against {errors[1]:.0e}"
    holds = errors[0] < 1e-12 and errors[1] < 1e-2
    return Row(f"heat equation on {n:,} positions", name, seconds, peer_seconds, agreement, holds)


def _heat_against_pde_package(cells: int) -> Row | Skipped:
    """A narrow bump on a ring, each on a grid that suits it: ours on the coarsest that is no less accurate.

    py-pde is given the fastest of its solvers for this equation, compiled beforehand.
    """
    work, diffusion, width = "heat equation for a narrow bump, to the same error", 0.005, 0.03
    pde = peer("pde")
    if pde is None:
        return Skipped(work, "py-pde")

    def bump(x: np.ndarray, t: float) -> np.ndarray:
        variance = width**2 + 2 * diffusion * t
        turns = x[:, None] - 0.5 + np.arange(-4, 5)
        return np.exp(-(turns**2) / (2 * variance)).sum(axis=1) / np.sqrt(2 * np.pi * variance)

    grid = pde.CartesianGrid([[0, 1]], cells, periodic=True)
    x = grid.axes_coords[0]
    equation = pde.DiffusionPDE(diffusivity=diffusion)
    stepper = pde.RungeKuttaSolver(equation, backend="numba", adaptive=True, tolerance=1e-6).make_stepper(
        pde.ScalarField(grid, bump(x, 0)), dt=1e-4
    )

    def package() -> np.ndarray:
        state = pde.ScalarField(grid, bump(x, 0))
        stepper(state, 0.0, 1.0)
        return np.asarray(state.data)

    def ours(n: int) -> np.ndarray:
        segment = Segment(1.0, LimitCoefficients(np.array([[diffusion * n**2]]), np.zeros(1)))
        return evolve(bump(np.arange(n) / n, 0), [segment]).final[:, 0]

    package()
    peer_seconds, theirs = best_of(package, 3)
    peer_error = float(np.abs(theirs - bump(x, 1)).max())
    errors = {n: float(np.abs(ours(n) - bump(np.arange(n) / n, 1)).max()) for n in (16, 32, 64, 128)}
    n = min(size for size, error in errors.items() if error <= peer_error)
    seconds, _ = best_of(lambda: ours(n), 3)
    name = f"py-pde, compiled adaptive Runge–Kutta, {cells:,} cells"
    agreement = f"error {errors[n]:.0e} on {n} positions against {peer_error:.0e}"
    return Row(work, name, seconds, peer_seconds, agreement, errors[n] <= peer_error < 1e-2)
