"""Networks that read side inputs or a bias in every layer: what leaks there, and what is left (paper 2, §3.4–3.5)."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from scipy.integrate import quad_vec

from capcore.propagation import ConvolutionTransport, Layer, MatrixTransport, Propagation, propagate, residual
from chapters.scaling_pdes.paths import leaked_density
from chapters.scaling_pdes.study import axis, lattice_law, neighbours, one_output, total_variation

Leak = Callable[[float], float]


def leaking(
    rates: ConvolutionTransport, depth: int, alpha: Leak, output: np.ndarray, bias: bool = False
) -> Propagation:
    """Eq. 15 through L layers: capacity of X and of the side inputs, or of the biases.

    The layer that capacity meets at reverse time t leaks α(t)/(L − 1) of it.

    >>> leaking(neighbours(0.25), 3, lambda t: 1.0, np.ones(4)).masses["side"]
    3.0
    """
    n_layers = depth - 1
    operator, _ = residual(rates, n_layers).operator((len(output), 1))
    step = MatrixTransport(operator)  # a layer with its own leak costs a scaled copy, no new operator
    leaks = [alpha((n_layers - level) / n_layers) / n_layers for level in range(1, n_layers + 1)]
    kinds = {leak: Layer.leaky(step, **{"bias" if bias else "side": leak}) for leak in set(leaks)}
    return propagate(output, [kinds[leak] for leak in leaks])


def side_lattice_law(rates: ConvolutionTransport, slope: float, output: np.ndarray) -> np.ndarray:
    """(n,) κ^Y(x) = ∫ α π dt in the limit of many layers, for α = slope · t, by adaptive quadrature.

    The leak is the same everywhere, so that π(t) is exp(tΔ) output times e^{−slope t²/2}.
    """

    def integrand(t: float) -> np.ndarray:
        return slope * t * np.exp(-slope * t**2 / 2) * (lattice_law(rates.scaled(t), output) if t else output)

    return quad_vec(integrand, 0, 1, epsabs=1e-11)[0]


def growing(rates: ConvolutionTransport, depths: Sequence[int], slope: float) -> dict[int, Propagation]:
    """L → one output through L layers with the leak α = slope · t."""
    output = one_output(axis(rates))
    return {depth: leaking(rates, depth, lambda t: slope * t, output) for depth in depths}


def side_gaps(runs: Mapping[int, Propagation], limit: np.ndarray) -> list[float]:
    """Total variation of κ^Y(x) from ``limit`` (n,), for every depth."""
    return [total_variation(run.side[:, 0], limit) for run in runs.values() if run.side is not None]


def imbalance(runs: Iterable[Propagation]) -> float:
    """Largest |Σκ^X + Σκ^Y − Σκ^L|/Σκ^L."""
    return max(abs(run.imbalance) for run in runs)


def equation_gap(diffusion: float, slope: float) -> float:
    """Share of κ^Y that Eq. 16 misplaces against the lattice law, for neighbours with diffusion D."""
    rates = neighbours(diffusion)
    x = axis(rates)
    return total_variation(side_lattice_law(rates, slope, one_output(x)), leaked_density(x, diffusion, slope))


def to_a_constant(alpha: float, depth: int, amounts: Sequence[int]) -> list[float]:
    """Capacity that L layers send to their biases, for outputs that have one unit on so many positions (Eq. 19)."""
    still = ConvolutionTransport.of_offsets({0: 1.0})
    runs = [leaking(still, depth, lambda t: alpha, np.ones(int(amount)), bias=True) for amount in amounts]
    return [run.masses["bias"] for run in runs]


def checked_slope(leak: float, depth: int) -> float:
    """Twice the leak, the slope of the α(t) with the same integral; the leak must suit a network of ``depth`` layers.

    >>> checked_slope(1.5, 8)
    3.0
    """
    if leak > (depth - 1) / 2:
        raise ValueError(
            f"leak: found {leak:g}, expected more than 0 and at most {(depth - 1) / 2:g}, half of the layers that "
            "capacity passes in the shallowest network. Use deeper networks or a smaller leak."
        )
    return 2 * leak


def most_that_leaks(alpha: float, total: float) -> float:
    """(1 − e^{−α}) Σκ^L: what Eq. 19 sends to a constant, whose space has one dimension.

    >>> round(most_that_leaks(1.5, 2.0), 3)
    1.554
    """
    return float(-np.expm1(-alpha) * total)
