"""Capacity of trained networks, against forming the Gauss–Newton matrix with peers, and against our own routes.

Both sides use the same network, data and parameters. NNGeometry and curvlinops work in PyTorch, so our side does too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np

from benchmarks.measure import Row, Skipped, best_of_each, peer
from capcore.networks import allocate_network, from_torch
from capcore.networks.factors import squared
from capcore.networks.losses import slopes_of, to_metric
from capcore.networks.problem import NetworkProblem
from capcore.networks.response import Response

DECAY = 1.0
COLUMNS = 256
"""Columns of a product with curvlinops' operator: the fastest of 64, 256 and 1,024."""
OPTIONS: dict[str, Any] = {"loss": "cross-entropy", "weight_decay": DECAY, "curvature": "gauss-newton", "subspaces": {}}


def rows(quick: bool = False) -> Iterator[Row | Skipped]:
    """A classifier of 64 inputs, at the Gauss–Newton form, which needs no optimum; and larger ones."""
    rng = np.random.default_rng(0)
    examples, width = (40, 4) if quick else (600, 24)
    x, y = rng.normal(size=(examples, 64)), rng.integers(0, 10, examples)
    p = 64 * width + width + 10 * width + 10
    work = f"Gauss–Newton total, ours with each example's capacity, p = {p:,}, N = {examples}, PyTorch, CPU time"
    for package, name, matrix in PEERS:
        if peer("torch") is None or peer(package) is None:
            yield Skipped(work, package)
        else:
            yield _torch_row(work, name, matrix, x, y, width)
            alone = f"Gauss–Newton matrix alone, p = {p:,}, N = {examples}, PyTorch, CPU time"
            yield _matrix_row(alone, name, matrix, x, y, width)
    if peer("torch") is None or peer("nngeometry") is None:
        yield Skipped("Gauss–Newton total from the examples' side", "nngeometry")
    else:
        for wide in (20,) if quick else (690, 2_170):
            yield _large_row(x[:150], y[:150], wide)
    yield _root_row(10 * examples, p, rng)


def _torch_row(work: str, name: str, matrix: Matrix, x: np.ndarray, y: np.ndarray, width: int) -> Row:
    torch, module = peer("torch"), _module(width)

    def theirs() -> float:
        values = np.linalg.eigvalsh(matrix(module, torch.as_tensor(x), torch.as_tensor(y)))
        return float((values / (values + DECAY)).sum())

    def ours() -> float:
        return allocate_network(*from_torch(module), x, y, **OPTIONS).total

    (seconds, found), (peer_seconds, expected) = best_of_each(ours, theirs, 2, process_time)
    gap = abs(found - expected) / expected
    return Row(work, name, seconds, peer_seconds, f"totals agree to {gap:.0e}", gap < 1e-8)


def _matrix_row(work: str, name: str, matrix: Matrix, x: np.ndarray, y: np.ndarray, width: int) -> Row:
    torch, module = peer("torch"), _module(width)

    def ours() -> np.ndarray:
        problem = NetworkProblem.of(*from_torch(module), x, y, "cross-entropy", 0.0)
        w = problem.derivatives.params
        return squared(problem.derivatives.factors(w), *problem.at(w)[1:], w.size)

    def theirs() -> np.ndarray:
        return matrix(module, torch.as_tensor(x), torch.as_tensor(y))

    (seconds, found), (peer_seconds, expected) = best_of_each(ours, theirs, 2, process_time)
    gap = float(np.abs(found - expected).max() / np.abs(expected).max())
    return Row(work, name, seconds, peer_seconds, f"entries agree to {gap:.0e}", gap < 1e-8)


def _module(width: int) -> Any:
    torch = peer("torch")
    torch.manual_seed(0)
    layers = torch.nn.Linear(64, width), torch.nn.Tanh(), torch.nn.Linear(width, 10)
    return torch.nn.Sequential(*layers).double()


def _nngeometry(module: Any, x: Any, y: Any) -> np.ndarray:
    torch, metrics, representations = peer("torch"), peer("nngeometry.metrics"), peer("nngeometry.object")
    torch.set_default_dtype(torch.float64)  # NNGeometry makes a matrix of the default type
    matrix = metrics.FIM(
        model=module,
        loader=torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=len(x)),
        representation=representations.PMatDense,
        variant="classif_logits",
        device="cpu",
    )
    torch.set_default_dtype(torch.float32)
    return np.asarray(len(x) * matrix.to_torch().detach().numpy())


