"""The Gauss–Newton matrix of a network of linear layers, with the sum over its outputs taken first.

An output k of an example n gains g by what a layer writes, and g aᵀ by its weights, a being what the layer reads. So
the block of two layers in JᵀWJ is Σₙ (Σₖ gₖg′ₖᵀ) ⊗ (a a′ᵀ), with g in the metric of the loss. N examples with K outputs
and p parameters take N·p² operations, where the product of the Jacobian with itself takes N·K·p².
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from capcore.checks.arguments import library
from capcore.networks.jacobians import LayerwiseJacobian

NUMBERS = 2**22
"""Entries of products a a′ᵀ that are formed at a time, or of Σₖ gₖg′ₖᵀ."""


def summed_first(module: Any, weights: Mapping[str, Any], points: Any, roots: Any, means: Any) -> Any:
    """JᵀWJ (p, p) with W = diag(roots²) − means meansᵀ, both (N, K); None where it is no such sum, or K is 1.

    Parameters
    ----------
    module : torch.nn.Module
        (N, …) → (N, K) or (N,), each example by itself.
    weights : dict
        Name of a parameter → tensor, in the order of the columns.
    points : (N, …) torch.Tensor
    roots, means : (N, K) torch.Tensor
    """
    torch = library("torch")
    layerwise = LayerwiseJacobian(module, weights, points)
    if not _apart(layerwise):
        return None
    calls, slopes = layerwise.passes(points)
    wrote = [_in_metric(of_outputs, roots, means) for of_outputs in zip(*slopes, strict=True)]
    matrix = torch.empty((sum(weight.numel() for weight in weights.values()),) * 2, dtype=points.dtype)
    read, places = zip(*(_linear(layerwise, call, torch) for call in calls), strict=True)
    for i in range(len(calls)):
        for j in range(i + 1):
            block = _block(wrote[i], wrote[j], read[i], read[j])
            matrix[places[i][:, None], places[j]] = block
            if i > j:
                matrix[places[j][:, None], places[i]] = block.T
    return matrix


def add_products(
    matrix: np.ndarray, scales: np.ndarray, module: Any, weights: Mapping[str, Any], points: Any, roots: Any, means: Any
) -> None:
    """Add RᵀJ diag(scales) JᵀR to a matrix (N·K, N·K), as far as linear layers are called once an example.

    It is Σ gg′ times Σ aa′ (an added input of 1 for a bias), where scales (p,) differ by input only: these become 0.
    """
    torch = library("torch")
    layerwise, (n, k) = LayerwiseJacobian(module, weights, points), roots.shape
    calls, slopes = layerwise.passes(points)
    times = Counter(call.prefix for call in calls)
    for call, of_outputs in zip(calls, zip(*slopes, strict=True), strict=True):
        names = {f"{call.prefix}{name}" for name, _ in call.part.named_parameters()}
        if call.read.dim() == 2 and times[call.prefix] == 1 and names <= layerwise.closed:
            read, places = _linear(layerwise, call, torch)
            own = scales[places].reshape(-1, read.shape[1])
            if own.any() and (own == own[0]).all():
                scales[places] = 0
                g = _in_metric(of_outputs, roots, means).flatten(0, 1)
                factor = (read * torch.as_tensor(own[0], dtype=read.dtype)) @ read.mT
                alike = (g @ g.mT).double().view(n, k, n, k)
                torch.from_numpy(matrix).view(n, k, n, k).addcmul_(alike, factor.double()[:, None, :, None])


def _in_metric(of_outputs: Any, roots: Any, means: Any) -> Any:
    """(N, K, b) what outputs, in the metric of the loss, gain by what a layer writes, from (N, b) for each output."""
    g = library("torch").stack(of_outputs, 1)
    return roots[..., None] * (g - (means[..., None] * g).sum(1, keepdim=True))


def _apart(layerwise: LayerwiseJacobian) -> bool:
    """Whether linear layers, each called once and with one position an example, have all parameters of some outputs."""
    calls, weights = layerwise.passes(layerwise.sample)[0], layerwise.weights
    names = sorted(f"{call.prefix}{name}" for call in calls for name, _ in call.part.named_parameters())
    if not names == sorted(weights) == sorted(layerwise.closed):
        return False
    return layerwise.n_outputs > 1 and all(call.read.dim() == 2 for call in calls)


def _linear(layerwise: LayerwiseJacobian, call: Any, torch: Any) -> tuple[Any, Any]:
    """What a layer reads (N, a), with a one where it has a bias, and the columns (outputs·a,) of its parameters."""
    columns = {name: layerwise.columns[f"{call.prefix}{name}"] for name, _ in call.part.named_parameters()}
    places = [torch.arange(part.start, part.stop).view(call.part.out_features, -1) for part in columns.values()]
    ones = call.read.new_ones(len(call.read), len(columns) - 1)
    return torch.cat([call.read, ones], 1), torch.cat(places, 1).flatten()


def _block(wrote: Any, also_wrote: Any, read: Any, also_read: Any) -> Any:
    """(b·a, b′·a′) sums over examples, of what two layers read (N, a) and outputs gain by what they write (N, K, b)."""
    sizes = wrote.shape[2], also_wrote.shape[2], read.shape[1], also_read.shape[1]
    sums: Any = 0.0
    step = max(1, NUMBERS // max(sizes[0] * sizes[1], sizes[2] * sizes[3]))
    for i in range(0, len(read), step):
        part = slice(i, i + step)
        gained = (wrote[part].mT @ also_wrote[part]).flatten(1)
        sums = sums + gained.T @ (read[part, :, None] * also_read[part, None]).flatten(1)
    return sums.view(sizes).transpose(1, 2).reshape(sizes[0] * sizes[2], -1)
