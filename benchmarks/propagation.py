"""Capacity propagation: a power of the symbol against the layers one by one, and the limits against sparse products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.measure import Row, best_of
from capcore.propagation import (
    ConvolutionTransport,
    LimitCoefficients,
    Segment,
    evolve,
    evolve_sparse,
    generator_matrix,
    nearest_neighbour_law,
    propagate,
    propagate_equal,
    residual,
)


def rows(quick: bool = False) -> Iterator[Row]:
    """Deep convolutional networks, with rates of order one over all layers."""
    n = 1_000 if quick else 100_000
    yield _against_layers(n, 50 if quick else 1_000)
    yield _deepest(n, 1_000 if quick else 1_000_000)
    yield _lattice_against_sparse(n)
    yield _heat_against_method_of_lines(128 if quick else 1_024)


def _against_layers(n: int, n_layers: int) -> Row:
    """Where the layer-by-layer product still runs."""
    rates = ConvolutionTransport.of_offsets({-2: 1.0, -1: 3.0, 1: 2.0, 3: 1.0})
    step, output = residual(rates, max(n_layers, 10)), np.random.default_rng(0).uniform(size=n)
    seconds, ours = best_of(lambda: propagate_equal(output, step, n_layers), 3)
    peer_seconds, theirs = best_of(lambda: propagate(output, [step] * n_layers).input)
    gap = float(np.abs(ours - theirs).max())
    return Row(
        f"{n_layers:,} layers of five taps on {n:,} positions",
        "layer by layer, SciPy sparse matrix",
        seconds,
        peer_seconds,
        f"largest difference {gap:.0e}",
        gap < 1e-12,
    )


def _deepest(n: int, n_layers: int) -> Row:
    """The target: under a second. The peer's time is that of a few more layers, in proportion, without its set-up."""
    d, few, more = 50.0, 20, 120
    step = residual(ConvolutionTransport.of_offsets({-1: d, 1: d}), n_layers)
    output = np.zeros(n)
    output[n // 2] = 1
    seconds, ours = best_of(lambda: propagate_equal(output, step, n_layers)[:, 0], 3)
    times = [best_of(lambda k=k: propagate(output, [step] * k).input, 3)[0] for k in (few, more)]  # type: ignore[misc]
    peer_seconds = max(times[1] - times[0], 1e-9) * n_layers / (more - few)
    law = nearest_neighbour_law(np.arange(n) - n // 2, d, d)
    distance, missing = float(np.abs(ours - law).sum()), abs(float(ours.sum()) - 1)
    return Row(
        f"{n_layers:,} layers of three taps on {n:,} positions",
        f"layer by layer, SciPy sparse matrix, {more - few} layers in proportion",
        seconds,
        peer_seconds,
        f"{distance:.0e} from the lattice law, wanted at most 1/N; mass missing {missing:.0e}",
        distance <= 1 / n_layers and missing < 1e-12,
    )


def _lattice_against_sparse(n: int) -> Row:
    """exp(tΔ) with a leak."""
    segment = Segment(1.0, ConvolutionTransport.of_offsets({-1: 30.0, 2: 10.0}), 0.7)
    output = np.random.default_rng(1).uniform(size=n)
    seconds, ours = best_of(lambda: evolve(output, [segment]), 3)
    peer_seconds, theirs = best_of(lambda: evolve_sparse(output, [segment]))
    gap = max(float(np.abs(a - b).max()) for a, b in ((ours.final, theirs.final), (ours.leaked, theirs.leaked)))
    return Row(
        f"lattice law with a leak on {n:,} positions",
        "SciPy expm_multiply",
        seconds,
        peer_seconds,
        f"largest difference {gap:.0e}",
        gap < 1e-11,
    )


def _heat_against_method_of_lines(n: int) -> Row:
    """The equation on a periodic range, against second differences: a wave that decays as e^{−t/2}."""
    wave = np.cos(2 * np.pi * np.arange(n) / n)
    output, d, exact = 1 + wave, (n / (2 * np.pi)) ** 2 / 2, 1 + np.exp(-0.5) * wave
    equation = LimitCoefficients(np.array([[d]]), np.zeros(1))
    delta = generator_matrix(ConvolutionTransport.of_offsets({-1: d, 1: d}), (n,)).tocsc()

    def lines() -> np.ndarray:
        return solve_ivp(lambda _, u: delta @ u, (0, 1), output, "BDF", jac=delta, rtol=1e-6, atol=1e-9).y[:, -1]

    seconds, ours = best_of(lambda: evolve(output, [Segment(1.0, equation)]).final[:, 0], 3)
    peer_seconds, theirs = best_of(lines, 3)
    errors = [float(np.abs(solution - exact).max()) for solution in (ours, theirs)]
    return Row(
        f"heat equation on {n:,} positions",
        "method of lines, SciPy BDF with its sparse Jacobian",
        seconds,
        peer_seconds,
        f"error {errors[0]:.0e} against {errors[1]:.0e}",
        errors[0] < 1e-12 and errors[1] < 1e-2,
    )
