"""Products with the covariance of a stationary process by the fast Fourier transform.

A column of the tangent basis T of a tensor train is v ⊗ c, with c (m,) of its layer's lower factor and v (N,) of the
upper one, n = Nm. In phases i = mI + i₀ of the output,

    (Σ(v ⊗ c))_{mI + i₀} = Σ_K v_{I−K} g_{mK + i₀},   g = autocovariance ∗ c,

so one long transform serves all columns with the same c, and what remains are m convolutions of length 2N: short
batched transforms that fit into the cache, or a small matrix product if N is small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.fft import irfft, rfft
from tqdm import tqdm

from capcore.capacity.tangent_space import TangentSpace
from capcore.checks.arguments import finite_array
from capcore.large.leverage import in_threads
from capcore.large.quadratic import circulant_symbol
from capcore.processes import DENSE_LIMIT, Process
from capcore.processes.kernels import as_process
from capcore.processes.problem import Problem

DIRECT = 64  # N up to which the short convolutions are one matrix product
CACHED = 2**17  # numbers that a batch of short transforms works on at a time
TILE = 2048  # rows of a block


class FastProduct:
    """The columns of ΣT, computed layer by layer.

    Parameters
    ----------
    space : TangentSpace
        The tangent basis T (n · d, κ).
    autocovariance : (n,) or (n, d, d) array
        c_0 … c_{n−1}, or blocks C_0 … C_{n−1} with Σ_ij = C_|i−j|.
    """

    def __init__(self, space: TangentSpace, autocovariance: np.ndarray) -> None:
        self.space = space
        lags = np.asarray(autocovariance, dtype=float).reshape(space.n_inputs, space.input_dim, -1).transpose(1, 2, 0)
        circulant = np.concatenate([lags, np.zeros_like(lags[:, :, :1]), lags[:, :, :0:-1]], axis=2)
        self._symbol = rfft(circulant).real.copy()  # (d, d, n + 1): even, hence real

    @property
    def tasks(self) -> list[tuple[int, int]]:
        """Pairs of a layer (from 1) and a column of its lower factor: independent parts of the work."""
        layers = zip(self.space.complements, self.space.ranks_above, strict=True)
        return [(l, q) for l, (core, s) in enumerate(layers, 1) if s for q in range(core.shape[2])]

    def columns(self, layer: int, q: int) -> Iterator[tuple[int, np.ndarray]]:
        """Index and values (n · d,) of every column of ΣT that comes from column q of a layer's lower factor."""
        lower, upper = self.space.factors(layer)
        length, d = len(upper), self.space.input_dim
        block, stride = self.space.blocks[layer - 1], lower.shape[1]
        phases = self._convolved(lower[:, q].reshape(-1, d)).reshape(2 * length, -1)  # (2N, m · d)
        parts = _direct(phases, upper) if length <= DIRECT else _transformed(phases, upper)
        for s, values in enumerate(parts):
            yield block.start + s * stride + q, values.reshape(-1)

    def _convolved(self, lower: np.ndarray) -> np.ndarray:
        """(2n, d) autocovariance ∗ c, circular; the positions −n + m … n − 1, which are read, do not wrap around."""
        n = self.space.n_inputs
        spectrum = rfft(lower, 2 * n, axis=0).T  # (d, n + 1)
        mixed = [sum(row[b] * spectrum[b] for b in range(len(row))) for row in self._symbol]
        return np.stack([irfft(part, 2 * n) for part in mixed], axis=1)


