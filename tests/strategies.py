"""Random models and matrices for the property tests, and slow, obvious versions of what the package computes."""

import re
from functools import reduce
from itertools import product

import numpy as np
import pytest
from flint import arb_mat, ctx
from hypothesis import strategies as st

import capcore.processes as cp
from capcore.architectures import Hierarchical


def all_of(parts):
    """Pattern for ``pytest.raises(match=…)``: a message that holds every one of the parts."""
    return "(?s)^" + "".join(f"(?=.*{re.escape(part)})" for part in parts)


def refused(call, *rows, error=ValueError):
    """A test of each row: with its arguments, all but the last, ``call`` is refused by a message that matches the last.

    That is a pattern, or a list of what the message holds.
    """

    @pytest.mark.parametrize("row", rows)
    def refusal(row):
        *arguments, message = row
        with pytest.raises(error, match=f"(?s){message}" if isinstance(message, str) else all_of(message)):
            call(*arguments)

    return refusal


seeds = st.integers(0, 2**32 - 1)


@st.composite
def stacks(draw):
    """Tensor trains of one component, taps and channels of each layer for itself."""
    n_layers = draw(st.integers(1, 5))
    channels = draw(st.lists(st.integers(1, 5), min_size=n_layers - 1, max_size=n_layers - 1))
    sizes = draw(st.lists(st.integers(1, 4), min_size=n_layers, max_size=n_layers))
    return Hierarchical(channels=channels, kernel_size=sizes)


@st.composite
def hierarchical_models(draw, max_layers=4, max_channels=4, max_kernel=3, max_input_dim=3, disjoint=None):
    """Any small hierarchical model; ``disjoint`` fixes whether its supports are."""
    n_layers = draw(st.integers(1, max_layers))
    numbers = lambda top, length: draw(st.lists(st.integers(1, top), min_size=length, max_size=length))  # noqa: E731
    disjoint = draw(st.booleans()) if disjoint is None else disjoint
    return Hierarchical(
        channels=numbers(max_channels, n_layers - 1),
        kernel_size=numbers(max_kernel, n_layers),
        dilations=None if disjoint else numbers(5, n_layers),
        input_dim=draw(st.integers(1, max_input_dim)),
    )


@st.composite
def matrices(draw, n=None, max_n=12, max_p=15):
    """(n, p) Gaussian matrix of a random rank of at least 1."""
    n = draw(st.integers(1, max_n)) if n is None else n
    p = draw(st.integers(1, max_p))
    rank = draw(st.integers(1, min(n, p)))
    rng = np.random.default_rng(draw(seeds))
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))


def kernels_of(arch, params):
    """The kernels, cut out of the parameter vector by hand."""
    widths = [arch.input_dim, *arch.channels, 1]
    kernels, start = [], 0
    for below, taps, above in zip(widths[:-1], arch.kernel_sizes, widths[1:], strict=True):
        size = below * taps * above
        kernels.append(np.asarray(params)[start : start + size].reshape(below, taps, above))
        start += size
    assert start == len(params)
    return kernels


def coefficients_by_paths(arch, params):
    """(n_inputs · input_dim,) coefficients as a sum over all choices of one tap per layer."""
    kernels = kernels_of(arch, params)
    result = np.zeros((arch.n_inputs, arch.input_dim), dtype=np.asarray(params).dtype)
    for taps in product(*(range(k) for k in arch.kernel_sizes)):
        lag = sum(t * d for t, d in zip(taps, arch.dilations, strict=True))
        result[lag] += reduce(np.matmul, [kernel[:, t] for kernel, t in zip(kernels, taps, strict=True)])[:, 0]
    return result.reshape(-1)


def projector(matrix, rcond=1e-10):
    """(n, n) orthogonal projector on the column space, by the pseudo-inverse."""
    return matrix @ np.linalg.pinv(matrix, rcond=rcond)


PROCESSES = [
    cp.PowerLaw(),
    cp.PowerLaw(0.05),
    cp.PowerLaw(3.0),
    cp.FractionalGaussianNoise(0.1),
    cp.FractionalGaussianNoise(0.5),
    cp.FractionalGaussianNoise(0.95),
    cp.AR1(),
    cp.AR1(-0.99),
    cp.AR1(0.0),
    cp.DampedCosine(),
    cp.DampedCosine(decay=2.0, period=2.5),
    cp.RationalQuadratic(),
    cp.RationalQuadratic(scale=4.0, alpha=0.3),
    cp.WithNugget(cp.RationalQuadratic(scale=30.0), 1e-3),
    *(family() for name, family in cp.REGISTRY.items() if name not in cp.FAMILIES),
]
every_process = pytest.mark.parametrize("process", PROCESSES, ids=repr)


def small_integers(arch, seed):
    """Parameters whose products and sums are exact in double precision."""
    return np.random.default_rng(seed).integers(-3, 4, arch.n_params).astype(float)


def random_params(arch, seed=0):
    return arch.init(np.random.default_rng(seed))


def exact_predictor(process, n, bits=400):
    """A* and v* by elimination in 120-digit arithmetic, from the same double-precision autocovariances."""
    c = process.autocovariance(n + 1).tolist()
    before, ctx.prec = ctx.prec, bits
    try:
        matrix = arb_mat([[c[abs(i - j)] for j in range(n)] for i in range(n)])
        solution = matrix.solve(arb_mat([[value] for value in c[1:]]))
        variance = c[0] - sum((solution[i, 0] * c[i + 1] for i in range(n)), 0 * solution[0, 0])
        return np.array([float(solution[i, 0].mid()) for i in range(n)]), float(variance.mid())
    finally:
        ctx.prec = before
