"""What a network would say about each example if it had been trained without it, from one factorisation.

The network is linearised at its weights θ, and its loss Σᵢ ℓ(fᵢ + Jᵢδ, yᵢ) + R(θ + δ) has an optimum at some δ, with
outputs f̄ = f + Jδ, slopes ēᵢ = ∂ℓ/∂f̄ᵢ, curvatures Wᵢ and A = Σᵢ JᵢᵀWᵢJᵢ + ∇²R. At an optimum of the network δ is 0; for
squared loss one Newton step finds it, ē = e − JA⁻¹∇L; for cross-entropy a few do. Then leave out example i: one Newton
step on what is left of the loss moves the parameters by (A − JᵢᵀWᵢJᵢ)⁻¹Jᵢᵀēᵢ. With the (K, K) block Bᵢ = JᵢA⁻¹Jᵢᵀ,
Woodbury's identity turns Jᵢ(A − JᵢᵀWᵢJᵢ)⁻¹ into (I − BᵢWᵢ)⁻¹JᵢA⁻¹, and the example's outputs become ::

    fᵢ⁽⁻ⁱ⁾ = f̄ᵢ + (I − BᵢWᵢ)⁻¹ Bᵢ ēᵢ

For squared loss the residual left out is (I − Bᵢ)⁻¹ēᵢ: for a linear model that of ridge regression without the example,
exactly. For logistic regression it is one Newton step from the optimum, as in Pregibon (1981) and in Rad and Maleki
(2020), with an error of second order in the step. Beirami et al. (2017), Giordano et al. (2019) and Nickl et al. (2023)
have such formulas for other models.

:class:`LeaveOneOut` says for which examples the step is so long that a network is doubtfully linear. It says nothing
about examples that depend on each other, such as neighbours in time: what one knows is then left in with the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from capcore.networks.linearised import Optimum
from capcore.networks.losses import losses_of
from capcore.results.notebook import Record, table

if TYPE_CHECKING:
    import pandas

LEVERAGE = 0.9
"""Above it, an example's residual is more than ten times as large once the example is left out."""
DISTANCE = 1.0
"""Of Cook (1977): a longer step ends outside the region in which the data leave the parameters."""
REASONS = {
    "leverage": f"leverage above {LEVERAGE:g}, so that the residual grows more than tenfold",
    "influence": f"Cook's distance above {DISTANCE:g}, so far that the network may not be linear",
    "optimum": "the optimum is too far from the weights; train longer, give the weight decay of the training, or hold "
    "examples out (total and leverages need no optimum)",
}


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut(Record):
    """Each example as a network trained without it would see it, and which of these answers can be trusted.

    Losses are those of one example, without R: ½‖f − y‖² or −Σ y log softmax(f), summed over its positions. With
    several positions an example, such as tokens, K stands for all outputs of an example, position by position.

    Attributes
    ----------
    mean_loss : float
        Mean of the losses left out: an estimate of what a new example costs.
    standard_error : float
        Of that mean, as if the losses were independent.
    error_rate : float or None
        Share of the positions whose largest output left out is not that of their label; None without labels.
    training_loss : float
        Mean loss of the examples left in, with the weights that were given.
    total : float
        tr S at the linearised network's optimum, the effective number of parameters.
    optimum_distance : float
        Twice what the loss falls from the weights to the linearised network's optimum, over s²·total: the squared
        length of that step in units of the confidence region. 0 at an optimum; infinite if none was found.
    loss : str
    n_fitted : int
        Numbers that targets can choose.
    outputs : (N, K) array
        Outputs left out; NaN where nothing but the example fixes them.
    losses, training_losses : (N,) array
        Left out, and infinite where outputs are NaN; left in.
    leverage : (N,) array
        Largest eigenvalue of the example's (K, K) block of S.
    distance : (N,) array
        Cook's distance δᵀAδ/(s²·total) of the step δ that leaving the example out takes: its squared length in units
        of the confidence region of the parameters. s² is the variance of the residuals, and 1 for −log-likelihoods.
    untrusted : dict
        "leverage", "influence", "optimum" → (N,) array of bool: the examples for which this speaks against the answer.
    """

    mean_loss: float
    standard_error: float
    error_rate: float | None
    training_loss: float
    total: float
    optimum_distance: float
    loss: str
    n_fitted: int
    outputs: np.ndarray = field(repr=False)
    losses: np.ndarray = field(repr=False)
    training_losses: np.ndarray = field(repr=False)
    leverage: np.ndarray = field(repr=False)
    distance: np.ndarray = field(repr=False)
    untrusted: Mapping[str, np.ndarray] = field(repr=False)

    @property
    def trusted(self) -> np.ndarray:
        """(N,) whether nothing speaks against the answer for an example."""
        return ~np.any(list(self.untrusted.values()), axis=0)

    @property
    def statement(self) -> str:
        """How many examples can be trusted, and why the others cannot, in words."""
        n = len(self.outputs)
        said = [f"{int(self.trusted.sum()):,} of {n:,} examples can be trusted."]
        said += [f"Not {int(mask.sum()):,}: {REASONS[name]}." for name, mask in self.untrusted.items() if mask.any()]
        if missing := int(np.isnan(self.outputs).any(axis=1).sum()):
            said.append(f"{missing:,} have no answer, since no other example fixes their outputs: give weight decay.")
        if self.total > self.n_fitted / 2:
            said.append(
                f"The total is {self.total / self.n_fitted:.0%} of the numbers fitted: the mean is likely too high."
            )
        return " ".join(said)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row for each example: its losses, leverage, distance, and whether its answer can be trusted."""
        from capcore.results.tables import left_out_frame

        return left_out_frame(self)

    def _repr_html_(self) -> str:
        rows = {
            "loss left out": f"{self.mean_loss:.4g} ± {self.standard_error:.2g} ({self.loss}, mean and standard error)",
            "training loss": f"{self.training_loss:.4g}",
            **({} if self.error_rate is None else {"error rate left out": f"{self.error_rate:.3g}"}),
            "capacity": f"{self.total:.6g}",
            "trust": self.statement,
        }
        return table("Leave-one-out", rows)


def leave_one_out(model: Optimum, outputs: np.ndarray) -> LeaveOneOut:
    """What is reported of a linearised network's optimum, and of the outputs (N, K) of the network at its weights.

    >>> from capcore.networks.linearised import optimum
    >>> ones, none, y = np.ones((3, 1, 1)), np.zeros(1), np.array([[1.0], [2.0], [3.0]])
    >>> left = leave_one_out(optimum(ones, 2 * ones[0] + 0 * y, y, none, none, "squared"), np.full((3, 1), 2.0))
    >>> left.outputs.ravel().round(9).tolist(), round(left.mean_loss, 9)  # each is the mean of the other two
    ([2.5, 2.0, 1.5], 0.75)
    """
    targets, n = model.targets, len(outputs)
    without, lengths = model.left_out()
    losses, training_losses = (losses_of(values, targets, model.loss) for values in (without, outputs))
    finite = n > 1 and bool(np.isfinite(losses).all())
    region = max(model.noise * model.total, float(np.finfo(float).tiny))
    rows, truth, weights = model.loss.rows(without, targets)
    labels = model.loss.dependent and bool(np.all(truth.max(axis=1) == 1))
    wrong = np.isnan(rows).any(axis=1) | (np.argmax(rows, axis=1) != np.argmax(truth, axis=1))
    distance, away = lengths / region, 2 * model.fall / region
    return LeaveOneOut(
        mean_loss=float(losses.mean()),
        standard_error=float(losses.std(ddof=1) / np.sqrt(n)) if finite else float("inf"),
        error_rate=float(wrong[weights.any(axis=1)].mean()) if labels else None,
        training_loss=float(training_losses.mean()),
        total=model.total,
        optimum_distance=away,
        loss=model.loss.name,
        n_fitted=model.loss.n_fitted(outputs.shape),
        outputs=without,
        losses=losses,
        training_losses=training_losses,
        leverage=model.leverage,
        distance=distance,
        untrusted={
            "leverage": model.leverage > LEVERAGE,
            "influence": distance > DISTANCE,
            "optimum": np.full(n, away > DISTANCE),
        },
    )