def _direct(phases: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """(s, N, m · d) of phases (2N, m · d): for every column v of ``upper`` one circulant product."""
    length, s = upper.shape
    shifts = (np.arange(length)[:, None] - np.arange(2 * length)) % (2 * length)
    circulants = np.concatenate([upper, np.zeros_like(upper)])[shifts].transpose(2, 0, 1)  # (s, N, 2N)
    return (circulants.reshape(s * length, -1) @ phases).reshape(s, length, -1)


def _transformed(phases: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The same product by short transforms, a few phases at a time."""
    length, s = upper.shape
    spectra = rfft(upper.T, 2 * length)  # (s, N + 1)
    width = phases.shape[1]
    result = np.empty((s, length, width))
    step = min(width, max(8, CACHED // (2 * length)))
    for start in range(0, width, step):
        some = slice(start, start + step)
        batch = rfft(np.ascontiguousarray(phases[:, some].T))
        for values, spectrum in zip(result, spectra, strict=True):
            values[:, some] = irfft(batch * spectrum, 2 * length)[:, :length].T
    return result


class StoredProduct:
    """ΣT (n · d, κ), kept in memory in blocks of rows: see :class:`~capcore.large.leverage.RowBlocks`."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self.n_rows, self.n_columns = n_rows, n_columns
        self._tiles = [np.empty((n_columns, min(TILE, n_rows - i))) for i in range(0, n_rows, TILE)]
        self.n_blocks = len(self._tiles)

    def set_column(self, index: int, values: np.ndarray) -> None:
        """Store column ``index`` (n_rows,)."""
        for i, tile in enumerate(self._tiles):
            tile[index] = values[i * TILE : (i + 1) * TILE]

    def parts(self, block: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of a block, and their transpose (n_columns, rows)."""
        yield slice(block * TILE, block * TILE + self._tiles[block].shape[1]), self._tiles[block]


def store_product(product: FastProduct, threads: int = 1, progress: bool = False) -> StoredProduct:
    """All of ΣT, on ``threads`` Python threads, with a progress bar if asked for.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import AR1
    >>> arch = Hierarchical(channels=2, n_layers=4)
    >>> space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    >>> ((rows, part),) = store_product(FastProduct(space, AR1(0.5).autocovariance(16))).parts(0)
    >>> bool(np.allclose(part.T, AR1(0.5).covariance(16) @ space.basis()))
    True
    """
    space = product.space
    stored = StoredProduct(space.n_inputs * space.input_dim, space.dimension)

    def work(task: tuple[int, int]) -> None:
        for index, values in product.columns(*task):
            stored.set_column(index, values)

    tasks = product.tasks
    for _ in tqdm(in_threads(work, tasks, threads), "transforms", len(tasks), disable=not progress):
        pass
    return stored


Product = Callable[[np.ndarray], np.ndarray]


def covariance_product(process: Process | Problem, n_inputs: int, input_dim: int = 1) -> Product:
    """The function X ↦ Σ X for X (n_inputs · input_dim, m), position-major.

    A stationary process has a block Toeplitz Σ, which is applied by FFT and never formed; a
    :class:`~capcore.processes.problem.Problem` has its own dense Σ. Raises ``TypeError`` for anything else, and
    ``ValueError`` if dimensions do not fit or the covariance of the first 1,024 lags is not positive definite. Longer
    covariances are not checked: if Σ is numerically singular, the rank falls below the generic one.

    >>> from capcore.processes import AR1
    >>> covariance_product(AR1(0.5), 2)(np.eye(2)).round(12).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    rows = n_inputs * input_dim
    process = as_process(process, "process")
    if isinstance(process, Problem):
        matrix = finite_array(process.covariance, "covariance", 2)
        if matrix.shape != (rows, rows):
            raise ValueError(f"covariance: found a matrix of shape {matrix.shape}, expected {(rows, rows)}.")
        return matrix.__matmul__
    if not isinstance(process, Process):
        raise TypeError(f"process: found {type(process).__name__}, expected a Process, such as PowerLaw(0.5).")
    if process.input_dim != input_dim:
        raise ValueError(
            f"process: found {process.input_dim} component(s) per position, expected {input_dim} as in the model."
        )
    process.covariance(min(n_inputs, DENSE_LIMIT // input_dim or 1))  # raises if it is not a covariance
    spectrum = circulant_symbol(process.autocovariance(n_inputs).reshape(n_inputs, input_dim, input_dim))
    size = 2 * (len(spectrum) - 1)

    def product(x: np.ndarray) -> np.ndarray:
        transform = rfft(x.reshape(n_inputs, -1), n=size, axis=0).reshape(len(spectrum), input_dim, -1)
        scaled = spectrum * transform if input_dim == 1 else spectrum @ transform
        return irfft(scaled.reshape(len(spectrum), -1), n=size, axis=0)[:n_inputs].reshape(x.shape)

    return product
