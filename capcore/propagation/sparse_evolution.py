"""The lattice law by sparse products: any boundary, any kernel, and a second route to what transforms give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import expm_multiply

from capcore.propagation.boundaries import check_boundary
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.evolution import Evolution, Segment, segment_axes, source_values
from capcore.propagation.generator import jumps
from capcore.propagation.matrix import representable
from capcore.propagation.power import with_channels

MOST_JUMPS = 1e5
"""In one segment: the work grows with them, and at 1e300 it would never end."""


def generator_matrix(
    rates: ConvolutionTransport, shape: tuple[int, ...], boundary: str = "periodic"
) -> sparse.csr_array:
    """Δ (n · C, n · C) of jump rates on n positions: columns sum to zero, less what an absorbing boundary takes.

    At a ``renormalised`` edge, jumps that would leave do not happen: what the normalised layers tend to.

    >>> rates = ConvolutionTransport.of_offsets({-1: 1.0, 1: 2.0})
    >>> generator_matrix(rates, (3,), "renormalised").toarray().tolist()
    [[-2.0, 1.0, 0.0], [2.0, -3.0, 1.0], [0.0, 2.0, -1.0]]
    """
    away = jumps(rates)
    above = (*shape, away.weights.shape[-1])
    check_boundary(boundary)
    kept = "absorbing" if boundary == "renormalised" else boundary
    matrix, lost = away.operator(above, kept)
    leaving = np.asarray(matrix.sum(axis=0)).reshape(-1)
    if boundary == "absorbing":
        leaving = leaving + lost
    representable(leaving, "rates")
    return (matrix - sparse.diags_array(leaving)).tocsr()


def evolve_sparse(initial: object, segments: Sequence[Segment], boundary: str = "periodic") -> Evolution:
    """The same as :func:`~capcore.propagation.evolution.evolve` for jump rates, with products of a sparse matrix.

    Raises ``ValueError`` for segments with limit coefficients, and for those with more than 1e5 jumps.

    >>> segment = Segment(1.0, ConvolutionTransport.of_offsets({1: 1.0}), leak=np.log(2))
    >>> result = evolve_sparse([1.0, 0.0, 0.0, 0.0], [segment], "absorbing")
    >>> result.final[:, 0].round(6).tolist()
    [0.18394, 0.18394, 0.09197, 0.030657]
    """
    capacity = with_channels(initial, segment_axes(segments))
    n, exponent = capacity.size, _exponent([capacity, *(source_values(each, capacity) for each in segments)])
    state, leaked = np.ldexp(capacity.reshape(-1), -exponent), np.zeros(n)
    leaked_by, supplied = [], float(capacity.sum())
    for segment in segments:
        if not isinstance(segment.generator, ConvolutionTransport):
            raise ValueError("segments: found limit coefficients, expected jump rates. Use `evolve` for the equation.")
        delta = generator_matrix(segment.generator, capacity.shape[:-1], boundary)
        source = source_values(segment, capacity).reshape(-1)
        most = segment.duration * (float(np.abs(delta.diagonal()).max()) + segment.leak)
        if most > MOST_JUMPS:
            raise ValueError(
                f"segments: found {most:.1e} jumps in one, expected at most {MOST_JUMPS:g} for sparse products. Use "
                "`evolve`, or smaller rates."
            )
        # d/dt (π, ∫π, 1) = (Δπ − απ + source, π, 0)
        system = sparse.block_array(
            [
                [
                    delta - segment.leak * sparse.eye_array(n),
                    None,
                    sparse.csr_array(np.ldexp(source[:, None], -exponent)),
                ],
                [sparse.eye_array(n), sparse.csr_array((n, n)), None],
                [None, None, sparse.csr_array((1, 1))],
            ]
        ).tocsr()
        after = expm_multiply(segment.duration * system, np.concatenate([state, np.zeros(n), [1.0]]))
        state = after[:n]
        lost = np.ldexp(segment.leak * after[n : 2 * n], exponent)
        leaked = leaked + lost
        leaked_by.append(float(lost.sum()))
        supplied += segment.duration * float(source.sum())
    final = representable(np.ldexp(state, exponent), "initial").reshape(capacity.shape)
    return Evolution(final, representable(leaked, "initial").reshape(capacity.shape), np.array(leaked_by), supplied)


def _exponent(parts: Sequence[np.ndarray]) -> int:
    """Power of two to divide capacities by: 0 up to a million times more or less than the one that stands beside them.

    The products are right relative to the largest number among all, and one of them is a constant 1.
    """
    exponent = int(np.frexp(max(float(part.max()) for part in parts))[1]) - 1
    return exponent if abs(exponent) > 20 else 0
