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

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import matmul_toeplitz, svd

from capcore.capacity.tangent_space import TangentSpace, _lower_frame, _raise_frame
from capcore.large.exponentials import fit_exponentials, known_poles
from capcore.processes import Process


@dataclass(frozen=True, eq=False)
class Chunks:
    """T in chunks of ``size`` positions.

    Attributes
    ----------
    size : int
        B.
    count : int
        N = n / B.
    fixed : (s, κ_low, B) array
        The F_r, transposed: columns of the layers within a chunk.
    weights : (N, s) array
        V_b.
    frame : (p, B) array
        U_b, transposed.
    coarse : (N, p, κ_high) array
        The C_I.
    """

    size: int
    count: int
    fixed: np.ndarray
    weights: np.ndarray
    frame: np.ndarray
    coarse: np.ndarray

    @classmethod
    def of(cls, space: TangentSpace, size: int) -> Chunks:
        """Chunks of a size as close to ``size`` positions as possible."""
        extents = np.array([*space.extents[1:], space.n_inputs], dtype=float)
        depth = int(np.argmin(np.abs(np.log(extents / size)))) + 1  # b
        n, chunk = space.n_inputs, int(extents[depth - 1])
        rank = space.ranks_above[depth - 1]
        lower = [np.ones((1, 1))]
        for core in space.below[:depth]:
            lower.append(_raise_frame(lower[-1], core))
        upper = np.eye(rank)[:, None, :]  # (r, positions, s_l): V_l in terms of V_b
        fixed: list[np.ndarray] = []
        for l in range(depth, 0, -1):
            raised = _raise_frame(lower[l - 1], space.complements[l - 1])
            block = np.einsum("rus,mq->rsqum", upper, raised)
            fixed.insert(0, block.reshape(rank, upper.shape[2] * raised.shape[1], chunk))
            if l > 1:
                upper = _lower_frame(upper, space.above[l - 2])
        weights = np.ones((1, 1))
        for core in space.above[depth - 1 :][::-1]:
            weights = _lower_frame(weights, core)
        frame, coarse = np.zeros((0, chunk)), np.zeros((1, 0, 0))
        if depth < space.n_layers:
            train = TangentSpace(space.below[depth:], space.complements[depth:], space.above[depth:])
            frame = lower[depth].T
            coarse = train.basis().reshape(n // chunk, len(frame), train.dimension)
        return cls(chunk, n // chunk, np.concatenate(fixed, axis=1), weights, frame, coarse)


CHUNK = 512  # approximate number of positions in a chunk
GROUP = 8  # chunks processed at a time
CHECKPOINTS = 1.5e8  # bytes of stored states, so that chunks can be visited in any order and several times
EPS = float(np.finfo(float).eps)


class StreamedProduct:
    """ΣT (n, κ), computed block by block on demand: see :class:`~capcore.large.leverage.RowBlocks`.

    Parameters
    ----------
    space : TangentSpace
        The tangent basis.
    process : Process
        A process of one component.
    chunk : int
        Approximate B.

    Attributes
    ----------
    max_error : float
        Largest error of the exponentials at any lag, relative to c_0.

    Raises
    ------
    NoExponentialsError
        If the far lags are not a sum of exponentials.
    """

    def __init__(self, space: TangentSpace, process: Process, chunk: int = CHUNK) -> None:
        self._chunks = chunks = Chunks.of(space, chunk)
        self.n_rows, self.n_columns = space.n_inputs, space.dimension
        autocovariance = process.autocovariance(space.n_inputs)
        far = fit_exponentials(autocovariance, min(chunks.size + 1, space.n_inputs), known_poles(process))
        self.max_error = far.max_error
        self._near(autocovariance[: 2 * chunks.size])
        self._far(far.rates, far.weights, EPS / 2 * float(autocovariance[0]))
        states = 2 * chunks.count * self._decay.size * chunks.coarse.shape[2] * self._decay.itemsize
        self._stride = min(chunks.count, GROUP * max(2, int(states / CHECKPOINTS / GROUP) + 1))
        self.n_blocks = -(-chunks.count // self._stride)
        self._checkpoint()

    def _near(self, autocovariance: np.ndarray) -> None:
        """Products of the fixed columns with the covariance of a chunk and its neighbours."""
        chunks = self._chunks
        rank, low, size = chunks.fixed.shape
        inputs = np.concatenate([chunks.fixed.reshape(rank * low, size), chunks.frame])
        lags = np.pad(autocovariance, (0, 3 * size - len(autocovariance)))
        output = matmul_toeplitz(lags, np.pad(inputs.T, ((size, size), (0, 0))))
        # The first third is what the chunk before receives from this one, the last what the chunk after receives: in
        # reverse, what a chunk receives from the one before, from itself, and from the one after.
        near = output.reshape(3, size, len(inputs))[::-1].transpose(0, 2, 1)
        self._near_fixed = near[:, : rank * low].reshape(3 * rank, low * size)
        self._near_frame = near[:, rank * low :].reshape(3 * len(chunks.frame), size)

    def _far(self, rates: np.ndarray, weights: np.ndarray, negligible: float) -> None:
        """How columns enter the states, how the states decay, and what they contribute."""
        chunks = self._chunks
        ahead = np.exp(-np.outer(rates, np.arange(chunks.size)))  # z^i
        behind = ahead[:, ::-1]
        self._decay = np.exp(-rates * chunks.size)[:, None]
        # ``behind`` adds T to the states from the left, and ``ahead`` reads them; from the right it is the reverse.
        self._inputs = [
            (np.einsum("mx,rcx->mrc", part, chunks.fixed, optimize=True), part @ chunks.frame.T)
            for part in (behind, ahead)
        ]  # what the fixed columns (M, s, κ_low) and the frame (M, p) add to them
        outputs = np.concatenate([_real_rows(part * weights[:, None]) for part in (ahead, behind)])
        u, s, vt = svd(outputs, full_matrices=False)
        felt = s > negligible  # dropping the rest changes no lag by more than ε of c_0
        self._spread_out, self._given_out = vt[felt], (u[:, felt] * s[felt]).T
        self._spread_frame = np.concatenate([self._near_frame, self._spread_out])

    def _checkpoint(self) -> None:
        """States of the fixed columns at every chunk, and of the coarse ones at the edges of the blocks.

        The fixed columns differ between chunks only by V_b, so that (M, s) numbers carry all of them.
        """
        chunks, m = self._chunks, self._decay.size
        kind = self._decay.dtype
        self._carried = np.zeros((2, chunks.count, m, chunks.weights.shape[1]), dtype=kind)
        for carried, weights in ((self._carried[0], chunks.weights), (self._carried[1, ::-1], chunks.weights[::-1])):
            for i in range(1, chunks.count):
                carried[i] = self._decay * carried[i - 1]
                if i > 1:
                    carried[i] += weights[i - 2]
        self._edges = np.zeros((2, self.n_blocks, m, chunks.coarse.shape[2]), dtype=kind)
        for side, step in enumerate((1, -1)):
            state = np.zeros_like(self._edges[side, 0])
            for block in range(self.n_blocks)[::step]:
                self._edges[side, block] = state
                *_, state = self._walk(side, block, state)

    def _range(self, block: int) -> range:
        return range(block * self._stride, min((block + 1) * self._stride, self._chunks.count))

    def _walk(self, side: int, block: int, state: np.ndarray) -> Iterator[np.ndarray]:
        """States of the coarse columns at the chunks of a block in the order of ``side``, and the one after them."""
        yield state
        step = -1 if side else 1
        for i in self._range(block)[::step]:
            state = self._decay * state
            if 0 <= i - step < self._chunks.count:
                state = state + self._inputs[side][1] @ self._chunks.coarse[i - step]
            yield state

    def parts(self, block: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of a block chunk by chunk, and their transposes (κ, B)."""
        chunks, order = self._chunks, self._range(block)
        sides = [np.array(list(self._walk(side, block, self._edges[side, block]))[:-1]) for side in (0, 1)]
        sides[1] = sides[1][::-1]
        for start in range(0, len(order), GROUP):
            group = order[start : start + GROUP]
            values = np.empty((len(group), self.n_columns, chunks.size))
            states = []
            for side in (0, 1):
                fixed = self._carried[side, group.start : group.stop].transpose(1, 0, 2) @ self._inputs[side][0]
                coarse = sides[side][start : start + len(group)]
                states.append(_real_columns(np.concatenate([fixed.transpose(1, 0, 2), coarse], axis=2)))
            self._add_values(group, self._given_out @ np.concatenate(states, axis=1), values)
            for i, found in zip(group, values, strict=True):
                yield slice(i * chunks.size, (i + 1) * chunks.size), found

    def _add_values(self, group: range, far: np.ndarray, values: np.ndarray) -> None:
        """Fill ``values`` (group, κ, B): far lags from their coefficients (group, k, κ), and near ones."""
        chunks, count = self._chunks, len(group)
        low = chunks.fixed.shape[1]
        weights = _window(chunks.weights, group).reshape(count, len(self._near_fixed))
        values[:, :low] = (weights @ self._near_fixed).reshape(count, low, chunks.size)
        values[:, :low] += far[:, :, :low].transpose(0, 2, 1) @ self._spread_out
        if low < self.n_columns:
            coarse = _window(chunks.coarse, group).reshape(count, len(self._near_frame), self.n_columns - low)
            both = np.concatenate([coarse, far[:, :, low:]], axis=1)
            np.matmul(both.transpose(0, 2, 1), self._spread_frame, out=values[:, low:])


def _window(array: np.ndarray, group: range) -> np.ndarray:
    """(group, 3, …) entries of the chunk before, the chunk itself and the chunk after; zero beyond the ends."""
    result = np.zeros((len(group), 3, *array.shape[1:]))
    for shift in (-1, 0, 1):
        start, stop = max(group.start + shift, 0), min(group.stop + shift, len(array))
        if start < stop:
            result[start - group.start - shift : stop - group.start - shift, shift + 1] = array[start:stop]
    return result


def _real_rows(matrix: np.ndarray) -> np.ndarray:
    """Real rows that give the real part of a product with a complex state; used with :func:`_real_columns`."""
    return np.concatenate([matrix.real, -matrix.imag]) if np.iscomplexobj(matrix) else matrix


def _real_columns(states: np.ndarray) -> np.ndarray:
    return np.concatenate([states.real, states.imag], axis=1) if np.iscomplexobj(states) else states
