"""Leverage scores of a tall matrix that comes in blocks of rows: Cholesky QR, in two to four passes.

With G = YᵀY = LLᵀ the rows of Q = Y L⁻ᵀ have squared norms equal to the leverage scores of Y. One Gram matrix
squares the condition number, so that Q is orthonormal up to ε·cond(Y)²; repeating the step on Q repairs that to
rounding while cond(Y)² < 1/ε (CholeskyQR2), and a shifted first step does so for any cond(Y) well below 1/ε.

Source: Yamamoto, Nakatsukasa, Yanagisawa & Fukaya (2015); Fukaya, Kannan, Nakatsukasa, Yamamoto & Yanagisawa (2020).
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svdvals
from threadpoolctl import threadpool_info, threadpool_limits

from capcore.checks.progress import tqdm
from capcore.processes.base import ADVICE

EPS = float(np.finfo(float).eps)
LARGEST_CONDITION = 1e13  # beyond it, hardly a digit of the column space is left in double precision
ORTHONORMAL = 1e-10  # ‖QᵀQ − 1‖, and so the relative error of every score, that needs no further step
MAX_STEPS = 5
Item = TypeVar("Item")
Result = TypeVar("Result")


class RowBlocks(Protocol):
    """A matrix (n_rows, n_columns) that returns any of its blocks of rows, as often as needed."""

    n_rows: int
    n_columns: int
    n_blocks: int

    def parts(self, block: int) -> Iterable[tuple[slice, np.ndarray]]:
        """Runs of rows of a block, and their transposes (n_columns, rows) in C order; called from several threads."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Leverage:
    """Leverage scores and their accuracy.

    Attributes
    ----------
    scores : (n_rows,) array
        Between 0 and 1; they sum to n_columns.
    condition : float
        Condition number of the matrix with columns of unit length.
    departure : float
        ‖QᵀQ − 1‖ (largest absolute row sum) of the basis behind the scores; bounds their relative error.
    """

    scores: np.ndarray
    condition: float
    departure: float


def default_threads() -> int:
    """The number of threads that BLAS would use now, given environment variables and limits."""
    return max([1, *(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")])


def in_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterable[Result]:
    """Apply ``work`` to every item, in order, on ``threads`` Python threads with one BLAS thread each.

    BLAS's own threads spin while they wait, which costs a factor of ten if another process is running. ``work`` should
    use NumPy's matrix products: SciPy's triangular BLAS routines block the other threads.
    """
    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, items) if threads > 1 else map(work, items)


def leverage_scores(matrix: RowBlocks, threads: int = 1, progress: bool = False) -> Leverage:
    """Leverage scores of the rows of a matrix of full column rank.

    Parameters
    ----------
    matrix : RowBlocks
        The matrix, by blocks of rows.
    threads : int
        Python threads that work on blocks.
    progress : bool
        Show a progress bar.

    Raises
    ------
    ValueError
        If the columns are numerically dependent: their condition number exceeds 1e13.
    """
    shown = partial(tqdm, desc="leverage scores", total=matrix.n_blocks, unit="block", disable=not progress)
    blocks = range(matrix.n_blocks)

    def gram(right: np.ndarray | None) -> np.ndarray:
        """(κ, κ) Gram matrix of Y times ``right``, the same to the last bit for any number of threads."""
        parts = in_threads(lambda i: sum(part @ part.T for _, part in _times(matrix, i, right)), blocks, threads)
        return sum(shown(parts), start=np.zeros((matrix.n_columns,) * 2))

    first = gram(None)
    scale = np.sqrt(np.diag(first))
    if not (np.isfinite(first).all() and scale.all()):
        raise ValueError("matrix: found a column of zeros or values that are not finite, expected full column rank.")
    inverse, condition, own = np.diag(1 / scale), 1.0, first / np.outer(scale, scale)
    for _ in range(MAX_STEPS):
        step, factor = _inverse_root(own, matrix.n_rows)
        inverse, condition, departure = inverse @ step, condition * factor, EPS * factor**2
        if departure < ORTHONORMAL or not condition < LARGEST_CONDITION:
            break
        own = gram(inverse)
        departure = float(np.abs(own - np.eye(len(own))).sum(axis=1).max())
        if departure < ORTHONORMAL:
            break
    if not (departure < ORTHONORMAL and condition < LARGEST_CONDITION):
        raise ValueError(
            f"matrix: numerically singular. Found condition number {condition:.1e}, expected at most "
            f"{LARGEST_CONDITION:.0e}. {ADVICE}"
        )
    return Leverage(row_norms(matrix, inverse, threads, progress), condition, departure)


def row_norms(matrix: RowBlocks, right: np.ndarray, threads: int = 1, progress: bool = False) -> np.ndarray:
    """(n_rows,) squared lengths of the rows of the matrix times ``right`` (κ, κ)."""
    norms = np.empty(matrix.n_rows)

    def measure(block: int) -> None:
        for rows, part in _times(matrix, block, right):
            norms[rows] = np.einsum("kr,kr->r", part, part)

    blocks = in_threads(measure, range(matrix.n_blocks), threads)
    for _ in tqdm(blocks, desc="lengths of rows", total=matrix.n_blocks, unit="block", disable=not progress):
        pass
    return norms


def _inverse_root(gram: np.ndarray, n_rows: int) -> tuple[np.ndarray, float]:
    """R⁻¹ and the condition number of R, for G = RᵀR with R upper triangular; G is shifted if necessary."""
    try:
        root = cholesky(gram)
    except LinAlgError:
        shift = 11 * (n_rows + len(gram) + 1) * EPS * float(np.linalg.norm(gram, 2))  # Fukaya et al., section 3
        root = cholesky(gram + min(shift, 1e-6) * np.eye(len(gram)))
    values = svdvals(root)
    return solve_triangular(root, np.eye(len(root))), float(values[0] / values[-1])


def _times(matrix: RowBlocks, block: int, right: np.ndarray | None) -> Iterator[tuple[slice, np.ndarray]]:
    """The parts of a block of Y times ``right`` (κ, κ), transposed as they come."""
    for rows, part in matrix.parts(block):
        yield rows, part if right is None else right.T @ part
