"""Capacity along frequencies: profiles, what stationarity says about them, and what they look like without training."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.fft import dct
from scipy.linalg import eigh

from capcore import Architecture, ConstraintSpace, Hierarchical, Problem, Process
from capcore.capacity.allocation import CapacityAllocation
from capcore.capacity.fourier import per_frequency
from chapters.shared.profiles import roughness
from chapters.shared.survey import allocate_quietly, case


def mode_frequencies(n_inputs: int) -> np.ndarray:
    """(n,) frequency of every column of :func:`fourier_modes`, in cycles per window.

    >>> mode_frequencies(5).tolist(), mode_frequencies(4).tolist()
    ([0, 1, 1, 2, 2], [0, 1, 1, 2])
    """
    return (np.arange(n_inputs) + 1) // 2


def fourier_modes(n_inputs: int) -> np.ndarray:
    """(n, n) orthonormal real Fourier modes as columns: constant, cosine and sine of 1/n, of 2/n, …

    >>> modes = fourier_modes(5)
    >>> bool(np.allclose(modes.T @ modes, np.eye(5)))
    True
    """
    index = mode_frequencies(n_inputs)
    angles = 2 * np.pi * np.arange(n_inputs)[:, None] * index / n_inputs
    is_sine = (np.arange(n_inputs) % 2 == 0) & (index > 0)
    modes = np.where(is_sine, np.sin(angles), np.cos(angles))
    return modes / np.linalg.norm(modes, axis=0)


def not_full(models: Mapping[str, Architecture]) -> list[str]:
    """The labels of the models that cannot constrain every input. Raises ``ValueError`` where there is none.

    >>> not_full({"small": Hierarchical(1, 3), "full": Hierarchical(8, 3)})
    ['small']
    """
    labels = [name for name, arch in models.items() if arch.generic_capacity() < arch.n_inputs * arch.input_dim]
    if not labels:
        raise ValueError(
            f"channels: found only models with full capacity ({', '.join(models)}), expected a smaller one among them: "
            "a full model has capacity one everywhere."
        )
    return labels


def per_mode(capacities: object) -> np.ndarray:
    """(n_frequencies,) capacities of frequencies divided by their number of modes, two or one: each in [0, 1].

    Parameters
    ----------
    capacities : (n // 2 + 1,) as :func:`capcore.capacity.fourier.per_frequency` gives them, for even n.

    >>> per_mode([1.0, 1.0, 0.5]).tolist()
    [1.0, 0.5, 0.5]
    """
    values = np.array(capacities, dtype=float)
    values[1:-1] /= 2
    return values


def along_modes(alloc: CapacityAllocation) -> np.ndarray:
    """(n // 2 + 1,) mean capacity of the modes of each frequency."""
    return per_mode(alloc.per_frequency)


def halves(profile: np.ndarray) -> np.ndarray:
    """(n // 2,) means of neighbouring pairs of a profile: as many values as there are frequencies, but for one.

    >>> halves(np.array([1.0, 3.0, 2.0, 2.0])).tolist()
    [2.0, 2.0]
    """
    even = len(profile) // 2 * 2
    return profile[:even].reshape(-1, 2).mean(axis=1)


def roughnesses(alloc: CapacityAllocation) -> dict[str, float]:
    """Roughness of the profiles along frequencies and inputs, and of the latter averaged in pairs."""
    return {
        "frequencies": roughness(along_modes(alloc)),
        "inputs": roughness(alloc.per_input),
        "pairs of inputs": roughness(halves(alloc.per_input)),
    }


def cosine_modes(n_inputs: int) -> np.ndarray:
    """(n, n) orthonormal standing waves cos(πk(i + ½)/n) as columns: whole and half periods, no sines (DCT-II)."""
    return dct(np.eye(n_inputs), norm="ortho", axis=0).T


def largest_shares(covariance: np.ndarray) -> tuple[float, float]:
    """How nearly the eigenvectors of Σ are waves: mean over them of the largest share in one wave.

    Returns
    -------
    fourier : share in one Fourier frequency, its cosine and sine together. standing : in one mode of
        :func:`cosine_modes`. One if every eigenvector is such a wave.
    """
    n = len(covariance)
    vectors = eigh(covariance)[1]
    squares = np.square(fourier_modes(n).T @ vectors)
    starts = np.flatnonzero(np.diff(mode_frequencies(n), prepend=-1))
    fourier = np.add.reduceat(squares, starts, axis=0).max(axis=0)
    standing = np.square(cosine_modes(n).T @ vectors).max(axis=0)
    return float(fourier.mean()), float(standing.mean())


def profile_gap(alloc: CapacityAllocation, modes: np.ndarray) -> float:
    """Mean |difference| of the capacities along the eigenvectors of Σ and along modes (n, n), by expected power."""
    power = np.einsum("ij,ij->j", modes, alloc.covariance @ modes)
    order = np.argsort(-power, kind="stable")
    return float(np.abs(alloc.per_eigenvector - alloc.space.along(modes)[order]).mean())


def gaps_by_window(process: Process, channels: int, n_layers: Sequence[int], seed: int = 0) -> dict[str, np.ndarray]:
    """For windows of 2^L inputs: their sizes, mean capacities, and the gaps of Fourier modes and of standing waves.

    Returns
    -------
    "n_inputs", "mean capacity", "fourier", "standing waves" → (m,) values, of hierarchical models at their optima.
    """
    allocations = [case(Hierarchical(channels, depth), process, rng=seed).allocation for depth in n_layers]
    sizes = np.array([len(alloc.covariance) for alloc in allocations])
    return {
        "n_inputs": sizes,
        "mean capacity": np.array([alloc.total for alloc in allocations]) / sizes,
        "fourier": np.array([profile_gap(a, fourier_modes(n)) for a, n in zip(allocations, sizes, strict=True)]),
        "standing waves": np.array([profile_gap(a, cosine_modes(n)) for a, n in zip(allocations, sizes, strict=True)]),
    }


def without_covariance(arch: Architecture, params: np.ndarray) -> np.ndarray:
    """(n // 2 + 1,) mean leverage of the modes of each frequency in J instead of ΣJ, for one component per position."""
    columns = np.hstack(list(arch.tangents(params).values()))
    return per_mode(per_frequency(ConstraintSpace.from_columns(columns, equilibrated=True)))


def untrained(arch: Architecture, process: Process | Problem, n_draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Profiles at random parameters, not trained at all: of ΣJ and of J, each (n_draws, n // 2 + 1)."""
    problem = Problem.of(arch, process)
    draws = [arch.init(np.random.default_rng([seed, i])) for i in range(n_draws)]
    weighted = [along_modes(allocate_quietly(arch, w, problem)) for w in draws]
    return np.array(weighted), np.array([without_covariance(arch, w) for w in draws])


def contrast(profile: np.ndarray, period: int) -> np.ndarray:
    """(…,) mean capacity at the multiples of 1/period above zero, minus that halfway between them.

    Parameters
    ----------
    profile : (…, n // 2 + 1) along frequencies; 2 · period must divide n.

    >>> float(contrast(np.array([1.0, 0.0, 0.5, 0.0, 1.0]), 4))
    0.75
    """
    n = 2 * (profile.shape[-1] - 1)
    step = n // period
    return profile[..., step::step].mean(axis=-1) - profile[..., step // 2 :: step].mean(axis=-1)


def wave_and_shadow(space: ConstraintSpace, frequency: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the waves of one frequency (cycles per input) the one with the longest projection onto a space, and that.

    Both (n,); the wave has amplitude 1.

    >>> wave, shadow = wave_and_shadow(ConstraintSpace.from_columns(np.cos(np.pi / 2 * np.arange(8))[:, None]), 0.25)
    >>> bool(np.allclose(wave, shadow)), round(float(np.abs(wave).max()), 6)
    (True, 1.0)
    """
    angles = 2 * np.pi * frequency * np.arange(space.basis.shape[0])
    plane, _ = np.linalg.qr(np.column_stack([np.cos(angles), np.sin(angles)]))
    longest = plane @ np.linalg.svd(space.basis.T @ plane)[2][0]
    cosine, sine = np.linalg.lstsq(np.column_stack([np.cos(angles), np.sin(angles)]), longest)[0]
    wave = longest / np.hypot(cosine, sine)
    return wave, space.basis @ (space.basis.T @ wave)
