"""Where capacity goes: states, and what the package computes for them."""

from capcore import fit
from capcore.architectures import Hierarchical
from capcore.architectures.generic import exact_rank
from capcore.processes import FAMILIES
from chapters.hierarchical.where_capacity_goes import dilations_in
from chapters.shared.layers import exact_layer_totals
from chapters.shared.survey import allocate_quietly

PAGES = ["book/index", "notebooks/idea", "notebooks/hierarchical"]
POINT = (0.3, 0.8)
TOLERANCE = {"capacities": {"atol": 1.5e-3}, "loss": {"rtol": 0.05}}  # thousandths, and two digits of L-BFGS-B's loss
STATES = [
    {"channels": 1},
    {"channels": 2, "lag": 9},
    {"channels": 7, "lag": 63},
    {"channels": 8},
    {"process": "AR1", "channels": 8},  # fewer units than the stack can have
    {"process": "FractionalGaussianNoise", "channels": 3},
    {"process": "RationalQuadratic", "channels": 4, "lag": 16},
    {"process": "DampedCosine", "channels": 1},
    {"process": "AR1", "channels": 2},
    {"depth": 4, "channels": 3, "lag": 5},
    {"depth": 3, "channels": 2, "process": "FractionalGaussianNoise"},
    {"order": "coarse first", "channels": 4, "lag": 40},
    {"order": "alternating", "channels": 2, "lag": 3},
    {"gaps": "2,2,2,4,2", "lag": 24},
    {"lbfgs": True, "channels": 1, "lag": 32},
    {"gaps": "2,4,6,4,2", "process": "RationalQuadratic", "lag": 21},
    {"lbfgs": True, "process": "AR1", "channels": 5, "lag": 21},
]


def expected(state):
    """From the package's own fits: random starts where the dilations are in another order than the paper's.

    Where L-BFGS-B stops with several channels, and idle channels at a singular optimum, depend on rounding.
    """
    depth, order = state["depth"], state["order"]
    channels = state["channels"] if state["gaps"] == "alike" else [int(each) for each in state["gaps"].split(",")]
    arch = Hierarchical(channels, depth, dilations=dilations_in(order, depth))
    process = FAMILIES[state["process"]]()
    values = {
        "generic_total": exact_rank(arch),
        "n_params": arch.n_params,
        "adds": exact_layer_totals(arch)["forward"].tolist(),
        "taps": [state["lag"] // dilation % 2 for dilation in arch.dilations],
    }
    if state["lbfgs"] and channels != 1:
        return values
    stopping = {"method": "l-bfgs-b", "max_iterations": 2000, "ftol": 1e-12} if state["lbfgs"] else {}
    found = fit(arch, process, rng=0, **stopping)
    alloc = allocate_quietly(arch, found.params, process)
    values |= {"total": alloc.total, "loss": found.loss if found.loss > 1e-24 else 0.0}
    return values | ({"capacities": alloc.per_input} if alloc.total == alloc.generic_total else {})
