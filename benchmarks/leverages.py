"""Leverages of a trained network of a million parameters by ``found.sharpened()``, against exact ones of some examples.

A classifier is trained with Adam on clouds of as many classes as outputs, whose inputs have a falling spectrum::

    python -m benchmarks.leverages
        784–800–450–10 on 10,000 examples: time, peak memory, errors and rank correlation; 25 minutes of one core
    python -m benchmarks.leverages --widths 200 300 120 10 --examples 1000
        a tenth of the parameters and of the examples: a minute or two

Examples are chosen at evenly spaced ranks of what ``sharpened`` gives. Their exact leverages are minima of
‖y‖² + ‖JᵀR(e − y)‖²/λ over y, for K orthonormal directions e of their outputs. Conjugate gradients that another fold
preconditions find them; what a value may still exceed its minimum by is at most its squared residual.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.measure import forget_peak_memory, peak_memory_gb, peer
from capcore.networks import allocate_network
from capcore.networks.folded import FoldedResponse, folded_rows
from capcore.networks.problem import from_metric, to_metric

DECAY = 5e-4
"""Weight decay beside the mean loss."""
LIMITS = {"seconds": 300.0, "gib": 4.0, "median": 0.05, "correlation": 0.99}
"""What is asked for: seconds of the processor and memory at most, median relative error, rank correlation at least."""
TOLERANCE = 1e-3
"""Share of an exact leverage that it may lack."""
COLUMNS = 32
"""Directions that one pass over the data serves."""


def apply(weights: Any, points: Any) -> Any:
    """Outputs of a perceptron."""
    jnp = peer("jax").numpy
    for layer in weights[:-1]:
        points = jnp.tanh(points @ layer)
    return points @ weights[-1]


def trained(examples: int, widths: Sequence[int], epochs: int = 30, batch: int = 250) -> tuple[Any, Any, Any]:
    """Inputs, labels, and weights after Adam with a rate that falls to 0 as a cosine."""
    jax, rng = peer("jax"), np.random.default_rng(0)
    labels = rng.integers(0, widths[-1], examples)
    x = rng.normal(size=(widths[-1], widths[0]))[labels] / 2 + rng.normal(size=(examples, widths[0]))
    x = (x / np.sqrt(1 + np.arange(widths[0]) / 8)).astype(np.float32)
    w = [(rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32) for shape in pairwise(widths)]

    def loss(w: Any, x: Any, y: Any) -> Any:
        fit = -jax.numpy.take_along_axis(jax.nn.log_softmax(apply(w, x)), y[:, None], 1).mean()
        return fit + DECAY / 2 * sum((layer**2).sum() for layer in w)

    @jax.jit
    def step(state: Any, x: Any, y: Any, t: Any) -> Any:
        w, first, second = state
        slope = jax.grad(loss)(w, x, y)
        first = [0.9 * a + 0.1 * b for a, b in zip(first, slope, strict=True)]
        second = [0.999 * a + 0.001 * b * b for a, b in zip(second, slope, strict=True)]
        rate = 5e-4 * (1 + jax.numpy.cos(np.pi * t / steps)) * jax.numpy.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        w = [a - rate * b / (jax.numpy.sqrt(c) + 1e-8) for a, b, c in zip(w, first, second, strict=True)]
        return w, first, second

    batch = min(batch, examples)
    state, steps = (w, [0 * a for a in w], [0 * a for a in w]), epochs * (examples // batch)
    for t in range(steps):
        i = t * batch % examples if t * batch % examples + batch <= examples else 0
        state = step(state, x[i : i + batch], labels[i : i + batch], t + 1.0)
    return x, labels, [np.asarray(layer) for layer in state[0]]


def exact_leverages(found: Any, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Leverages of examples of a sketch, what each may exceed the truth by, and the largest number of steps."""
    problem, model = found.problem, found._response
    derivatives, decay, shape = problem.derivatives, problem.decay, problem.targets.shape
    columns = 2 * int(np.ceil(2.0 * found.total))
    rows = folded_rows(problem, model, columns, np.random.default_rng(1))
    fold = FoldedResponse.of_rows(rows, (rows.T @ rows).astype(float), derivatives.n_params)

    def image(z: np.ndarray) -> np.ndarray:  # of directions (m, N·K): RᵀJJᵀR/λ times them
        parts = [z[i : i + COLUMNS] for i in range(0, len(z), COLUMNS)]
        stacked = [from_metric(part.T, model.roots, model.means).T.reshape(-1, *shape) for part in parts]
        moved = (derivatives.jvp(derivatives.params, derivatives.vjp(derivatives.params, e) / decay) for e in stacked)
        return np.vstack([to_metric(u.reshape(len(u), -1).T, model.roots, model.means).T for u in moved])

    def folded(z: np.ndarray) -> np.ndarray:  # the same operator, as the fold knows it
        return fold.apply(z.T.astype(rows.dtype)).T.astype(float)

    e = np.zeros((len(chosen), shape[1], *shape))
    for own, i, block in zip(e, chosen, fold.blocks(shape)[chosen], strict=True):
        own[:, i] = np.linalg.eigh(block)[1].T
    e = e.reshape(-1, problem.targets.size)
    y = folded(e)
    moved = image(e - y)
    values, rest = np.square(y).sum(axis=1) + ((e - y) * moved).sum(axis=1), moved - y
    active, steps, direction, rho = np.ones(len(e), bool), 0, np.zeros_like(e), np.ones(len(e))
    while True:
        limits = np.repeat(TOLERANCE / shape[1] * values.reshape(-1, shape[1]).sum(axis=1), shape[1])
        active &= np.square(rest).sum(axis=1) > limits
        if not active.any():
            return (
                values.reshape(len(chosen), -1).sum(axis=1),
                np.square(rest).reshape(len(chosen), -1).sum(axis=1),
                steps,
            )
        r = rest[active]
        solved = r - folded(r)
        new = (r * solved).sum(axis=1)
        p = solved + (new / rho[active])[:, None] * direction[active] if steps else solved
        moved = p + image(p)
        length = new / (p * moved).sum(axis=1)
        direction[active], rho[active] = p, new
        rest[active] -= length[:, None] * moved
        values[active] -= length * new
        steps += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure and print. 1 if something that is asked for does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leverages", description=__doc__.splitlines()[0])
    parser.add_argument("--widths", type=int, nargs="+", default=[784, 800, 450, 10])
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--chosen", type=int, default=20, help="examples with exact leverages; default: 20")
    given = parser.parse_args(arguments)
    x, y, w = trained(given.examples, given.widths)
    options: dict[str, Any] = {"loss": "cross-entropy", "weight_decay": DECAY * len(x), "subspaces": {}, "single": True}
    forget_peak_memory()
    wall, start = perf_counter(), process_time()
    sketch = allocate_network(apply, w, x, y, method="sketch", probes=2, tolerance=0.1, **options)  # for the columns
    between = process_time()
    found = sketch.sharpened()
    gib, seconds = peak_memory_gb() * 1e9 / 2**30, process_time() - start
    told = f"{between - start:.0f} + {seconds - between + start:.0f} s of processor time, {perf_counter() - wall:.0f} s"
    print(
        f"p = {sum(map(np.size, w)):,}, N = {len(x):,}: total {found.total:.1f}, {told}, peak {gib:.2f} GiB", flush=True
    )
    start = process_time()
    chosen = np.argsort(found.per_example)[np.linspace(0, len(x) - 1, given.chosen).round().astype(int)]
    exact, above, steps = exact_leverages(found, chosen)
    errors = np.abs(found.per_example[chosen] / exact - 1)
    correlation = float(spearmanr(found.per_example[chosen], exact).statistic)
    print(
        f"{len(chosen)} exact leverages from {exact.min():.2g} to {exact.max():.2g}, too large by at most "
        f"{(above / exact).max():.1e} of each, {steps} steps, {process_time() - start:.0f} s: median error "
        f"{np.median(errors):.1%}, largest {errors.max():.1%}, claimed {found.error / found.total:.1%} at 95 %, "
        f"rank correlation {correlation:.4f}"
    )
    holds = {
        "seconds": seconds <= LIMITS["seconds"],
        "gib": gib <= LIMITS["gib"],
        "median": np.median(errors) <= LIMITS["median"],
        "correlation": correlation >= LIMITS["correlation"],
    }
    print(*(f"** {name}: expected {LIMITS[name]:g} **" for name, held in holds.items() if not held))
    return int(not all(holds.values()))


if __name__ == "__main__":
    sys.exit(main())
