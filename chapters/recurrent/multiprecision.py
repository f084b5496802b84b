"""What double precision hides of a recurrent model: the same columns with hundreds of digits, or as exact fractions.

The Jacobian of a recurrent model with poles r_j and non-zero weights is spanned by r_j^τ and τ r_j^{τ−1}, a confluent
Vandermonde matrix. It has rank min(2c, n) for distinct poles, but its singular values fall geometrically, and double
precision sees only those above 1e-16. FLINT's ball arithmetic carries as many digits as are asked for.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from capcore.architectures.columns import equilibrate


def confluent_vandermonde(poles: object, n_inputs: int) -> np.ndarray:
    """(n, 2c) columns r_j^τ and τ r_j^{τ−1}, each scaled to unit length, in double precision.

    >>> confluent_vandermonde([0.0], 3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    from capcore.architectures.recurrent import Recurrent

    r = np.asarray(poles, dtype=float)
    return equilibrate(np.hstack(Recurrent(n_inputs, r.size).basis(r)))


def rational_rank(poles: object, n_inputs: int) -> int:
    """Rank of that matrix over the rational numbers, for poles taken as the exact fractions they are.

    With the poles m_j / D over a common denominator, scaling rows and columns leaves m_j^τ and τ m_j^{τ−1}, an integer
    matrix whose rank FLINT finds without any tolerance or prime of ours.

    >>> rational_rank([0.5, 0.5 + 2**-50], 64)
    4
    """
    from flint import fmpz_mat

    fractions = [Fraction(value) for value in np.asarray(poles, dtype=float).tolist()]
    common = max(fraction.denominator for fraction in fractions)  # powers of two
    nodes = [int(fraction * common) for fraction in fractions]
    lags = range(n_inputs)
    rows = [[*(m**t for m in nodes), *(t * m ** (t - 1) if t else 0 for m in nodes)] for t in lags]
    return int(fmpz_mat(rows).rank())


def singular_values(poles: object, n_inputs: int, digits: int = 200) -> np.ndarray:
    """(min(2c, n),) singular values of the matrix above, descending, computed with ``digits`` digits.

    They are square roots of the eigenvalues of a Gram matrix, which halves the digits: those below 10^(3 − digits/2)
    come out as zero.

    >>> values = singular_values([0.5, 0.5 + 2**-50], 8)
    >>> bool(values[-1] < 1e-10 * values[-2])
    True
    """
    from flint import acb_mat, ctx

    with ctx.workdps(digits):
        columns = _unit_columns(np.asarray(poles, dtype=float), n_inputs)
        wide = columns.ncols() > columns.nrows()
        gram = columns * columns.transpose() if wide else columns.transpose() * columns
        values = [max(float(value.real.mid()), 0.0) ** 0.5 for value in acb_mat(gram).eig(algorithm="approx")]
    floor = 10.0 ** (3 - digits / 2)
    return np.array(sorted((v if v > floor else 0.0 for v in values), reverse=True))


def _unit_columns(poles: np.ndarray, n_inputs: int) -> Any:
    from flint import arb, arb_mat

    r = [arb(value) for value in poles.tolist()]  # exact: a double is a binary fraction
    columns = [[x**t for t in range(n_inputs)] for x in r]
    columns += [[t * x ** (t - 1) if t else arb(0) for t in range(n_inputs)] for x in r]
    norms = [sum((v * v for v in column), arb(0)).sqrt() for column in columns]
    scaled = [[v / norm if norm != 0 else v for v in column] for column, norm in zip(columns, norms, strict=True)]
    return arb_mat(scaled).transpose()
