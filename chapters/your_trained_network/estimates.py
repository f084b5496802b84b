"""What a trained network is estimated to lose on new examples, from its training examples alone."""

from __future__ import annotations

import numpy as np

from capcore.networks.decay_curve import decay_curve
from capcore.networks.linearised import Optimum, losses_of, optimum, slopes_of
from capcore.networks.problem import to_metric

HARMLESS = 1e6
"""In place of an estimate that is not finite: larger than any other."""


def estimates(
    jacobian: np.ndarray, outputs: np.ndarray, targets: np.ndarray, decay: np.ndarray, params: np.ndarray, loss: str
) -> dict[str, float]:
    """Estimates by name, of the mean loss of an example; and the ``total``, the effective number of parameters.

    ``train``: the training loss. ``alo``, ``gcv``: the package's, at the linearised network's optimum; ``… as is``:
    the same formulas at the weights. ``penalised``: training loss plus s²·total/N, with s² from the residuals, or 1.
    ``tic``: Takeuchi's criterion, plus tr(A⁻¹ Σ ggᵀ)/N. ``evidence``: minus the logarithm of Laplace's over N.

    Parameters
    ----------
    jacobian : (N, K, p) array
        Of the outputs by the parameters.
    outputs, targets : (N, K) array
        Of the training examples.
    decay, params : (p,) array
        Weight decay of each parameter beside the sum of the losses, and the parameters.
    loss : str
        "squared" or "cross-entropy".
    """
    n, flat = len(jacobian), jacobian.reshape(outputs.size, -1)
    errors = slopes_of(outputs, targets, loss)[0]
    ends = optimum(jacobian, outputs, targets, decay, decay * params, loss)
    here = optimum(jacobian, outputs, targets, decay, -flat.T @ errors.ravel(), loss)  # as if the gradient were 0
    train, volume = float(losses_of(outputs, targets, loss).mean()), _volume(jacobian, here, decay)
    values = {
        "train": train,
        "alo": float(losses_of(ends.left_out()[0], targets, loss).mean()),
        "alo as is": float(losses_of(here.left_out()[0], targets, loss).mean()),
        "penalised": train + here.noise * here.total / n,
        "tic": train + float(np.einsum("nk,nkl,nl->", errors, here.blocks, errors)) / n,
        "evidence": (_misfit(train * n + float(decay @ params**2) / 2, outputs.size, loss) + volume) / n,
    }
    if loss == "squared":
        values |= {"gcv": ends.gcv, "gcv as is": here.gcv}
    finite = {name: value if np.isfinite(value) else HARMLESS for name, value in values.items()}
    return {"total": here.total, **finite}


def _volume(jacobian: np.ndarray, model: Optimum, decay: np.ndarray) -> float:
    """½ log det(A D⁻¹), which Laplace's evidence pays for parameters that the data determine."""
    scaled = to_metric(jacobian.reshape(model.outputs.size, -1), model.roots, model.means) / np.sqrt(decay)
    small = scaled @ scaled.T if len(scaled) < decay.size else scaled.T @ scaled
    return float(np.linalg.slogdet(np.eye(len(small)) + small)[1]) / 2


def _misfit(cost: float, n_numbers: int, loss: str) -> float:
    """Minus the logarithm of the likelihood; of squared loss for the noise whose variance makes it largest."""
    if loss == "cross-entropy":
        return cost
    return n_numbers * (1 + float(np.log(4 * np.pi * cost / n_numbers))) / 2


def along_decays(
    jacobian: np.ndarray, outputs: np.ndarray, targets: np.ndarray, decay: np.ndarray, params: np.ndarray, loss: str,
    factors: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """(m,) leave-one-out at multiples of the decay, from the network of one decay alone."""
    found = decay_curve(jacobian, outputs, targets, decay, params, loss, factors).leave_one_out
    return np.where(np.isfinite(found), found, HARMLESS)
