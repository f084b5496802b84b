"""What can be ordered: stacks of every size with their loss and with the capacity that they spend on the distant half.

The stacks are those that the bond table recommends: for each least rank of the last bond, from one to six, those that
at most one other is no larger than and no worse. More ranks there move capacity to the distant past. Where an optimum
is singular its capacity depends on where a fit ends, so that it is left out.

``python -m chapters run design_menu`` makes it again, in a minute or two on one core.
"""

from typing import Any

from tqdm import tqdm

from capcore import Hierarchical, Problem, Process
from capcore.capacity.allocation import allocate
from capcore.designs.bonds import EPS, bond_table
from capcore.designs.search import best_stacks, mended, wall
from capcore.large.fit import fit_large
from chapters.design_certificate.stacks import arch_of
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import Witness
from chapters.shared.named_processes import named

SETTINGS: dict[str, Any] = {
    "n_inputs": 128,
    "max_params": 96,
    "processes": ["power law, exponent 0.5", "two seasons", "music-like"],
    "last_ranks": [1, 2, 3, 4, 5, 6],
    "keep": 2,
    "max_iterations": 100,
}
QUICK: dict[str, Any] = {"n_inputs": 16, "max_params": 14, "last_ranks": [1, 2], "keep": 1, "max_iterations": 10}
WITNESS = Witness(
    ["processes"], elsewhere={"": 1e-5}, reason="Newton's method ends where a step would gain less than 1e-8."
)
DIGITS = 4  # of losses and shares


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Process → ``wall``, (parameters, bound) of all stacks; ``tried``, how many stacks; ``stacks`` on the front.

    A stack is on the front if no other one that is no larger has as low a loss and as large a share.
    """
    chosen = {name: process for name, process in named().items() if name in settings["processes"]}
    bar = tqdm(chosen.items(), desc="processes", disable=not progress)
    return {name: menu(process, settings) for name, process in bar}


def menu(process: Process, settings: dict[str, Any]) -> dict[str, Any]:
    """The menu of one process."""
    n, most = settings["n_inputs"], settings["max_params"]
    table = bond_table(process, n)
    best = [stack for r in settings["last_ranks"] for stack in best_stacks(table, most, settings["keep"], last_rank=r)]
    skeletons = dict.fromkeys((stack.kernel_sizes, stack.channels) for stack in best if stack.channels)
    problem = Problem.of(Hierarchical([1], kernel_size=[2, n // 2]), process)
    entries, losses = [], []
    for arch in map(arch_of, skeletons):
        fit = fit_large(arch, process, max_iterations=settings["max_iterations"])
        losses.append((arch, fit.loss))
        alloc = allocate(arch, fit.params, problem)
        if fit.loss > EPS * problem.variance and alloc.total == arch.generic_capacity():
            entry = {
                "kernels": list(arch.kernel_sizes),
                "channels": list(arch.channels),
                "parameters": arch.n_params,
                "capacity": arch.generic_capacity(),
                "loss": plain(fit.loss / problem.variance, DIGITS),
                "share": round(float(alloc.per_input[n // 2 :].sum() / alloc.total), DIGITS),
            }
            entries.append(entry)
    mended(table, losses)
    stacks = undominated(entries)
    for entry in stacks:
        bound = table.bound(Hierarchical(entry["channels"], kernel_size=entry["kernels"]))
        entry["bound"] = plain(bound / table.variance, DIGITS)
    bounds = [[size, plain(bound / problem.variance, DIGITS)] for size, bound in wall(table, most)]
    return {"wall": bounds, "tried": len(skeletons), "stacks": stacks}


def undominated(stacks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that no other beats or equals in size, loss and share at once; by size, then by share.

    >>> small, worse = {"parameters": 3, "loss": 0.1, "share": 0.2}, {"parameters": 4, "loss": 0.1, "share": 0.1}
    >>> undominated([worse, small]) == [small]
    True
    """
    best: list[dict[str, Any]] = []
    for stack in sorted(stacks, key=lambda one: (one["parameters"], one["loss"], -one["share"])):
        if not any(one["loss"] <= stack["loss"] and one["share"] >= stack["share"] for one in best):
            best.append(stack)
    return sorted(best, key=lambda one: (one["parameters"], one["share"]))


def ordered(content: dict[str, Any], budget: int, share: float) -> dict[str, Any] | None:
    """The stack of least loss with at most so many parameters and at least such a share; None if there is none.

    Parameters
    ----------
    content : dict
        The menu of a process.
    budget : int
    share : float
    """
    fitting = [stack for stack in content["stacks"] if stack["parameters"] <= budget and stack["share"] >= share]
    return min(fitting, key=lambda one: one["loss"], default=None)
