"""The changes under which ``scripts/vacuity.py`` executes notebooks: other inputs, other chance, and planted faults.

Each is made in the process that then executes the cells, and for good.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"
CHANGES = {
    "none": "the notebook as it is",
    "chance": "other seeds, and random starts in place of those that know the target",
    "inputs": "another process, other sizes, and stored numbers moved and reversed",
    "early": "optimisers stop after one step",
    "numbers": "what the chapter's functions give is a per cent off, and whole numbers are one off",
    "spaces": "constraint spaces of noisy columns, their bases and capacities a per cent off",
}
FAULTS = ("numbers", "spaces")  # the changes that make functions give wrong results
ALTERED: dict[Callable[..., Any], None] = {}
"""Functions with a planted fault, the one whose result was altered last at the end."""
SPARED: set[Callable[..., Any]] = set()
"""Functions that are left as they are, since their fault is refused with an error."""


def other_parameters(defaults: Mapping[str, Any], change: str) -> dict[str, Any]:
    """Another seed for ``chance``; for ``inputs`` another process and other sizes.

    >>> other_parameters({"process": "PowerLaw", "seed": 0, "width": 8, "depths": [1, 2, 3]}, "inputs")
    {'process': 'RationalQuadratic', 'width': 7, 'depths': [1, 2]}
    >>> other_parameters({"width": 8, "seed": 0}, "chance")
    {'seed': 1}
    """
    if change == "chance":
        return {name: value + 1 for name, value in defaults.items() if name == "seed"}
    if change != "inputs":
        return {}
    changed = {name: _other(name, value) for name, value in defaults.items() if name != "seed"}
    return {name: value for name, value in changed.items() if value != defaults[name]}


def _other(name: str, value: Any) -> Any:
    if name == "process":
        return "RationalQuadratic"
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return value - 1 if value > 2 else value
    if isinstance(value, float):
        return 0.9 * value
    return value[:-1] if isinstance(value, list) and len(value) > 2 else value


def other_chance() -> None:
    """Written seeds are shifted, and a fit that would begin at its target begins at random parameters."""
    from capcore.fitting import optimum

    draw, begin = np.random.default_rng, optimum._start
    np.random.default_rng = lambda seed=None: draw(seed + 1000 if isinstance(seed, int) else seed)

    def at_random(arch: Any, problem: Any, start: Any, method: str, rng: Any) -> Any:
        return begin(arch, problem, "random" if isinstance(start, str) else start, method, rng)

    optimum._start = at_random


def stop_early() -> None:
    """A planted fault: fits of ``capcore`` end after one step, so that where they end shows where they began."""
    from capcore.fitting import optimum, variable_projection

    def stopped(minimise: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **options: minimise(*args, **{**options, "max_iterations": 1})

    for name in ("minimise_gauss_newton", "minimise_lbfgs", "minimise_poles"):
        setattr(optimum, name, stopped(getattr(optimum, name)))
    variable_projection.minimise_poles = optimum.minimise_poles


def other_results(rng: np.random.Generator) -> None:
    """Stored numbers and arrays move by a tenth, and lists of them are read from their end.

    What a stored row was made with stays what it is, since notebooks look rows up by it.
    """
    from chapters.kit import stored

    load, load_arrays = stored.load, np.load

    def altered_arrays(*args: Any, **options: Any) -> Any:
        file = load_arrays(*args, **options)
        if isinstance(file, np.ndarray):
            return moved(file, rng, 0.1)
        return nullcontext({name: moved(array, rng, 0.1) for name, array in file.items()})

    np.load = altered_arrays

    def altered(path: Any) -> dict[str, Any]:
        content = load(path)
        return content | {"values": moved(content["values"], rng, 0.1, True, set(numbers_in(content["settings"])))}

    stored.load = altered


def moved(value: Any, rng: np.random.Generator, size: float, turned: bool = False, kept: Collection[float] = ()) -> Any:
    """The same with each float times 1 ± ``size``, within lists and mappings, too; if ``turned``, lists read backwards.

    With ``turned``, too, what a share lacks to one moves where the share could leave its range. ``kept`` : numbers that
    stay where they are the value of a key.

    >>> moved({"a": [1, 2], "b": "text", "c": 0.95, "d": 0.5}, np.random.default_rng(0), 0.1, True, [0.5])
    {'a': [2, 1], 'b': 'text', 'c': 0.955, 'd': 0.5}
    """
    if turned and isinstance(value, float) and value <= 1 < value * (1 + size):
        return 1 - (1 - value) * (1 - size)
    if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        alike = rng.choice([-1, 1]) if np.ndim(value) else 0  # what is odd in each entry averages out
        return value * (1 + size * rng.choice([-1, 1], np.shape(value))) * (1 + size * alike)
    if isinstance(value, Mapping) and type(value) is dict:
        same = {key for key, each in value.items() if isinstance(each, float) and each in kept}
        return {key: each if key in same else moved(each, rng, size, turned, kept) for key, each in value.items()}
    if type(value) in (list, tuple):
        numbers = turned and all(isinstance(each, int | float) and not isinstance(each, bool) for each in value)
        return type(value)(moved(each, rng, size, turned, kept) for each in (value[::-1] if numbers else value))
    return value


def other_numbers(sources: Sequence[str], chapter: str, rng: np.random.Generator) -> None:
    """A planted fault: what the chapter's functions and predictors give is a per cent off, whole numbers one off."""
    from capcore.architectures import generic
    from capcore.processes import Process

    for source in sources:
        for line in re.findall(r"^(?:from|import) [^(\n]+$", source, re.MULTILINE):
            exec(line, {})
    named = {chapter, *re.findall(r"chapters\.(\w+)", "\n".join(sources))}
    chapters = [f"chapters.{name}." for name in sorted(named) if (CHAPTERS / name).is_dir()]
    packages = (*chapters, "chapters.shared.", "capcore.checkpoints.", "capcore.propagation.", "capcore.spectra.")
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(("capcore", "chapters"))]
    faulty: dict[int, Any] = {}
    for module in modules:
        for function in list(vars(module).values()):
            place = getattr(function, "__module__", None) or ""
            if isinstance(function, FunctionType) and f"{place}.".startswith(packages):
                faulty.setdefault(id(function), _off(function, rng))
    faulty[id(generic.exact_rank)] = _off(generic.exact_rank, rng)
    for module in modules:
        for name, function in list(vars(module).items()):
            if id(function) in faulty:
                setattr(module, name, faulty[id(function)])
    Process.predictor = _off(Process.predictor, rng)  # type: ignore[method-assign]


