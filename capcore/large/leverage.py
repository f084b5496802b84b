"""Leverage scores of a tall matrix that comes in blocks of rows: Cholesky QR, in two to four passes.

With G = YᵀY = LLᵀ the rows of Q = Y L⁻ᵀ have squared norms equal to the leverage scores of Y. One Gram matrix
squares the condition number, so that Q is orthonormal up to ε·cond(Y)²; repeating the step on Q repairs that to
rounding while cond(Y)² < 1/ε (CholeskyQR2), and a shifted first step does so for any cond(Y) well below 1/ε.

Source: Yamamoto, Nakatsukasa, Yanagisawa & Fukaya (2015); Fukaya, Kannan, Nakatsukasa, Yamamoto & Yanagisawa (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svdvals
from threadpoolctl import threadpool_info, threadpool_limits
from tqdm import tqdm

EPS = float(np.finfo(float).eps)
LARGEST_CONDITION = 1e13  # beyond it, hardly a digit of the column space is left in double precision
ORTHONORMAL = 1e-10  # ‖QᵀQ − 1‖, and so the relative error of every score, that needs no further step
MAX_STEPS = 5
BLOCK = 128  # columns of a triangular factor that are inverted together
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


@dataclass(frozen=True, eq=False)
class Leverage:
    """Leverage scores, their accuracy and their cost.

    Attributes
    ----------
    scores : (n_rows,) array
        Between 0 and 1; they sum to n_columns.
    condition : float
        Condition number of the matrix with columns of unit length.
    departure : float
        ‖QᵀQ − 1‖ (largest absolute row sum) of the basis behind the scores; bounds their relative error.
    n_steps : int
        Cholesky steps taken.
    """

    scores: np.ndarray = field(repr=False)
    condition: float
    departure: float
    n_steps: int


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
    blocks = range(matrix.n_blocks)
    with tqdm(desc="leverage scores", total=len(blocks), unit="block", disable=not progress) as bar:
        gram = _sum_of_grams(matrix, None, threads, bar)
        scale = np.sqrt(np.diag(gram))
        if not (np.isfinite(gram).all() and scale.all()):
            raise ValueError(
                "matrix: found a column of zeros or values that are not finite, expected full column rank."
            )
        root, condition = _root(gram / np.outer(scale, scale), matrix.n_rows)
        root = root * scale  # upper R with RᵀR = G
        n_steps, departure = 1, EPS * condition**2
        while not departure < ORTHONORMAL and n_steps < MAX_STEPS:
            bar.total += len(blocks)
            gram = _sum_of_grams(matrix, root, threads, bar)
            departure = float(np.abs(gram - np.eye(len(gram))).sum(axis=1).max())
            if departure < ORTHONORMAL:
                break
            step, factor = _root(gram, matrix.n_rows)
            condition *= factor
            if not condition < LARGEST_CONDITION:
                break
            root = np.triu(step @ root)
            n_steps += 1
            departure = EPS * factor**2
        if not (departure < ORTHONORMAL and condition < LARGEST_CONDITION):
            raise ValueError(
                f"matrix: numerically singular. Found a condition number of at least {condition:.1e}, expected at most "
                f"{LARGEST_CONDITION:.0e}: the columns are dependent in double precision. Use a rougher process, or "
                "add white noise with process.with_nugget(variance)."
            )
        bar.total += len(blocks)
        scores = _scores(matrix, root, threads, bar)
    return Leverage(scores, condition, departure, n_steps)


def _root(gram: np.ndarray, n_rows: int) -> tuple[np.ndarray, float]:
    """Upper Cholesky factor of a Gram matrix, which is shifted if necessary, and its condition number."""
    try:
        root = cholesky(gram)
    except LinAlgError:
        shift = 11 * (n_rows + len(gram) + 1) * EPS * float(np.linalg.norm(gram, 2))  # Fukaya et al., section 3
        root = cholesky(gram + min(shift, 1e-6) * np.eye(len(gram)))
    values = svdvals(root)
    return root, float(values[0] / values[-1])


def _sum_of_grams(matrix: RowBlocks, root: np.ndarray | None, threads: int, bar: Any) -> np.ndarray:
    """(κ, κ) symmetric Gram matrix of Y R⁻¹, the same to the last bit for any number of threads."""
    groups = np.array_split(np.arange(matrix.n_blocks), min(64, matrix.n_blocks))
    solve = _solver(root)

    def partial(group: np.ndarray) -> np.ndarray:
        gram = np.zeros((matrix.n_columns,) * 2)
        for i in group:
            for _, part in matrix.parts(int(i)):
                solved = solve(part)
                gram += solved @ solved.T
            bar.update()
        return gram

    return sum(in_threads(partial, groups, threads), start=np.zeros((matrix.n_columns,) * 2))


def _scores(matrix: RowBlocks, root: np.ndarray, threads: int, bar: Any) -> np.ndarray:
    scores = np.empty(matrix.n_rows)
    solve = _solver(root)

    def work(i: int) -> None:
        for rows, part in matrix.parts(i):
            solved = solve(part)
            scores[rows] = np.einsum("kr,kr->r", solved, solved)
        bar.update()

    for _ in in_threads(work, range(matrix.n_blocks), threads):
        pass
    return scores


def _solver(root: np.ndarray | None) -> Callable[[np.ndarray], np.ndarray]:
    """Y → Y R⁻¹ for transposes (κ, rows), a block of columns of R at a time; the identity without ``root``."""
    if root is None:
        return lambda part: part
    edges = [*range(0, len(root), BLOCK), len(root)]
    steps = []
    for start, stop in pairwise(edges):
        own = slice(start, stop)
        inverse = solve_triangular(root[own, own], np.eye(stop - start))
        steps.append((own, np.ascontiguousarray(inverse.T), np.ascontiguousarray(root[:start, own].T)))

    def solve(part: np.ndarray) -> np.ndarray:
        solved = np.empty_like(part)
        for own, inverse, above in steps:
            solved[own] = inverse @ (part[own] - above @ solved[: own.start])
        return solved

    return solve
