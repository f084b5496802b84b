"""Constraint spaces and the capacity they allocate (paper 1, §3).

A constraint space 𝒦 is the column space of a matrix. The capacity it allocates to a subspace S is
κ(S) = ‖KᵀS‖²_F with orthonormal bases K and S (paper 1, Definition 1 and Eq. 2): the sum of the squared cosines of the
principal angles between the two. Along the coordinate axes it is the statistical leverage of each row.

Bases come from the SVD of the columns themselves. The Gram matrix is never formed, because it squares the condition
number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from capcore.architectures.columns import column_space, compress_columns, equilibrate
from capcore.checks.arguments import all_of_kind, finite_array, positive_integer
from capcore.results.notebook import as_table


@dataclass(frozen=True, eq=False)
class ConstraintSpace:
    """A subspace 𝒦 of R^n with an orthonormal basis, the K of paper 1, Eq. 1, and the evidence for its dimension.

    Attributes
    ----------
    basis : (n, dimension) array
        Orthonormal columns.
    singular_values : (min(n, p),) array
        Singular values of the unit-length columns that span 𝒦, descending; those above ``tolerance`` were counted.
    tolerance : float
        The threshold used.

    Examples
    --------
    >>> space = ConstraintSpace.from_columns([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    >>> space.dimension, space.per_input().round(3).tolist()
    (1, [0.5, 0.5, 0.0])
    """

    basis: np.ndarray
    singular_values: np.ndarray
    tolerance: float
    _columns: np.ndarray

    @classmethod
    def from_columns(cls, matrix: object, equilibrated: bool = False) -> ConstraintSpace:
        """The space spanned by the columns of a matrix of any rank: K of paper 1, Eq. 17, from K̃ of Eq. 16.

        Parameters
        ----------
        matrix : (n, p) or (n,) array_like
            With n, p ≥ 1.
        equilibrated : bool
            Take the columns as they are instead of scaling each to unit length. For columns from
            :func:`~capcore.architectures.columns.compress_columns`, whose lengths matter for the rank.

        Raises
        ------
        ValueError
            If values are not finite.
        """
        array = finite_array(matrix, "matrix", (1, 2))
        array = array[:, None] if array.ndim == 1 else array
        columns = compress_columns(array if equilibrated else equilibrate(array))
        return cls(*column_space(columns, array.shape), columns)

    @property
    def n_coefficients(self) -> int:
        """Dimension n of the space around 𝒦."""
        return self._columns.shape[0]

    @property
    def dimension(self) -> int:
        """κ = dim 𝒦, the total capacity (paper 1, Property 2)."""
        return self.basis.shape[1]

    def capacity(self, subspace: object) -> float:
        """κ(S) = ‖KᵀS‖²_F, the capacity allocated to S (paper 1, Eq. 2; at an optimum Eq. 18).

        Parameters
        ----------
        subspace : (n,) or (n, m) array_like, or ConstraintSpace
            Columns that span S; they need be neither orthogonal nor independent.

        Raises
        ------
        ValueError
            If S has dimension 0 or the number of rows disagrees.
        """
        if not isinstance(subspace, ConstraintSpace):
            subspace = ConstraintSpace.from_columns(finite_array(subspace, "subspace", (1, 2)))
        if subspace.dimension == 0:
            raise ValueError("subspace: found dimension 0, expected at least one non-zero column.")
        return float(np.square(self.basis.T @ self._same_rows(subspace.basis, "subspace")).sum())

    def along(self, directions: object) -> np.ndarray:
        """(m,) capacity of directions as one-dimensional subspaces: 1 within 𝒦, 0 across (paper 1, Property 4).

        Parameters
        ----------
        directions : (n,) or (n, m) array_like
            One direction in each column, of any length except zero.
        """
        array = self._same_rows(finite_array(directions, "directions", (1, 2)), "directions")
        array = array[:, None] if array.ndim == 1 else array
        if not np.all(np.abs(array).max(axis=0) > 0):
            raise ValueError("directions: found a column of zeros, expected a direction in every column.")
        return np.square(self.basis.T @ equilibrate(array)).sum(axis=0)

    def per_input(self, group: int = 1) -> np.ndarray:
        """(n / group,) capacity of each input: the CPI of paper 1, §5.1.2.

        These are the leverage scores of the rows; they sum to the dimension (paper 1, Eq. 3).

        Parameters
        ----------
        group : int
            Number of neighbouring rows that belong to one input: its components (paper 1, §6.1), or its features
            (paper 1, Eq. 28).

        Raises
        ------
        ValueError
            If ``group`` does not divide n.
        """
        group = positive_integer(group, "group")
        if self.n_coefficients % group:
            raise ValueError(f"group: found {group}, expected a divisor of the {self.n_coefficients} inputs.")
        return np.square(self.basis).sum(axis=1).reshape(-1, group).sum(axis=1)

    def given(self, other: ConstraintSpace) -> ConstraintSpace:
        """The space whose capacities are the conditional ones, κ(S | other) for every S (paper 1, Definition 2, Eq. 9).

        It is the part of 𝒦 + other that is orthogonal to ``other``. Its capacity of S equals
        κ_{𝒦+other}(S) − κ_other(S), and is never negative.

        >>> first, both = (ConstraintSpace.from_columns(np.eye(3)[:, :k]) for k in (1, 2))
        >>> both.given(first).per_input().tolist()
        [0.0, 1.0, 0.0]
        """
        return chain([other, self])[1]

    def __add__(self, other: ConstraintSpace) -> ConstraintSpace:
        """The sum of the two spaces (not necessarily direct), the 𝒦 of paper 1, Eq. 8."""
        return join([self, other])

    def __repr__(self) -> str:
        return f"ConstraintSpace(dimension {self.dimension} in R^{self.n_coefficients})"

    _repr_html_ = as_table

    def _same_rows(self, array: np.ndarray, name: str) -> np.ndarray:
        if array.shape[0] != self.n_coefficients:
            raise ValueError(f"{name}: found {array.shape[0]} rows, expected {self.n_coefficients} (one per input).")
        return array


def join(spaces: Sequence[ConstraintSpace]) -> ConstraintSpace:
    """The sum 𝒦₁ + 𝒦₂ + … of one or more spaces in the same R^n: the 𝒦 of paper 1, Eq. 10.

    Parameters
    ----------
    spaces : list of ConstraintSpace

    Examples
    --------
    >>> join([ConstraintSpace.from_columns(np.eye(3)[:, :k]) for k in (1, 2)]).dimension
    2
    """
    _check_spaces(spaces)
    columns = np.hstack([space._columns for space in spaces])
    if not columns.size:  # a space given a larger one has nothing left
        return ConstraintSpace(columns, np.empty(0), 0.0, columns)
    return ConstraintSpace.from_columns(columns, equilibrated=True)


def _check_spaces(spaces: Sequence[ConstraintSpace]) -> None:
    all_of_kind(spaces, "spaces", ConstraintSpace)
    around = [f"R^{n}" for n in sorted({space.n_coefficients for space in spaces})]
    if len(around) != 1:
        raise ValueError(f"spaces: found {' and '.join(around) or 'none'}, expected at least one, in the same R^n.")


def chain(spaces: Sequence[ConstraintSpace]) -> list[ConstraintSpace]:
    """Mutually orthogonal spaces whose capacities are the conditional ones: κ_i(S | 𝒦₁ + … + 𝒦_{i−1}).

    Every term is non-negative, and together they sum to the capacity of the whole (paper 1, Property 6 and Eq. 10): up
    to rounding where every rank is clear, less closely where a singular value is near the tolerance. The
    dimensions of the nested sums decide how many directions each space adds, and the directions are those of
    the sum that lie farthest from the earlier spaces: no rank is decided twice.

    Parameters
    ----------
    spaces : list of ConstraintSpace
        𝒦₁, 𝒦₂, …, in the order in which they are conditioned.

    Examples
    --------
    >>> [part.dimension for part in chain([ConstraintSpace.from_columns(np.eye(3)[:, :k]) for k in (1, 2, 2)])]
    [1, 1, 0]
    """
    _check_spaces(spaces)
    terms = []
    before = np.empty((spaces[0].n_coefficients, 0))
    for i in range(len(spaces)):
        total = join(spaces[: i + 1])
        rest = total.basis - before @ (before.T @ total.basis)
        u = svd(rest, full_matrices=False, check_finite=False)[0]
        added = max(total.dimension - before.shape[1], 0)
        terms.append(ConstraintSpace(u[:, :added], total.singular_values, total.tolerance, u[:, :added]))
        before = np.hstack([before, u[:, :added]])
    return terms
