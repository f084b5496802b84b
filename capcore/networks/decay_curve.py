"""What other weight decays would give, from one factorisation: total, training loss, leave-one-out, cross-validation.

The network is linearised at its weights θ, and the decay ½θᵀDθ that belongs to them is multiplied by s. The singular
vectors of JD^(−½) give a basis T of the parameters in which every A(s) = JᵀJ + sD is diagonal at once: TᵀA(s)T is
diag(σ² + s), or 1 for parameters without decay. So with M = JT the linearised network of squared loss has at s ::

    f(s) = f − Jθ + M (σ² + s)⁻¹ Mᵀ(y − f + Jθ),    Bᵢ(s) = Mᵢ (σ² + s)⁻¹ Mᵢᵀ,    S(s) = M (σ² + s)⁻¹ Mᵀ

For cross-entropy, which does not depend on the mean of an example's outputs, J is taken less its mean over outputs, T
holds no more directions than there are numbers to fit, and a few Newton steps in them find the optimum of each s.

A network trained with another decay may have learned other features, of which this one knows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import svd

from capcore.architectures.columns import rank_tolerance
from capcore.checks.arguments import one_of
from capcore.checks.memory import arrays, fits, too_large
from capcore.networks.leave_one_out import LEVERAGE, standard_error
from capcore.networks.linearised import Optimum, losses_of, optimum, slopes_of
from capcore.results.notebook import table

if TYPE_CHECKING:
    import pandas

ESTIMATES = ("leave_one_out", "gcv", "penalised")
"""By which a decay can be chosen."""


@dataclass(frozen=True, eq=False)
class DecayCurve:
    """A linearised network's optimum at one weight decay after another.

    Losses are means over examples, without R: of ½‖f − y‖² or −Σ y log softmax(f). Arrays that the method does not give
    are empty.

    Attributes
    ----------
    decays : (m,) array
        Weight decay λ beside the sum of the losses.
    relative : bool
        Whether these are multiples of the weight decay that was given, since that is not one number.
    totals : (m,) array
        tr S(s), the effective number of parameters.
    errors : (m,) array
        For "sketch", half-widths of 95 % intervals of ``totals``; else 0.
    training_losses : (m,) array
        Mean training loss.
    leave_one_out : (m,) array
        Mean loss of each example left out.
    standard_errors : (m,) array
        Of ``leave_one_out``, as if losses were independent.
    trusted : (m,) array
        Share of the examples with a leverage of at most 0.9.
    gcv : (m,) array
        Generalised cross-validation; empty for cross-entropy.
    optimism : (m,) array
        What the training loss is expected to lack: σ²·total/N for squared loss with noise of variance σ², and total/N
        for cross-entropy.
    noise : float or None
        σ², or 1 for cross-entropy.
    loss, method : str
        "squared" or "cross-entropy"; "dense" or "sketch".
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    decays: np.ndarray
    relative: bool
    totals: np.ndarray
    errors: np.ndarray = field(repr=False)
    training_losses: np.ndarray = field(repr=False)
    leave_one_out: np.ndarray = field(repr=False)
    standard_errors: np.ndarray = field(repr=False)
    trusted: np.ndarray = field(repr=False)
    gcv: np.ndarray = field(repr=False)
    optimism: np.ndarray = field(repr=False)
    noise: float | None
    loss: str
    method: str

    @property
    def penalised(self) -> np.ndarray:
        """(m,) training loss plus optimism: Mallows' Cp, or Akaike's criterion by effective parameters."""
        return self.training_losses + self.optimism if len(self.training_losses) else np.empty(0)

    def best(self, by: str = "leave_one_out") -> float:
        """The decay at which an estimate is least: "leave_one_out", "gcv" or "penalised".

        Raises ``ValueError`` if the method or the loss does not have this estimate.
        """
        values = getattr(self, one_of(by, "by", ESTIMATES))
        if not len(values):
            has = [name for name in ESTIMATES if len(getattr(self, name))]
            known = ", ".join(map(repr, has)) or "none: a sketch has totals only. Use method='dense'"
            raise ValueError(f"by: found {by!r}, which is not given for {self.loss}, {self.method}; expected {known}.")
        return float(self.decays[np.argmin(values)])

    def to_dataframe(self) -> pandas.DataFrame:
        """One row for each decay, with all estimates that there are."""
        from capcore.results.tables import decay_frame

        return decay_frame(self)

    def _repr_html_(self) -> str:
        rows = {
            "decays": f"{len(self.decays)}, from {self.decays.min():.3g} to {self.decays.max():.3g}"
            + (" times what was given" if self.relative else ""),
            "capacity": f"from {self.totals.max():.5g} to {self.totals.min():.5g}",
            **{f"least {name}": f"at {self.best(name):.3g}" for name in ESTIMATES if len(getattr(self, name))},
            "method": f"{self.method}, {self.loss}, linearised at the weights",
        }
        return table("Weight decays", rows)


