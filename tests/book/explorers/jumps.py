"""Laws of one unit of capacity: layers by ``propagate``, lattice law by its generator, heat kernel with its image."""

import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import expm_multiply

from capcore.propagation import ConvolutionTransport, Layer, LimitCoefficients, heat_kernel, propagate
from chapters.scaling_pdes.paths import edge_law
from chapters.scaling_pdes.study import one_output, total_variation

PAGES = ["notebooks/scaling_pdes"]
POINT = (0.3, 0.3)
TOLERANCE = 1e-11  # sums over up to 1,023 layers round to 1e-13
DEPTHS, SPREADS = [8, 16, 32, 64, 128, 256, 512, 1024], [1, 2, 4, 8, 16, 32, 64]
STATES = [
    {"depth": 0, "leak": 0},
    {"depth": 7, "spread": 2},
    {"depth": 3, "exponent": 0, "spread": 1},
    {"depth": 5, "exponent": 1, "spread": 6},
    {"depth": 0, "ratio": 4},
    {"depth": 4, "ratio": 3, "leak": 1.25},
    {"depth": 2, "spread": 3, "boundary": "absorbing", "distance": 4, "leak": 0.5},
    {"depth": 3, "spread": 2, "boundary": "reflecting", "distance": 1},
    {"depth": 1, "spread": 1, "boundary": "renormalised", "distance": 0, "leak": 3},
    {"depth": 2, "ratio": 2, "boundary": "absorbing", "distance": 3},
    {"depth": 3, "ratio": 3, "exponent": 0.25, "boundary": "reflecting", "distance": 5},
    {"depth": 2, "exponent": 0.75, "ratio": 4, "boundary": "renormalised", "distance": 9},
]  # fmt: skip


def jumps(dilation, rate):
    """Rates of jumps to either side."""
    return ConvolutionTransport.of_offsets({-dilation: rate, dilation: rate})


def generator(dilation, rate, size, boundary):
    """d/dt of capacity: what arrives at each position less what leaves it; a renormalised edge lets nothing leave."""
    arrives, lost = jumps(dilation, rate).operator((size, 1), "absorbing" if boundary == "renormalised" else boundary)
    leaves = np.asarray(arrives.sum(axis=0)) + (lost if boundary == "absorbing" else 0)
    return (arrives - diags_array(leaves)).tocsr()


def expected(state):
    """All numbers of a state, on a range so wide that nothing reaches its other end."""
    n, first = DEPTHS[state["depth"]] - 1, DEPTHS[0] - 1
    rate, ratio, boundary = SPREADS[state["spread"]], 2 ** state["ratio"], state["boundary"]
    squared = rate / first * (first / n) ** (2 * state["exponent"])
    dilations = [int(ratio ** (layer / (n - 1)) + 0.5) for layer in range(n)]
    variance = 2 * squared * sum(d**2 for d in dilations)
    width = int(12 * np.sqrt(variance)) + 20 * ratio
    at = width if boundary == "none" else state["distance"]
    edge, x = "absorbing" if boundary == "none" else boundary, np.arange(at + width + 1) - at
    steps = {d: ConvolutionTransport.of_offsets({-d: squared, 0: 1 - 2 * squared, d: squared}) for d in {*dilations}}
    result = propagate(one_output(x), [Layer.leaky(steps[d], state["leak"] / n) for d in dilations], boundary=edge)
    lattice = one_output(x) * np.exp(-state["leak"])
    for d in sorted(steps, reverse=True):
        lattice = expm_multiply(generator(d, squared * dilations.count(d), x.size, edge), lattice)
    if boundary == "none":
        heat = heat_kernel(x, 1.0, LimitCoefficients(variance / 2, 0.0, state["leak"]))
    else:
        heat = edge_law(x + at, at, variance / 2, boundary) * np.exp(-state["leak"])
    layers, near = result.per_position, np.abs(x) <= 10
    mean = layers @ x / layers.sum()
    masses = result.masses
    window = {name: law[near] for name, law in {"layers": layers, "lattice": lattice, "heat": heat}.items()}
    return {
        **{name: np.pad(law, (21 - law.size, 0)) for name, law in window.items()},
        "masses": [masses["input"], masses["side"], masses["boundary"]],
        "deviation": np.sqrt(layers @ (x - mean) ** 2 / layers.sum()),
        "variance": variance,
        "squared": squared,
        "misplaced_layers": total_variation(layers, lattice),
        "misplaced_heat": total_variation(lattice, heat),
    }
