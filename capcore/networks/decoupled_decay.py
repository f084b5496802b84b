"""Which weight decay stands for that of AdamW, and when none does.

AdamW (Loshchilov and Hutter, 2019) moves each parameter by −η(m̂/(√v̂ + ε) + wθ), with m̂ the mean of recent gradients of
the loss alone and v̂ that of their squares, in each parameter. It rests where the mean of both parts vanishes. As v̂
changes slowly, this is where ∇ℓ̄ = −w(√v + ε)θ with ℓ̄ the loss that was trained, an L2 penalty ½Σ w(√vᵢ + ε)θᵢ² with a
factor of its own for each parameter. Beside a sum of losses that is M times ℓ̄ it is

    λᵢ = M·w·(√vᵢ + ε).

For the mean over N examples M is N. For the squared loss as the mean over N·K numbers without ½, as PyTorch's
``MSELoss`` has it, the sum of ½‖f − y‖² is N·K/2 times the loss: M is N·K/2.

**What v is.** v is the second moment of the gradients that the optimiser saw: the square of their mean plus their
variance over batches. Near the end the variance is nearly all of it. That of batches of B examples falls as 1/B, so λ
falls as 1/√B: AdamW's decay depends on the size of the batches, and a λ for one size does not stand for another.

**When no λ stands for it.** With the whole data in each batch there is no variance, and v tends to the square of the
gradient itself. Then |g| = w(|g| + ε)|θ|, so |g| = wε|θ|/(1 − w|θ|) and

    λᵢ = M·w·ε/(1 − w|θᵢ|).

With ε = 1e-8 that is no decay. Within |θᵢ| < 1/w the gradient vanishes as if nothing had been penalised, and where it
does not vanish θᵢ is driven to ±1/w: where AdamW of whole batches converges, it is to a point that satisfies the
conditions of Karush, Kuhn and Tucker for the loss subject to ‖θ‖_∞ ≤ 1/w (Xie and Li, 2024). The λ of the formula is
then of the order of M·w·ε, and rightly so. Such a network counts as one without weight decay: use more examples than
parameters.
"""

from typing import Any

import numpy as np

from capcore.architectures.trees import ravelled
from capcore.checks.arguments import finite_number, positive_number
from capcore.networks.derivatives import like


def decoupled_decay(second_moments: Any, weight_decay: Any, n_examples: float, *, eps: float = 1e-8) -> Any:
    """λ of the L2 penalty at whose stationary point AdamW rests: M·w·(√v + ε), one for each parameter.

    Give the result as ``weight_decay`` of :func:`~capcore.networks.allocation.allocate_network`. It is exact where
    AdamW has come to rest, and ``allocation.gradient_norm`` says how far it has.

    Parameters
    ----------
    second_moments : object
        v of the optimiser, as a tree of arrays like the parameters. With optax it is ``nu`` of the state of
        ``scale_by_adam``. With PyTorch::

            moments = [moment["exp_avg_sq"] for moment in optimizer.state_dict()["state"].values()]
            second_moments = dict(zip(params, moments))

        with ``params`` of :func:`~capcore.architectures.adapter.from_torch`, if the optimiser was given all parameters
        in their order. Divide by 1 − β₂ᵗ after few steps t. The mean over many steps is less noisy than the last value.
    weight_decay : float or object
        w of AdamW, at least 0; or a tree like ``second_moments``, with 0 where nothing decays, such as biases.
    n_examples : float
        M, by which the trained loss has to be multiplied to give the sum of the losses: N for a mean over N examples,
        N·K/2 for ``MSELoss`` with K outputs.
    eps : float, default 1e-8
        ε of AdamW.

    Returns
    -------
    object
        A tree like ``second_moments``.

    Raises
    ------
    ValueError
        If a second moment, w, M or ε is negative or not finite, or two trees differ.

    References
    ----------
    Loshchilov and Hutter (2019), Algorithm 2. Xie and Li (2024), Theorem 1.1, for whole batches.

    Examples
    --------
    >>> decoupled_decay({"w": np.array([0.25, 0.0])}, 0.1, 100)["w"].round(6).tolist()
    [5.0, 0.0]
    """
    moments = ravelled(second_moments, "second_moments")
    count = positive_number(n_examples, "n_examples")
    eps = finite_number(eps, "eps", "at least 0", 0.0)
    decay = like(weight_decay, moments.leaves, "weight_decay")
    if moments.vector.min() < 0:
        raise ValueError(f"second_moments: found {moments.vector.min():.3g}, expected at least 0.")
    return moments.unravel(count * decay * (np.sqrt(moments.vector) + eps))