def _curvlinops(module: Any, x: Any, y: Any) -> np.ndarray:
    torch, options = peer("torch"), {"check_deterministic": False}
    loss, params = torch.nn.CrossEntropyLoss(reduction="sum"), list(module.parameters())
    operator = peer("curvlinops").GGNLinearOperator(module, loss, params, [(x, y)], **options)
    columns = torch.eye(operator.shape[1], dtype=x.dtype).split(COLUMNS, dim=1)
    return np.hstack([(operator @ each).detach().numpy() for each in columns])


Matrix = Callable[[Any, Any, Any], np.ndarray]
"""Module, inputs and labels → the Gauss–Newton matrix of the sum of the losses."""
PEERS: tuple[tuple[str, str, Matrix], ...] = (
    ("nngeometry", "NNGeometry's dense Fisher matrix", _nngeometry),
    ("curvlinops", "curvlinops' products with all columns of the identity", _curvlinops),
)


def _large_row(x: np.ndarray, y: np.ndarray, width: int) -> Row:
    """More parameters than outputs on the data: NNGeometry's Gram matrix of J, and the same algebra after it."""
    torch, k = peer("torch"), int(y.max()) + 1
    torch.manual_seed(0)
    sizes = [64, width, width, width]
    layers = [part for pair in pairwise(sizes) for part in (torch.nn.Linear(*pair), torch.nn.ReLU())]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(width, k)).double()
    p, data = sum(each.numel() for each in module.parameters()), torch.utils.data.TensorDataset(torch.as_tensor(x))

    def ours() -> float:
        return allocate_network(*from_torch(module), x, y, method="dual", **OPTIONS).total

    def theirs() -> float:
        torch.set_default_dtype(torch.float64)
        loader = torch.utils.data.DataLoader(data, batch_size=len(x))
        gram = peer("nngeometry.gram").GramMatrix(module, loader, function=lambda points: module(points))
        torch.set_default_dtype(torch.float32)
        matrix = gram.data.detach().numpy().transpose(1, 0, 3, 2).reshape(len(x) * k, -1)
        metric = slopes_of(module(torch.as_tensor(x)).detach().numpy(), np.eye(k)[y], "cross-entropy")[1:]
        inside = to_metric(to_metric(matrix / DECAY, *metric).T, *metric)
        return float(np.trace(np.linalg.solve(inside + np.eye(len(inside)), inside)))

    (seconds, found), (peer_seconds, expected) = best_of_each(ours, theirs, 2, process_time)
    gap = abs(found - expected) / expected
    return Row(
        f"Gauss–Newton total, ours with each example's capacity, p = {p:,}, N = {len(x)}, PyTorch, CPU time",
        "NNGeometry's Gram matrix of the Jacobian, and its solution by NumPy",
        seconds,
        peer_seconds,
        f"totals agree to {gap:.0e}",
        gap < 1e-8,
    )


def _root_row(outputs: int, p: int, rng: np.random.Generator) -> Row:
    """All leverages of a Jacobian and its positive definite Gauss–Newton matrix, which both sides are given."""
    scaled = rng.normal(size=(outputs, p))
    hessian = scaled.T @ scaled + DECAY * np.eye(p)

    def ours() -> np.ndarray:
        return Response.of(scaled, hessian).diagonal

    def theirs() -> np.ndarray:
        values, vectors = np.linalg.eigh(hessian)
        return np.square(scaled @ vectors) @ (1 / values)

    (seconds, found), (peer_seconds, expected) = best_of_each(ours, theirs, 2, process_time)
    gap = float(np.abs(found - expected).max())
    return Row(
        f"leverages from a Jacobian and its Gauss–Newton matrix, p = {p:,}, N·K = {outputs:,}, CPU time",
        "eigenvectors of the matrix, where we take its Cholesky root",
        seconds,
        peer_seconds,
        f"leverages agree to {gap:.0e}",
        gap < 1e-10,  # condition numbers of some ten to a thousand
    )
