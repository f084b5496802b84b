"""Compute ΣT in chunks of inputs, never as a whole: exact near lags, and decaying exponentials for the far ones.

A chunk is one setting of the upper layers' digits: B = n_1 ⋯ n_b successive positions. The columns of layers up to b
differ between chunks only by V_b: T = Σ_r V_b[I, r] F_r. Those of layers above b contain a chunk only as U_b: T = U_b
C_I.

T is thus made of the same few columns in every chunk, and so are its products with the covariance inside a chunk and
between neighbours. What chunks farther away contribute, at lags above B, is
Σ_k w_k z_k^lag: one number for each exponential and column carries it from chunk to chunk, from either end. These
states enter a chunk through smooth functions of the position in it, of which about 26 are independent in double
precision.
"""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import matmul_toeplitz, svd

from capcore.capacity.tangent_space import TangentSpace, _lower_frame, _raise_frame
from capcore.large.exponentials import fit_exponentials, known_poles
from capcore.processes import Process

CHUNK = 512  # approximate number of positions in a chunk
GROUP = 8  # chunks in a block of rows
EPS = float(np.finfo(float).eps)


class StreamedProduct:
    """ΣT (n, κ), computed block by block on demand: see :class:`~capcore.large.leverage.RowBlocks`.

    Parameters
    ----------
    space : TangentSpace
        The tangent basis.
    process : Process
        A process of one component.

    Attributes
    ----------
    max_error : float
        Largest error of the exponentials at any lag, relative to c_0.

    Raises
    ------
    NoExponentialsError
        If the far lags are not a sum of exponentials.
    """

    def __init__(self, space: TangentSpace, process: Process) -> None:
        self.n_rows, self.n_columns = space.n_inputs, space.dimension
        self._cut(space)
        self.n_blocks = -(-self.count // GROUP)
        autocovariance = process.autocovariance(space.n_inputs)
        far = fit_exponentials(autocovariance, min(self.size + 1, space.n_inputs), known_poles(process))
        self.max_error = far.max_error
        self._near(autocovariance[: 2 * self.size])
        self._far(far.rates, far.weights, EPS / 2 * float(autocovariance[0]))

    def _cut(self, space: TangentSpace) -> None:
        """T in chunks of as close to 512 positions as possible.

        ``fixed`` (s, κ_low, B): the F_r, transposed; ``weights`` (N + 2, s): V_b, and ``coarse`` (N + 2, p, κ_high):
        the C_I, with zeros at either end; ``frame`` (p, B): U_b, transposed.
        """
        extents = np.array([*space.extents[1:], space.n_inputs], dtype=float)
        depth = int(np.argmin(np.abs(np.log(extents / CHUNK)))) + 1  # b
        self.size = int(extents[depth - 1])
        self.count = space.n_inputs // self.size
        rank = space.ranks_above[depth - 1]
        lower = TangentSpace(space.below[:depth], space.complements[:depth], []).lower
        upper = np.eye(rank)[:, None, :]  # (r, positions, s_l): V_l in terms of V_b
        fixed: list[np.ndarray] = []
        for l in range(depth, 0, -1):
            raised = _raise_frame(lower[l - 1], space.complements[l - 1])
            block = np.einsum("rus,mq->rsqum", upper, raised)
            fixed.insert(0, block.reshape(rank, upper.shape[2] * raised.shape[1], self.size))
            if l > 1:
                upper = _lower_frame(upper, space.above[l - 2])
        self.fixed = np.concatenate(fixed, axis=1)
        self.weights = np.pad(TangentSpace([], [], space.above[depth - 1 :]).upper[0], ((1, 1), (0, 0)))
        self.frame, coarse = np.zeros((0, self.size)), np.zeros((self.count, 0, 0))
        if depth < space.n_layers:
            train = TangentSpace(space.below[depth:], space.complements[depth:], space.above[depth:])
            self.frame = lower[depth].T
            coarse = train.basis().reshape(self.count, len(self.frame), train.dimension)
        self.coarse = np.pad(coarse, ((1, 1), (0, 0), (0, 0)))

    def _near(self, autocovariance: np.ndarray) -> None:
        """Products of the fixed columns with the covariance of a chunk and its neighbours."""
        rank, low, size = self.fixed.shape
        inputs = np.concatenate([self.fixed.reshape(rank * low, size), self.frame])
        lags = np.pad(autocovariance, (0, 3 * size - len(autocovariance)))
        output = matmul_toeplitz(lags, np.pad(inputs.T, ((size, size), (0, 0))))
        # The first third is what the chunk before receives from this one, the last what the chunk after receives: in
        # reverse, what a chunk receives from the one before, from itself, and from the one after.
        near = output.reshape(3, size, len(inputs))[::-1].transpose(0, 2, 1)
        self._near_fixed = near[:, : rank * low].reshape(3 * rank, low * size)
        self._near_frame = near[:, rank * low :].reshape(3 * len(self.frame), size)

    def _far(self, rates: np.ndarray, weights: np.ndarray, negligible: float) -> None:
        """What each chunk receives at far lags: functions of the position (k, B), and their coefficients (N, k, κ)."""
        ahead = np.exp(-np.outer(rates, np.arange(self.size)))  # z^i
        behind = ahead[:, ::-1]
        decay = np.exp(-rates * self.size)[:, None]
        outputs = np.vstack([ahead, behind]) * np.tile(weights, 2)[:, None]
        _, s, vt = svd(np.vstack([outputs.real, outputs.imag]), full_matrices=False)
        self._smooth = smooth = vt[s > negligible]  # dropping the rest changes no lag by more than ε of c_0
        self._received = np.zeros((self.count, len(smooth), self.n_columns))
        # From the left, ``behind`` adds T to the states and ``ahead`` reads them; from the right it is the reverse.
        for adds, reads, step in ((behind, ahead, 1), (ahead, behind, -1)):
            fixed = np.einsum("mx,rcx->rmc", adds, self.fixed, optimize=True)
            frame, out = adds @ self.frame.T, smooth @ (reads * weights[:, None]).T
            state = entering = np.zeros((rates.size, self.n_columns))
            for i in range(self.count)[::step]:
                self._received[i] += (out @ state).real
                state = decay * state + entering  # that of the chunk after the next: a neighbour is near
                entering = np.hstack([np.tensordot(self.weights[i + 1], fixed, 1), frame @ self.coarse[i + 1]])

    def tangents(self, block: int) -> np.ndarray:
        """(κ, rows) of T of the rows of a block, transposed."""
        some = slice(block * GROUP + 1, min((block + 1) * GROUP, self.count) + 1)
        low = np.tensordot(self.fixed, self.weights[some], (0, 1)).transpose(0, 2, 1)
        high = np.tensordot(self.coarse[some], self.frame, (1, 0)).transpose(1, 0, 2)
        return np.vstack([part.reshape(len(part), part.shape[1] * part.shape[2]) for part in (low, high)])

    def parts(self, block: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of a block chunk by chunk, and their transposes (κ, B)."""
        start, low = block * GROUP, self.fixed.shape[1]
        received = self._received[start : start + GROUP]
        count, high = len(received), self.n_columns - low
        values = np.empty((count, self.n_columns, self.size))
        weights = _window(self.weights, start, count).reshape(count, len(self._near_fixed))
        values[:, :low] = (weights @ self._near_fixed).reshape(count, low, self.size)
        values[:, :low] += received[:, :, :low].transpose(0, 2, 1) @ self._smooth
        coarse = _window(self.coarse, start, count).reshape(count, len(self._near_frame), high)
        values[:, low:] = coarse.transpose(0, 2, 1) @ self._near_frame
        values[:, low:] += received[:, :, low:].transpose(0, 2, 1) @ self._smooth
        for i, transposed in enumerate(values, start):
            yield slice(i * self.size, (i + 1) * self.size), transposed


def _window(padded: np.ndarray, start: int, count: int) -> np.ndarray:
    """(count, 3, …) entries of the chunk before, the chunk itself and the chunk after, from one more at either end."""
    return np.stack([padded[start + i : start + i + count] for i in range(3)], axis=1)
