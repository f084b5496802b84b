"""How many parameters of a trained network count, where they go, and what to
beware of: the report of capcore.allocate_network, from a file of weights.
Reads .safetensors and .npz with NumPy alone, and PyTorch files with PyTorch
(weights only: no code of a checkpoint is executed).

The code of the network is what --module names. It is imported because you name
it, from installed packages or from the folder that --path gives, and never from
the working folder otherwise. Name only code that you trust.

examples::

  capcore network model.pt data.npz --module package.networks:Net
      a class or function that gives a PyTorch module when called without
      arguments; its weights are those of the file
  capcore network params.npz data.npz --module networks:apply --path code/
      a function (params, inputs) of JAX, in code/networks.py; names of the
      file with dots in them are nested: layer.weight is params["layer"]["weight"]
  capcore network model.pt data.npz --module timm.models:resnet18 \\
      --loss cross-entropy --weight-decay 5.0 --plot where.png

DATA is an .npz file with two arrays: inputs (N, ...), and targets in the shape
of the outputs, or labels of cross-entropy, -100 where none counts. The weight decay counts beside the sum of the
losses: for a mean over N examples it is N times yours.

exit status::

  0    success
  2    wrong arguments, or a file or network that cannot be used
  3    an error in this program; --traceback shows where
  130  interrupted (Ctrl-C)
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from capcore.commands.outcome import refuse, write_figure
from capcore.commands.shared import add_usual, described, new_figure, run_command, shows_progress, unwritable

if TYPE_CHECKING:
    from capcore.checkpoints.tensors import Checkpoint
    from capcore.networks.results import NetworkAllocation

NAMED = {"apply": "--module", "params": "MODEL", "inputs": "DATA: inputs", "targets": "DATA: targets"}
"""Names of parameters in messages → where the user gave them, but for options."""


def parser(prog: str) -> argparse.ArgumentParser:
    """The parser of ``capcore network``; its help is the text at the head of this module."""
    result = described(prog, __doc__)
    add = result.add_argument
    add("model", metavar="MODEL", help="a file of weights: .pt, .safetensors, .npz and the like")
    add("data", metavar="DATA", help="an .npz file with the arrays inputs and targets")
    add("--module", required=True, metavar="PACKAGE.MODULE:CALLABLE", help="the code of the network, which is imported")
    add("--path", metavar="DIR", help="a folder that you trust, from which --module may be imported too")
    add("--key", metavar="NAME", help="name under which a PyTorch file holds its weights")
    losses = "squared", "cross-entropy", "binary cross-entropy", "poisson", "huber", "quantile"
    add("--loss", choices=losses, default=losses[0], help="default: squared")
    add("--weight-decay", type=float, default=0.0, metavar="X", help="beside the sum of the losses; default: 0")
    add("--curvature", choices=("gauss-newton", "full"), default="gauss-newton", help="the default needs no optimum")
    add("--method", choices=("auto", "dense", "dual"), default="auto", help="default: auto, by operations")
    add_usual(result)
    return result


def main(argv: Sequence[str], prog: str = "capcore network") -> int:
    """Run ``capcore network`` with the arguments ``argv`` and return its exit status."""
    return run_command(_run, parser(prog), argv, NAMED)


def _run(arguments: argparse.Namespace, prog: str) -> int:
    refuse(unwritable(arguments, ["plot"], [arguments.model, arguments.data]))
    from capcore.checkpoints.opening import read_file

    inputs, targets = data(arguments.data)
    checkpoint = read_file(arguments.model, arguments.key)
    apply, params = network(named(arguments.module, arguments.path), checkpoint, arguments.module)
    from capcore.checks.arguments import quiet
    from capcore.networks import allocate_network

    options = {name: getattr(arguments, name) for name in ("loss", "weight_decay", "curvature", "method")}
    calling = _running(arguments.module, "calling it", ValueError, ModuleNotFoundError)
    with calling, quiet():  # warnings are in the report
        allocation = allocate_network(apply, params, inputs, targets, progress=shows_progress(arguments), **options)
    if arguments.plot:
        draw(allocation, Path(arguments.plot))
    print(allocation.report(), flush=True)
    return 0


def data(path: str) -> tuple[Any, Any]:
    """The arrays ``inputs`` and ``targets`` of an ``.npz`` file, read without pickles."""
    from capcore.checkpoints.opening import read_file

    archive = read_file(path)
    if not {"inputs", "targets"} <= {*archive}:
        names = ", ".join(archive) or "none"
        raise ValueError(f"{path}: found the arrays {names}, expected inputs and targets. Rename them.")
    return archive["inputs"], archive["targets"]


def named(place: str, path: str | None) -> Any:
    """What ``package.module:callable`` names, imported; ``path`` is searched after all installed packages."""
    if ":" not in place:
        raise ValueError(f"--module: found {place!r}, expected package.module:callable, such as networks:Net.")
    if path is not None:
        if not os.path.isdir(path):
            raise ValueError(f"--path: found no folder {path}, expected the one with the code of --module.")
        sys.path.append(os.path.abspath(path))
    with _running(place, "importing it, from installed packages and what --path gives"):
        code = resolve_name(place)
    if not callable(code):
        raise ValueError(f"--module: found that {place} cannot be called, expected a function or a class.")
    return code


def network(code: Any, checkpoint: Checkpoint, place: str) -> tuple[Any, Any]:
    """(apply, params): of a function (params, inputs) of JAX, or of what gives a PyTorch module without arguments."""
    arrays = {name: tensor.read() for name, tensor in checkpoint.tensors.items()}
    if not _callable_with(code, 0):
        if inspect.isclass(code) or not _callable_with(code, 2):
            expected = "expected a function (params, inputs), or one that gives a module when called without arguments"
            raise ValueError(f"--module: found {place}, which takes other arguments, {expected}.")
        return code, arrays[next(iter(arrays))] if checkpoint.format == "npy" else nested(arrays)
    with _running(place, "calling it without arguments"):
        module = code()
    if not hasattr(module, "load_state_dict"):
        raise ValueError(f"--module: found that {place} gives {type(module).__name__}, expected a torch.nn.Module.")
    from capcore.checks.arguments import library
    from capcore.networks import from_torch

    with _running(place, "loading the weights of MODEL into it"):
        module.load_state_dict({name: library("torch").as_tensor(values.copy()) for name, values in arrays.items()})
    return from_torch(module)


def nested(arrays: dict[str, Any]) -> Any:
    """Names with dots as nested mappings; a mapping from 0, 1, … is a list.

    >>> nested({"layers.0.w": 1, "layers.1.w": 2, "out": 3})
    {'layers': [{'w': 1}, {'w': 2}], 'out': 3}
    """
    below: dict[str, dict[str, Any]] = {}
    tree: dict[str, Any] = {}
    for name, value in arrays.items():
        first, dot, rest = name.partition(".")
        (below.setdefault(first, {}) if dot else tree)[rest if dot else first] = value
    if both := sorted({*below} & {*tree}):
        raise ValueError(f"MODEL: found arrays below {both[0]!r}, which is an array too, expected one or the other.")
    tree = {name: nested(parts) for name, parts in below.items()} | tree
    in_order = [str(i) for i in range(len(tree))]
    return [tree[key] for key in in_order] if {*in_order} == {*tree} else tree


def _callable_with(code: Any, count: int) -> bool:
    """Whether something can be called with so many arguments."""
    try:
        inspect.signature(code).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


@contextmanager
def _running(place: str, what: str, *others: type[Exception]) -> Iterator[None]:
    """Errors of the code at a place become one line, but for ``others``."""
    try:
        yield
    except others:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        said = f"--module: found an error of {place} on {what} ({reason}), expected none. See --traceback."
        raise ValueError(said) from error


def draw(allocation: NetworkAllocation, path: Path) -> None:
    """The capacity of the inputs, where there is a subspace of several groups, and leverages in order."""
    several = any(getattr(values, "ndim", 0) for values in allocation.per_subspace.values())
    figure = new_figure(7.5 if several else 4.0, 3.0)
    *others, last = figure.subplots(1, 1 + several, squeeze=False)[0]
    for ax in others:
        allocation.plot(ax)
    last.plot(sorted(allocation.per_example, reverse=True))
    last.set(xlabel="examples, in order", ylabel="leverage", ylim=(0, None))
    write_figure(path, figure)
