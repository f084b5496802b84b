"""What the last state remembers of the input k steps back: Eq. 30 of paper 2 step by step, and linear probes.

Capacity is propagated through all N steps. The probed network reads white inputs y_t of n components, one for each
unit: x_t = √(1 − α/N) W_t x_{t−1} + √(α/N) y_t. A probe is the best linear estimate of a component of y_{N−k} from the
state, and its R², the mean over components, is the memory of lag k. Without noise all R² sum to one, over lags and
initial state, as the capacities of Eq. 30 do.

``python -m chapters run recurrent_probes`` makes the stored growth and memories again, in about a minute on one core.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from tqdm import tqdm

from capcore import ConvolutionTransport, Layer, propagate
from chapters.kit.witness import Witness
from chapters.scaling_conjecture_recurrent.study import growth_curve
from chapters.scaling_conjecture_recurrent.transitions import ALLOWED, Transitions

CASES = {
    **{f"fresh {kind}, 1/√N": Transitions(kind, 0.5, shared=False) for kind in ("dense", "local")},
    **{f"one {kind}, 1/√N": Transitions(kind, 0.5) for kind in ("dense", "local")},
    **{f"one {name}": kind for name, kind in ALLOWED.items()},
}
"""Name → transitions whose linear memories are stored."""
SETTINGS: dict[str, Any] = {
    "n_units": 64,
    "lengths": [16, 64, 256, 1024],
    "n_draws": 40,
    "n_steps": 256,
    "alpha": 1.0,
    "memory_draws": 20,
    "tanh_units": 16,
    "tanh_steps": 64,
    "n_samples": 24000,
    "input_exponents": {"tanh, inputs 1": 0.0, "tanh, inputs 1/√N": 0.5, "tanh, inputs 1/N": 1.0},
    "seed": 0,
    "cases": list(CASES),
}
QUICK: dict[str, Any] = {"n_units": 4, "lengths": [2, 4], "n_steps": 8, "tanh_steps": 4, "n_samples": 40}
WITNESS = Witness(
    ["lengths", "cases", "input_exponents"], elsewhere={"": 1e-4}, reason="Inputs are drawn in single precision."
)
PACKAGES = ("scikit-learn",)


def forgetting(alpha: float, n_steps: int) -> np.ndarray:
    """(n_steps,) capacity of the side input k steps back, in N steps with leak α/N each: (α/N)(1 − α/N)^k.

    This is the share of side inputs in paper 2, Eq. 30, before its limit. The initial state has the rest, (1 − α/N)^N.
    In the limit of many steps the half-life is N ln 2/α.

    >>> forgetting(2.0, 4).tolist()
    [0.5, 0.25, 0.125, 0.0625]
    """
    leak = alpha / n_steps
    return leak * (1 - leak) ** np.arange(n_steps)


class Forgetting(NamedTuple):
    """Where the capacity of the last state comes from.

    Attributes
    ----------
    per_lag : (N,) capacity of the input k steps back, k = 0 being the last one. initial : that of the initial state.
    alpha : the leak of all steps together.
    """

    per_lag: np.ndarray
    initial: float
    alpha: float

    @property
    def gap(self) -> float:
        """Largest distance from (α/N)(1 − α/N)^k, and of the initial state from (1 − α/N)^N."""
        n_steps = len(self.per_lag)
        rest = (1 - self.alpha / n_steps) ** n_steps
        return max(float(np.abs(self.per_lag - forgetting(self.alpha, n_steps)).max()), abs(self.initial - rest))

    @property
    def half_life(self) -> float:
        """Lag at which the capacity of a step has halved, log-linear between lags; infinite if that is never."""
        logs = np.log2(self.per_lag[0]) - np.log2(self.per_lag)
        return float(np.interp(1.0, logs, np.arange(len(logs)), right=np.inf))


def forget(n_steps: int, alpha: float, n_positions: int = 16, diffusion: float = 1.0) -> Forgetting:
    """One unit of capacity on the last state, sent back through N local transitions, each with an input that leaks α/N.

    Parameters
    ----------
    n_positions : of the state, on a circle. diffusion : D; a step moves D/N of the capacity to either neighbour.

    >>> memory = forget(4, 2.0)
    >>> memory.per_lag.tolist(), memory.initial
    ([0.5, 0.25, 0.125, 0.0625], 0.0625)
    """
    jump = diffusion / n_steps
    local = ConvolutionTransport.of_offsets({-1: jump, 0: 1 - 2 * jump, 1: jump})
    step = Layer.leaky(local, side=alpha / n_steps)
    state = propagate(np.eye(n_positions)[0], [step] * n_steps)
    return Forgetting(state.side_mass[::-1], state.masses["input"], alpha)


def unit_matrices(
    transitions: Transitions, n_steps: int, n: int, rng: np.random.Generator, alpha: float = 1.0
) -> Iterator[np.ndarray]:
    """√(1 − α/N) W, with W divided by √(1 + N^−2a) so that it keeps the mean square; an exponential is not divided."""
    keep = np.sqrt(1 - alpha / n_steps)
    if not transitions.exponential:
        keep /= np.sqrt(1 + float(n_steps) ** (-2 * transitions.exponent))
    for W in transitions.matrices(n_steps, n, rng):
        yield keep * W


def probe_memory(
    transitions: Transitions,
    n_steps: int,
    n: int,
    rng: np.random.Generator,
    *,
    alpha: float = 1.0,
    noise: float = 0.01,
    start: float = 1.0,
) -> np.ndarray:
    """(N + 1,) R² of the best linear probes of lags 0 … N − 1 and, last, of the initial state: exact, one draw of W.

    With P_k the product of the last k transitions, M_k = √(α/N) P_k, M_N = √start P_N and C = Σ M_k M_kᵀ + noise, the
    memory of lag k is tr(M_kᵀ C⁻¹ M_k)/n.

    Parameters
    ----------
    noise : variance of the white noise under which the state is read, relative to the state's own mean variance.
    start : variance of the initial state, which is white.

    Raises ``LinAlgError`` where the state has no variance in some direction.

    >>> quiet = probe_memory(Transitions("dense"), 16, 8, np.random.default_rng(0), noise=0.0)
    >>> quiet.shape, round(quiet.sum().item(), 8)
    ((17,), 1.0)
    """
    maps, P = [], np.eye(n)
    for W in unit_matrices(transitions, n_steps, n, rng, alpha):  # backwards in time: W of the last step comes first
        maps.append(np.sqrt(alpha / n_steps) * P)
        P = P @ W
    maps.append(np.sqrt(start) * P)
    stacked = np.concatenate(maps, axis=1)
    size = np.abs(stacked).max()
    stacked /= size  # the memory does not depend on the units of the state
    C = stacked @ stacked.T
    C += noise * np.trace(C) / n * np.eye(n)
    whitened = solve_triangular(np.linalg.cholesky(C), stacked, lower=True)
    return (whitened**2).sum(axis=0).reshape(n_steps + 1, n).mean(axis=1)


def memory_law(alpha: float, n_steps: int) -> np.ndarray:
    """(N + 1,) what Eq. 30 gives the lags 0 … N − 1 and the initial state: it sums to one.

    >>> memory_law(2.0, 4).tolist()
    [0.5, 0.25, 0.125, 0.0625, 0.0625]
    """
    return np.append(forgetting(alpha, n_steps), (1 - alpha / n_steps) ** n_steps)


def far_half(memory: np.ndarray) -> float:
    """Sum over the lags N/2 … N − 1 of what :func:`probe_memory` returns.

    >>> far_half(np.array([0.4, 0.2, 0.2, 0.1, 0.1]))
    0.30000000000000004
    """
    n_steps = len(memory) - 1
    return float(memory[n_steps // 2 : n_steps].sum())


def sampled_memory(
    transitions: Transitions, n_steps: int, n: int, n_samples: int, input_scale: float | None, alpha: float, seed: int
) -> np.ndarray:
    """(N,) R² on held-out sequences of ridge probes of every lag, from simulated sequences that start at zero.

    The state is f(√(1 − α/N) W_t x_{t−1} + γ y_t), as Eq. 13 has it, and read under a noise of 0.01. Three quarters of
    the sequences fit the probes. What the fit costs on unseen sequences is some n/n_samples for each lag, to be
    compared with R² near α/N.

    Parameters
    ----------
    input_scale : γ of tanh units; by default f is the identity, and γ = √(α/N).
    """
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng([seed, n_steps])
    gamma = np.sqrt(alpha / n_steps) if input_scale is None else input_scale
    matrices = list(unit_matrices(transitions, n_steps, n, rng, alpha))[::-1]
    inputs = rng.standard_normal((n_steps, n_samples, n), dtype=np.float32)
    x = np.zeros((n_samples, n))
    for W, y in zip(matrices, inputs, strict=True):
        x = x @ W.T + gamma * y
        if input_scale is not None:
            np.tanh(x, out=x)
    x /= np.sqrt(x.var())
    x += np.sqrt(0.01) * rng.standard_normal(x.shape)
    fitted, held = slice(None, 3 * n_samples // 4), slice(3 * n_samples // 4, None)
    memory = []
    for y in inputs[::-1]:  # lag 0 is the last step
        probe = Ridge(alpha=1e-3 * n_samples).fit(x[fitted], y[fitted])
        memory.append(1 - np.mean((probe.predict(x[held]) - y[held]) ** 2) / np.mean(y[held] ** 2))
    return np.array(memory)


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``growth`` of fresh matrices at 1/√N, linear ``memories`` by case, and those of ``tanh`` networks by label.

    The tanh networks, and a ``linear`` one beside them, have the transition √(1 − α/N) exp(A/√N) with one dense
    antisymmetric A, and inputs of scale √α N^−exponent.
    """
    n, seed, alpha = settings["n_units"], settings["seed"], settings["alpha"]
    growth = {}
    for kind in ("dense", "local") if settings["lengths"] else ():
        fresh = Transitions(kind, 0.5, shared=False)
        growth[kind] = growth_curve(fresh, settings["lengths"], n, settings["n_draws"], seed)._asdict()
    memories, n_steps = {}, settings["n_steps"]
    for name in tqdm([name for name in CASES if name in settings["cases"]], disable=not progress):
        rngs = map(np.random.default_rng, np.random.SeedSequence([seed, n_steps]).spawn(settings["memory_draws"]))
        draws = [probe_memory(CASES[name], n_steps, n, rng, alpha=alpha) for rng in rngs]
        memories[name] = np.mean(draws, axis=0).tolist()
    exponents, n_steps = settings["input_exponents"], settings["tanh_steps"]
    scales: dict[str, float | None] = {name: float(np.sqrt(alpha) * n_steps**-b) for name, b in exponents.items()}
    sizes = n_steps, settings["tanh_units"], settings["n_samples"]
    rotation = Transitions("antisymmetric", 0.5, exponential=True)
    tanh = {
        name: sampled_memory(rotation, *sizes, scale, alpha, seed).tolist()
        for name, scale in ({"linear": None, **scales} if exponents else {}).items()
    }
    return {"growth": growth, "memories": memories, "tanh": tanh}
