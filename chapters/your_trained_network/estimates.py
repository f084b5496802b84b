"""What a trained network is estimated to lose on new examples, from its training examples alone."""

from typing import Any

import numpy as np
import pandas as pd

from capcore.networks import NetworkAllocation
from capcore.networks.linearised import optimum
from capcore.networks.losses import losses_of, slopes_of

HARMLESS = 1e6
"""In place of an estimate that is not finite: larger than any other."""


def estimates(
    jacobian: np.ndarray, outputs: np.ndarray, targets: np.ndarray, decay: np.ndarray, params: np.ndarray, loss: str
) -> dict[str, float]:
    """Estimates by name, of the mean loss of an example; and the ``total``, the effective number of parameters.

    ``train``: the training loss. ``alo``: the package's, at the linearised network's optimum. ``penalised``: training
    loss plus s²·total/N, with s² from the residuals, or 1. ``tic``: Takeuchi's criterion, plus tr(A⁻¹ Σ ggᵀ)/N.

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
    train = float(losses_of(outputs, targets, loss).mean())
    values = {
        "train": train,
        "alo": float(losses_of(ends.left_out()[0], targets, loss).mean()),
        "penalised": train + here.noise * here.total / n,
        "tic": train + float(np.einsum("nk,nkl,nl->", errors, here.blocks, errors)) / n,
    }
    finite = {name: value if np.isfinite(value) else HARMLESS for name, value in values.items()}
    return {"total": here.total, **finite}


def decay_curve(
    jacobian: np.ndarray, outputs: np.ndarray, targets: np.ndarray, decay: np.ndarray, params: np.ndarray, loss: Any,
    factors: np.ndarray,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Estimates (m,) at multiples of the decay, from the network of one decay alone: at each the linearised optimum.

    ``total``, ``training`` and ``left out`` are as in :func:`estimates`; parameters without decay stay without.

    >>> x, y = np.eye(3)[:, None], np.array([[1.0], [2.0], [3.0]])
    >>> curve = decay_curve(x, 0 * y, y, np.ones(3), np.zeros(3), "squared", np.array([1.0, 3.0]))
    >>> curve["total"].round(9).tolist(), curve["training"].round(4).tolist()  # residuals are s/(1 + s) of y
    ([1.5, 0.75], [0.5833, 1.3125])
    """
    rows = []
    for factor in factors:
        model = optimum(jacobian, outputs, targets, factor * decay, factor * decay * params, loss)
        left_out, training = (losses_of(f, targets, loss).mean() for f in (model.left_out()[0], model.outputs))
        rows.append((model.total, training, left_out))
    return dict(zip(("total", "training", "left out"), np.array(rows).T, strict=True))


def of_allocation(allocation: NetworkAllocation) -> pd.DataFrame:
    """:func:`decay_curve` at a hundredth to a hundred times the decay, which all parameters share and the index has."""
    problem, w = allocation.problem, allocation.problem.derivatives.params
    jacobian = problem.derivatives.jacobian(w).reshape(*problem.targets.shape, w.size)
    factors = 10.0 ** np.arange(-2, 2.1, 0.5)
    data = jacobian, problem.derivatives.outputs(w), problem.targets, problem.decay, w, problem.loss
    return pd.DataFrame(decay_curve(*data, factors), index=factors * problem.decay[0])
