"""Singular values of single large matrices, against the call that WeightWatcher 0.7.7 makes for them.

That is ``scipy.linalg.svd(W, compute_uv=False)`` in double precision, LAPACK's ``gesdd``; at these sizes the rest of
its table takes little. Seconds are the processor's: other processes lengthen them less than the time on the wall.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import numpy as np
from scipy.linalg import svd

from benchmarks.measure import Row, best_of_each
from capcore.spectra.weightwatcher import RELATIVE, large_singular_values

EPSILON = float(np.finfo(float).eps)
SHAPES = [(1024, 4096), (2048, 2048), (2048, 8192), (4096, 4096), (4096, 11008)]
SMALL = [(40, 160), (60, 60)]


def rows(quick: bool = False) -> Iterator[Row]:
    """Gaussian noise of single precision; then a matrix that the fastest route refuses."""
    rng = np.random.default_rng(0)
    for shape in SMALL if quick else SHAPES:
        yield _matrix_row("noise", rng.standard_normal(shape).astype(np.float32))
    rows, columns = SMALL[0] if quick else SHAPES[2]
    yield _matrix_row("condition 1e6", _ill_conditioned(rng, rows, columns, 1e6))


def _ill_conditioned(rng: np.random.Generator, rows: int, columns: int, condition: float) -> np.ndarray:
    left, right = (np.linalg.qr(rng.standard_normal((size, rows)))[0] for size in (rows, columns))
    return ((left * np.geomspace(1, 1 / condition, rows)) @ right.T).astype(np.float32)


def _matrix_row(kind: str, weights: np.ndarray) -> Row:
    matrix = weights.astype(float)
    (seconds, values), (peer_seconds, expected) = best_of_each(
        lambda: large_singular_values(matrix), lambda: svd(matrix, compute_uv=False), 2, process_time
    )
    gaps, largest = np.abs(values - expected), expected[0]
    allowed = (10 + max(matrix.shape)) * EPSILON * largest + RELATIVE / 2 * expected
    shape = " × ".join(map(str, matrix.shape))
    work = f"singular values, {shape}, {kind}, CPU time"
    name = "SciPy's svd without vectors, LAPACK's gesdd"
    agreement = (
        f"relative differences up to {(gaps / expected).max():.0e}, of the largest value {gaps.max() / largest:.0e}"
    )
    return Row(work, name, seconds, peer_seconds, agreement, bool((gaps <= allowed).all()))