@dataclass(frozen=True, eq=False)
class Modes:
    """A basis T of the parameters in which A(s) = JᵀJ + sD is diagonal for every s.

    Attributes
    ----------
    squares : (r,) array
        σ²; 1 for directions without decay.
    decayed : (r,) array
        1, or 0 for directions without decay: A(s) is diag(squares + s·decayed).
    outputs : (N·K, r) array
        M = JT.
    """

    squares: np.ndarray
    decayed: np.ndarray
    outputs: np.ndarray = field(repr=False)

    @classmethod
    def of(cls, jacobian: np.ndarray, decay: np.ndarray) -> Modes:
        """From J (N·K, p), and the diagonal of D (p,)."""
        with_decay = decay > 0
        free = _orthonormal(jacobian[:, ~with_decay])
        part = jacobian[:, with_decay] / np.sqrt(decay[with_decay])
        u, s, _ = svd(part - free @ (free.T @ part), full_matrices=False, check_finite=False)
        kept = s > rank_tolerance(part.shape, float(s.max(initial=0.0)))
        return cls(
            np.concatenate([np.ones(free.shape[1]), s[kept] ** 2]),
            np.concatenate([np.zeros(free.shape[1]), np.ones(np.count_nonzero(kept))]),
            np.hstack([free, u[:, kept] * s[kept]]),
        )

    def coordinates(self, outputs: np.ndarray) -> np.ndarray:
        """(r,) c for which Mc is nearest to (N·K,) outputs."""
        return self.outputs.T @ outputs / self.squares


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis (N·K, q) of columns (N·K, p), which may be none."""
    if not columns.shape[1]:
        return columns
    u, s, _ = svd(columns, full_matrices=False, check_finite=False)
    return u[:, s > rank_tolerance(columns.shape, float(s.max(initial=0.0)))]


def decay_curve(
    jacobian: np.ndarray,
    outputs: np.ndarray,
    targets: np.ndarray,
    decay: np.ndarray,
    params: np.ndarray,
    loss: str,
    factors: np.ndarray,
    noise: float | None = None,
) -> DecayCurve:
    """The linearised network at each multiple of its decay, from its derivatives at its weights.

    Parameters
    ----------
    jacobian : (N, K, p) array
        J.
    outputs, targets : (N, K) array
        f and y; logits and probabilities for cross-entropy.
    decay : (p,) array
        λ of each parameter; 0 where there is none, at any multiple.
    params : (p,) array
        θ.
    loss : str
        "squared" or "cross-entropy", summed over examples.
    factors : (m,) array
        Multiples s, at least 0.
    noise : float, optional
        Variance of the targets about what could be known, for squared loss; by default that of the residuals of the
        linearised network at s = 1, by their degrees of freedom.

    Raises
    ------
    TooLargeError
        If arrays would not fit into memory.

    Examples
    --------
    >>> x, y = np.eye(3)[:, None], np.array([[1.0], [2.0], [3.0]])
    >>> found = decay_curve(x, 0 * y, y, np.ones(3), np.zeros(3), "squared", np.array([1.0, 3.0]))
    >>> found.totals.round(9).tolist(), found.training_losses.round(4).tolist()  # residuals are s/(1 + s) of y
    ([1.5, 0.75], [0.5833, 1.3125])
    """
    n, k, p = jacobian.shape
    n_bytes = arrays(n * k, p, copies=5) + arrays(p, p, copies=3) + arrays(n * k, k, copies=6)
    if not fits(n_bytes):
        found = f"decay_curve: found {n:,} examples of {k:,} outputs and {p:,} parameters"
        raise too_large(found, n_bytes, "Use method='sketch' for the totals alone, or fewer examples.")
    flat = jacobian if loss == "squared" else jacobian - jacobian.mean(axis=1, keepdims=True)
    flat = flat.reshape(n * k, p)
    modes = Modes.of(flat, decay)
    rows, linear = modes.outputs.reshape(n, k, -1), flat @ params
    offset = outputs - linear.reshape(n, k)
    present = modes.coordinates(linear)

    def solved(s: float) -> Optimum:
        if loss != "squared":
            at, added = offset + rows @ present, s * modes.decayed
            return optimum(rows, at, targets, added, added * present, loss)
        inverse = 1 / (modes.squares + s * modes.decayed)
        found = inverse * (modes.outputs.T @ (targets - offset).ravel())
        at, blocks = offset + rows @ found, (rows * inverse) @ np.swapaxes(rows, 1, 2)
        return Optimum(at, targets, *slopes_of(at, targets, loss), blocks, loss, found - present, 0.0)

    columns: list[tuple[float, ...]] = []
    for s in factors:
        model = solved(float(s))
        losses, share = losses_of(model.left_out()[0], targets, loss), float(np.mean(model.leverage <= LEVERAGE))
        training = float(losses_of(model.outputs, targets, loss).mean())
        columns.append((model.total, training, float(losses.mean()), standard_error(losses), share, model.gcv))
    totals, training_losses, left_out, standard_errors, trusted, gcv = np.array(columns).reshape(-1, 6).T
    if noise is None or loss == "cross-entropy":
        noise = solved(1.0).noise
    return DecayCurve(
        decays=np.asarray(factors, dtype=float),
        relative=True,
        totals=totals,
        errors=np.zeros_like(totals),
        training_losses=training_losses,
        leave_one_out=left_out,
        standard_errors=standard_errors,
        trusted=trusted,
        gcv=gcv if loss == "squared" else np.empty(0),
        optimism=noise * totals / n,
        noise=float(noise),
        loss=loss,
        method="dense",
    )
