"""The lattice law by dense exponentials: any boundary, any kernel, and a second route to what transforms give."""

import numpy as np
from scipy.linalg import expm

from capcore.propagation import Evolution
from capcore.propagation.generator import jumps


def generator_matrix(rates, shape, boundary):
    """Δ (n · C, n · C): columns sum to zero, less what an absorbing boundary takes."""
    matrix, lost = jumps(rates).operator(
        (*shape, rates.weights.shape[-1]), "absorbing" if boundary == "renormalised" else boundary
    )
    leaving = np.asarray(matrix.sum(axis=0)).reshape(-1) + (lost if boundary == "absorbing" else 0)
    return matrix.toarray() - np.diag(leaving)


def evolve_dense(initial, segments, boundary):
    """The same as :func:`~capcore.propagation.evolution.evolve` for jump rates on one axis, C channels last."""
    capacity = np.asarray(initial, dtype=float)
    capacity = capacity.reshape(len(capacity), -1)
    state, leaked, supplied = capacity.reshape(-1), np.zeros(capacity.size), capacity.sum()
    for segment in segments:
        n, source = state.size, np.zeros_like(state)
        if segment.source is not None:
            source = np.reshape(segment.source, -1)
        delta = generator_matrix(segment.generator, capacity.shape[:-1], boundary) - segment.leak * np.eye(n)
        zero = np.zeros((n, n))  # d/dt (π, ∫π, 1) = (Δπ − απ + source, π, 0)
        system = np.block([[delta, zero, source[:, None]], [np.eye(n), zero, zero[:, :1]], [np.zeros((1, 2 * n + 1))]])
        after = expm(segment.duration * system) @ np.concatenate([state, np.zeros(n), [1.0]])
        state, leaked = after[:n], leaked + segment.leak * after[n : 2 * n]
        supplied += segment.duration * source.sum()
    return Evolution(state.reshape(capacity.shape), leaked.reshape(capacity.shape), supplied)