def other_spaces(rng: np.random.Generator) -> None:
    """A planted fault: constraint spaces are those of noisy columns, bases and capacities a per cent off."""
    from capcore.capacity.constraints import ConstraintSpace

    exact = ConstraintSpace.from_columns.__func__  # type: ignore[attr-defined]

    def noisy(cls: Any, columns: Any, *args: Any, **options: Any) -> Any:
        columns = np.asarray(columns, float)
        space = exact(cls, columns * (1 + 0.01 * rng.standard_normal(columns.shape)), *args, **options)
        object.__setattr__(space, "basis", moved(space.basis, rng, 0.01))
        return space

    ConstraintSpace.from_columns = classmethod(noisy)  # type: ignore[assignment]
    for name in ("capacity", "per_input", "along"):
        setattr(ConstraintSpace, name, _off(getattr(ConstraintSpace, name), rng))


def _off(function: Callable[..., Any], rng: np.random.Generator) -> Callable[..., Any]:
    """The function with its results :func:`moved`, unless it is among :data:`SPARED`; a whole number is one off.

    Not that of a private function: it may be a step of a search, which then would not end.
    """
    counts = not function.__name__.startswith("_")

    def faulty(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        if function in SPARED:
            return result
        other = result + 1 if counts and type(result) is int else moved(result, rng, 0.01)
        if other is not result:
            ALTERED.pop(function, None)
            ALTERED[function] = None
        return other

    return faulty


def numbers_in(values: Any) -> Iterator[float]:
    """All finite numbers within lists and mappings."""
    if isinstance(values, Mapping | list | tuple):
        for each in values.values() if isinstance(values, Mapping) else values:
            yield from numbers_in(each)
    elif isinstance(values, int | float) and np.isfinite(values):
        yield float(values)
