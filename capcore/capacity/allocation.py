"""Where a trained model spends its capacity (paper 1, sections 4.3 and 5.1).

The constraint space of a model at an optimum is the column space of K̃ = ΣJ (Eq. 16). Each layer has its own
part of the Jacobian and so its own constraint space, and conditional capacities (section 3.4) say
what each of them adds.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, qr

from capcore.architectures.base import Architecture
from capcore.capacity.constraints import ConstraintSpace, chain, join
from capcore.capacity.fourier import fourier_frequencies, per_frequency
from capcore.checks.arguments import warn
from capcore.checks.memory import check_allocation
from capcore.processes import Process
from capcore.processes.problem import Problem
from capcore.results.notebook import Record, table

EPS = float(np.finfo(float).eps)


class CapacityWarning(UserWarning):
    """The numerical capacity differs from the exact generic one."""


def warn_if_singular(total: int, generic_total: int, at: str = "") -> None:
    """Give a :class:`CapacityWarning` if the two differ."""
    if total != generic_total:
        warn(
            f"numerical capacity {total}{at} differs from the exact generic capacity {generic_total}: the parameters "
            "are singular or nearly so, and other optima with the same loss may have more, or less. Fit with "
            "start='random' and several seeds, and look at singular_values.",
            CapacityWarning,
        )


@dataclass(frozen=True, eq=False)
class LayerAllocation:
    """Capacity of one layer at each input, in four versions, each of shape (n_inputs,).

    Attributes
    ----------
    space : ConstraintSpace
        The constraint space of the layer.
    independent : (n_inputs,) array
        As if all other layers were constants.
    forward : (n_inputs,) array
        Given all layers below (the chain that starts at the layer nearest the input).
    backward : (n_inputs,) array
        Given all layers above (the chain that starts at the output).
    marginal : (n_inputs,) array
        Given all other layers.
    """

    space: ConstraintSpace = field(repr=False)
    independent: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    marginal: np.ndarray

    @property
    def totals(self) -> dict[str, int]:
        """The four sums over the inputs. Each is the dimension of a space, hence a whole number."""
        return {name: round(float(view.sum())) for name, view in vars(self).items() if name != "space"}

    def __repr__(self) -> str:
        return f"LayerAllocation({', '.join(f'{name}={total}' for name, total in self.totals.items())})"

    def _repr_html_(self) -> str:
        return table("Capacity of a layer", {name: f"{total:,}" for name, total in self.totals.items()})


@dataclass(frozen=True, eq=False, repr=False)
class CapacityAllocation(Record):
    """The capacity of a model at given parameters, and how to break it down.

    Attributes
    ----------
    space : ConstraintSpace
        𝒦, the column space of ΣJ.
    generic_total : int
        Exact rank of the Jacobian at almost all parameters.
    covariance : (n, n) array
        Σ.
    input_dim : int
        Components per position.
    """

    space: ConstraintSpace
    generic_total: int
    covariance: np.ndarray = field(repr=False)
    input_dim: int
    _layer_spaces: dict[str, ConstraintSpace] = field(repr=False)

    @property
    def total(self) -> int:
        """κ, the numerical dimension of 𝒦 at these parameters; ``per_input`` sums to it.

        Where it is below ``generic_total``, it holds for this optimum only. Close to any parameters the rank of the
        Jacobian can only grow, so κ is a lower bound for nearby optima; optima elsewhere with the same loss may have
        more or less. ``generic_total`` is an upper bound for all of them.
        """
        return self.space.dimension

    @cached_property
    def per_input(self) -> np.ndarray:
        """(n_inputs,) capacity of each input position, lag 0 first; each between 0 and input_dim (Eq. 18)."""
        return self.space.per_input(self.input_dim)

    @cached_property
    def _eigen(self) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = eigh(self.covariance)
        return values[::-1], vectors[:, ::-1]

    @cached_property
    def missed(self) -> np.ndarray:
        """(n_inputs,) share of a small event at each input that the best model nearby still misses, between 0 and 1.

        Let the target's coefficient of an input change by a small δ. Once all parameters have followed, δ²·E_k of the
        error stays, E_k = e_kᵀ(1 − R)ᵀΣ(1 − R)e_k with R = J(JᵀΣJ)⁺JᵀΣ; a model without that input keeps δ²·Σ_kk. The
        share is E_k / Σ_kk, of several components that of the sums of both. It is not 1 − ``per_input``: correlated
        inputs can stand in for one another. To leading order in δ: events above the loss cost rich models less.
        """
        values, vectors = self._eigen
        root = vectors * np.sqrt(np.maximum(values, 0))  # of Σ, with 𝒦 = root · columns
        columns = (vectors.T @ self.space.basis) / np.sqrt(np.maximum(values, EPS * values[0]))[:, None]
        followed = np.square(root @ qr(columns, mode="economic")[0]).sum(axis=1)
        return missed_share(followed, np.diag(self.covariance), self.input_dim)

    @property
    def eigenvalues(self) -> np.ndarray:
        """(n,) eigenvalues of Σ, descending."""
        return self._eigen[0]

    @cached_property
    def per_eigenvector(self) -> np.ndarray:
        """(n,) capacity along each eigenvector of Σ, by descending eigenvalue (Fig. 5, right)."""
        return self.space.along(self._eigen[1])

    @property
    def frequencies(self) -> np.ndarray:
        """(n_inputs // 2 + 1,) frequencies of ``per_frequency``, in cycles per input."""
        return fourier_frequencies(self.covariance.shape[0] // self.input_dim)

    @cached_property
    def per_frequency(self) -> np.ndarray:
        """(n_inputs // 2 + 1,) capacity of the real Fourier modes of each frequency; they sum to ``total``.

        A frequency has a cosine and a sine, and at most 2 · input_dim; 0 and ½ have one mode, and at most input_dim.
        """
        return per_frequency(self.space, self.input_dim)

    @cached_property
    def layers(self) -> dict[str, LayerAllocation]:
        """Layer name → its allocation, nearest the input first (section 5.1.4)."""
        spaces = list(self._layer_spaces.values())
        forward = chain(spaces)
        backward = chain(spaces[::-1])[::-1]
        result = {}
        for l, name in enumerate(self._layer_spaces):
            others = spaces[:l] + spaces[l + 1 :]
            marginal = chain([join(others), spaces[l]])[1] if others else spaces[l]
            views = (spaces[l], forward[l], backward[l], marginal)
            result[name] = LayerAllocation(spaces[l], *(view.per_input(self.input_dim) for view in views))
        return result

    def capacity(self, subspace: object) -> float:
        """κ(S) for any subspace S given by spanning columns (n, m)."""
        return self.space.capacity(subspace)


def missed_share(followed: np.ndarray, variances: np.ndarray, input_dim: int) -> np.ndarray:
    """(n_inputs,) share that stays of the ``variances`` (n,) of all components, less what is ``followed`` (n,)."""
    followed, variances = (values.reshape(-1, input_dim).sum(axis=1) for values in (followed, variances))
    return np.clip(1 - followed / variances, 0, 1)


def allocate(arch: Architecture, params: np.ndarray, task: Process | Problem) -> CapacityAllocation:
    """Capacity allocation of an architecture at given parameters, for a process.

    The constraint space is defined at any parameters, but only at an optimum does it say which errors are fixed.
    Capacity does not depend on the scale of a layer: layers of any scale, 1e±300 included, are rescaled first.

    Parameters
    ----------
    arch : Architecture
        The model.
    params : (n_params,) array
        Usually those of an optimum.
    task : Process or Problem
        The process whose covariance Σ is used, or the prediction problem that it defines.

    Warns
    -----
    CapacityWarning
        If the numerical total differs from the exact generic one: the parameters are then singular (an exactly
        low-rank target, a layer of zeros), or close to it, and the total depends on the optimum that was reached.

    Raises
    ------
    ValueError
        If parameters, covariance or Jacobian are not finite, or their shapes do not fit.
    TooLargeError
        If the matrices do not fit into memory; the message names the function to use instead.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.fitting.optimum import fit
    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(channels=4, n_layers=6)
    >>> alloc = allocate(arch, fit(arch, PowerLaw()).params, PowerLaw())
    >>> alloc.total, alloc.generic_total, round(float(alloc.per_input.sum()), 9)
    (48, 48, 48.0)
    """
    check_allocation(arch)
    covariance = Problem.of(arch, task).covariance
    tangents = arch.tangents(params)
    if not all(np.isfinite(columns).all() for columns in tangents.values()):
        raise ValueError(f"params: found values at which the Jacobian of {arch!r} overflows. Scale them down.")
    spaces = {
        name: ConstraintSpace.from_columns(covariance @ columns, equilibrated=True)
        for name, columns in tangents.items()
    }
    space = join(list(spaces.values()))
    generic_total = arch.generic_capacity()
    warn_if_singular(space.dimension, generic_total)
    return CapacityAllocation(space, generic_total, covariance, arch.input_dim, spaces)
