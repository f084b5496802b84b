"""The tangent space of a tensor train: an orthonormal basis of the Jacobian's columns, in factored form.

For disjoint supports the Jacobian's columns span Σ_l range(P_{l−1}) ⊗ R^{n_l} ⊗ range(S_l): below layer l stands the
composition P_{l−1} of the layers under it, above it the composition S_l of the layers over it, and the layer's own taps
are free. Since range(P_l) ⊂ range(P_{l−1}) ⊗ R^{n_l}, the same space is the *orthogonal* sum of the blocks

    C_l ⊗ range(S_l),   C_l = (range(P_{l−1}) ⊗ R^{n_l}) ⊖ range(P_l),   with C_L = range(P_{L−1}) ⊗ R^{n_L},

of dimension Σ_{l<L} (p_{l−1} n_l − p_l) s_l + p_{L−1} n_L, where p_l and s_l are the ranks of P_l and S_l, at
any parameters. Only matrices of at most c_l n_l rows are ever decomposed, so that the cost beyond the answer itself
grows with the number of layers and not with that of the inputs. Source: Holtz, Rohwedder & Schneider (2012), section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from scipy.linalg import svd

from capcore.architectures.columns import equilibrate, rank_tolerance
from capcore.checks.arguments import all_of_kind, finite_array
from capcore.results.notebook import Record


@dataclass(frozen=True, eq=False, repr=False)
class TangentSpace(Record):
    """Orthonormal basis T (n, κ) of the column space of ∂A/∂W (paper 1, Eq. 16), kept as cores.

    Columns come in blocks, layer 1 first (:attr:`blocks`); within a block the index of V_l is the slower one. A vector
    of n = Π n_l · input_dim entries is position-major with lag 0 first, as everywhere.

    Attributes
    ----------
    below : list of arrays
        For l = 1 … L−1, cores (p_{l−1}, n_l, p_l) of an orthonormal basis U_l of range(P_l); p_0 = input_dim.
    complements : list of arrays
        For l = 1 … L, cores (p_{l−1}, n_l, q_l) of the basis of C_l; q_L = p_{L−1} n_L.
    above : list of arrays
        For l = 2 … L, cores (s_{l−1}, n_l, s_l) of an orthonormal basis V_{l−1} of range(S_{l−1}); s_L = 1.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> arch = Hierarchical(channels=4, n_layers=6)
    >>> space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    >>> space.dimension, bool(np.allclose(space.basis().T @ space.basis(), np.eye(48)))
    (48, True)
    """

    below: list[np.ndarray]
    complements: list[np.ndarray]
    above: list[np.ndarray]

    @classmethod
    def of_kernels(cls, kernels: Sequence[np.ndarray]) -> TangentSpace:
        """The tangent space at kernels (c_{l−1}, n_l, c_l), layer 1 first, c_L = 1, of any rank and scale.

        Every rank is that of a small matrix with columns of unit length, by the tolerance of
        :func:`~capcore.architectures.columns.rank_tolerance`.

        Raises
        ------
        ValueError
            For kernels that do not fit together.
        """
        all_of_kind(kernels, "kernels", np.ndarray | list)
        cores = [finite_array(kernel, f"kernel of layer {l}", 3) for l, kernel in enumerate(kernels, 1)]
        shapes = [core.shape for core in cores]
        if not shapes or [c for *_, c in shapes] != [*(c for c, *_ in shapes[1:]), 1]:
            raise ValueError(f"kernels: found shapes {shapes}, expected (c_0, n_1, c_1), (c_1, n_2, c_2), …, c_L = 1.")
        below, complements, above = [], [], []
        carried = np.eye(cores[0].shape[0])
        for core in cores[:-1]:
            product = np.tensordot(carried, core, 1)
            rows, taps, _ = product.shape
            frame, rest, carried = _split_space(product.reshape(rows * taps, core.shape[2]))
            below.append(frame.reshape(rows, taps, frame.shape[1]))
            complements.append(rest.reshape(rows, taps, rest.shape[1]))
        rows, taps = carried.shape[0], cores[-1].shape[1]
        complements.append(np.eye(rows * taps).reshape(rows, taps, rows * taps))
        carried = np.ones((1, 1))
        for core in cores[:0:-1]:
            product = core @ carried.T  # (c_{l−1}, n_l, s_l)
            width, taps, wider = product.shape
            frame, _, carried = _split_space(product.reshape(width, taps * wider).T)
            above.append(frame.reshape(taps, wider, frame.shape[1]).transpose(2, 0, 1))
        return cls(below, complements, above[::-1])

    @property
    def n_layers(self) -> int:
        """Number L of layers."""
        return len(self.complements)

    @property
    def kernel_sizes(self) -> list[int]:
        """n_1 … n_L."""
        return [core.shape[1] for core in self.complements]

    @property
    def input_dim(self) -> int:
        """Components per input position."""
        return self.complements[0].shape[0]

    @property
    def ranks_below(self) -> list[int]:
        """p_0 … p_{L−1}."""
        return [core.shape[0] for core in self.complements]

    @property
    def ranks_above(self) -> list[int]:
        """s_1 … s_L."""
        return [*(core.shape[0] for core in self.above), 1]

    @property
    def extents(self) -> list[int]:
        """Positions below layer l, Π_{k<l} n_k, for l = 1 … L."""
        return np.cumprod([1, *self.kernel_sizes[:-1]], dtype=object).tolist()

    @property
    def n_inputs(self) -> int:
        """Number of input positions Π n_l."""
        return int(np.prod(self.kernel_sizes, dtype=object))

    @property
    def blocks(self) -> list[slice]:
        """Columns of T that belong to layers 1 … L."""
        widths = [core.shape[2] * s for core, s in zip(self.complements, self.ranks_above, strict=True)]
        ends = np.cumsum([0, *widths]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    @property
    def dimension(self) -> int:
        """κ: the number of columns of T."""
        return self.blocks[-1].stop

    @cached_property
    def lower(self) -> list[np.ndarray]:
        """U_0 … U_{L−1}: orthonormal (Π_{k≤l} n_k · input_dim, p_l), listed out."""
        return list(accumulate(self.below, _raise_frame, initial=np.eye(self.input_dim)))

    @cached_property
    def upper(self) -> list[np.ndarray]:
        """V_1 … V_L: orthonormal (Π_{k>l} n_k, s_l), listed out."""
        return list(accumulate(self.above[::-1], _lower_frame, initial=np.ones((1, 1))))[::-1]

    def basis(self) -> np.ndarray:
        """(n, κ) the whole of T; the block of a layer is V_l ⊗ U_{l−1} N_l, with its complement N_l."""
        layers = zip(self.upper, self.lower, self.complements, strict=True)
        return np.hstack([np.kron(upper, _raise_frame(lower, core)) for upper, lower, core in layers])

    def project(self, values: np.ndarray) -> np.ndarray:
        """(κ,) or (κ, m): Tᵀ v for ``values`` (n,) or (n, m), in O(n)."""
        whole = values.reshape(self.n_inputs, self.input_dim, -1)
        return self.project_above(0, whole).reshape(-1, *values.shape[1:])

    def project_above(self, layer: int, values: np.ndarray) -> np.ndarray:
        """(·, m): coordinates in the blocks of the layers after ``layer`` of U_layer ⊗ 1 times ``values``.

        ``values`` : (positions above, p_layer, m). After layer 0 stand all of them.
        """
        rest, many, parts = values, values.shape[2], []
        for l in range(layer, self.n_layers):
            p, taps, q = self.complements[l].shape
            rest = rest.reshape(len(self.upper[l]), taps * p, many)
            inner = _unfold(self.complements[l]).T @ rest  # (upper, q, m)
            block = self.upper[l].T @ inner.reshape(len(inner), q * many)
            parts.append(block.reshape(len(block) * q, many))
            if l < len(self.below):
                rest = _unfold(self.below[l]).T @ rest
        return np.concatenate(parts)

    def expand(self, coordinates: np.ndarray) -> np.ndarray:
        """(n,) or (n, m): T x for ``coordinates`` (κ,) or (κ, m), in O(n)."""
        x = coordinates.reshape(self.dimension, -1)
        many = x.shape[1]
        result = np.zeros((1, 1, many))
        for l in range(self.n_layers - 1, -1, -1):
            core, s = self.complements[l], self.ranks_above[l]
            block = x[self.blocks[l]].reshape(s, core.shape[2], many)
            inner = np.einsum("us,sqm->uqm", self.upper[l], block, optimize=True)
            raised = np.einsum("uqm,ptq->utpm", inner, core, optimize=True)
            if l < len(self.below):
                raised = raised + np.einsum("urm,ptr->utpm", result, self.below[l], optimize=True)
            result = raised.reshape(len(raised) * core.shape[1], core.shape[0], many)
        return result.reshape(-1, *coordinates.shape[1:])


def _unfold(core: np.ndarray) -> np.ndarray:
    """(taps · p, q): a core (p, taps, q) as a matrix, the taps being the slower digit of its rows."""
    p, taps, q = core.shape
    return core.transpose(1, 0, 2).reshape(taps * p, q)


def _raise_frame(frame: np.ndarray, core: np.ndarray) -> np.ndarray:
    """(extent, p) composed with a core (p, taps, q) → (taps · extent, q), the taps being the slower digit."""
    product = np.tensordot(frame, core, 1)  # (extent, taps, q)
    return product.transpose(1, 0, 2).reshape(frame.shape[0] * core.shape[1], core.shape[2])


def _lower_frame(frame: np.ndarray, core: np.ndarray) -> np.ndarray:
    """(…, extent, q) composed with a core (p, taps, q) → (…, extent · taps, p), the taps being the faster digit."""
    p, taps, q = core.shape
    product = frame @ core.transpose(2, 1, 0).reshape(q, taps * p)
    return product.reshape(*frame.shape[:-2], frame.shape[-2] * taps, p)


def _split_space(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Orthonormal bases of the column space and of its complement, and the scaled matrix in the first."""
    scaled = matrix / (np.abs(matrix).max(initial=0.0) or 1.0)
    if not matrix.size:  # a layer of zeros below or above: nothing is left to span
        return np.eye(len(matrix), 0), np.eye(len(matrix)), np.zeros((0, matrix.shape[1]))
    u, s, _ = svd(equilibrate(scaled))
    rank = int(np.count_nonzero(s > rank_tolerance(scaled.shape, s[0])))
    return u[:, :rank], u[:, rank:], u[:, :rank].T @ scaled
