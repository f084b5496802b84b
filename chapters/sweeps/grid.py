"""A grid of settings, from a YAML file that holds data only: products, lists, random draws.

    product: {process: [PowerLaw, AR1], channel_list: [[1, 2], [1, 2, 4]]}
    list: [{n_layers: 4}, {n_layers: 6, kernel_size: 3}]
    random:
      draws: 20
      seed: 0
      parameters: {rate: {log_uniform: [1.0e-4, 0.1]}, width: {integers: [4, 64]}, process: {choice: [PowerLaw, AR1]}}

Each part is optional; where there are several, every setting of one meets every setting of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import yaml

from capcore.sweeps import read_regular
from chapters.sweeps.declared import NotebookError

LARGEST_FILE = 1_000_000  # bytes
MOST = 10_000_000  # settings
DRAWN: dict[str, Callable[[np.random.Generator, list[Any]], Any]] = {
    "uniform": lambda rng, ends: float(rng.uniform(float(ends[0]), float(ends[1]))),
    "log_uniform": lambda rng, ends: math.exp(rng.uniform(math.log(ends[0]), math.log(ends[1]))),
    "integers": lambda rng, ends: int(rng.integers(int(ends[0]), int(ends[1]), endpoint=True)),
    "choice": lambda rng, items: items[int(rng.integers(len(items)))],
}


class _Loader(yaml.SafeLoader):
    """YAML of plain types, each key once; no references, which can make a small file a huge grid."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("references (*name) are not taken; write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        found = super().construct_mapping(node, deep=deep)
        if len(found) < len(node.value):
            names = [self.construct_object(key, deep=True) for key, _ in node.value]
            twice = sorted({str(name) for name in names if names.count(name) > 1})
            raise yaml.YAMLError(f"found {', '.join(twice)} twice, expected once")
        return found


def read_grid(path: str | Path) -> dict[str, Any]:
    """The grid in a file. Raises ``NotebookError`` for what is none."""
    path = Path(path)
    try:
        content = yaml.load(read_regular(path, LARGEST_FILE).decode(), _Loader)
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise NotebookError(f"{path}: cannot be read as a grid: {said or type(error).__name__}") from None
    return check_grid(content)


def check_grid(grid: Any) -> dict[str, Any]:
    """The grid itself, or ``NotebookError`` with what is wrong with it."""
    _expect(isinstance(grid, Mapping) and grid, "grid", grid, "product, list or random")
    unknown = set(grid) - {"product", "list", "random"}
    _expect(not unknown, "grid", sorted(map(str, unknown)), "product, list or random")
    for part, kind in (("list", list), ("product", Mapping), ("random", Mapping)):
        found = grid.get(part, kind)
        _expect(found is kind or (isinstance(found, kind) and found), part, found, f"{_PARTS[part]}, or no {part}")
    _refuse(grid)
    lists, table, drawn = grid.get("list", []), grid.get("product", {}), grid.get("random", {})
    _expect(all(isinstance(each, Mapping) for each in lists), "list", lists, _PARTS["list"])
    for name, values in table.items():
        _expect(isinstance(values, list) and values, f"product: {name}", values, "a list of its values")
    if drawn:
        _expect(set(drawn) == {"draws", "seed", "parameters"}, "random", drawn, _PARTS["random"])
        _expect(type(drawn["draws"]) is int and drawn["draws"] > 0, "random: draws", drawn["draws"], "a whole number")
        _expect(type(drawn["seed"]) is int and drawn["seed"] >= 0, "random: seed", drawn["seed"], "a whole number")
        rules = drawn["parameters"]
        _expect(isinstance(rules, Mapping) and rules, "random: parameters", rules, _PARTS["random"])
        for name, rule in rules.items():
            known = isinstance(rule, Mapping) and len(rule) == 1 and next(iter(rule)) in DRAWN
            _expect(known, f"random: {name}", rule, f"one of {', '.join(DRAWN)}")
            _check_rule(f"random: {name}", *next(iter(rule.items())))
    sets = {"product": set(table), "list": {name for each in lists for name in each}}
    sets["random"] = set(drawn["parameters"]) if drawn else set()
    for one, other in combinations(sets, 2):
        both = sets[one] & sets[other]
        _expect(not both, "grid", f"{', '.join(sorted(both))} in {one} and in {other}", "each parameter in one of them")
    _expect(size(grid) <= MOST, "grid", f"{size(grid):,} settings", f"at most {MOST:,}")
    return dict(grid)


def _check_rule(name: str, kind: str, ends: Any) -> None:
    """Refuse what cannot be drawn from."""
    _expect(isinstance(ends, list) and ends, name, ends, "a list behind it")
    if kind == "choice":
        return
    types = (int,) if kind == "integers" else (int, float)
    plain = len(ends) == 2 and all(type(end) in types for end in ends)
    expected = "two whole numbers" if kind == "integers" else "two numbers"
    _expect(plain and ends[0] <= ends[1], name, ends, f"{expected}, the smaller one first")
    if kind == "integers":
        _expect(ends[0] >= -(2**63) and ends[1] < 2**63, name, ends, "whole numbers of at most 63 bits")
    if kind == "uniform":
        _expect(math.isfinite(float(ends[1]) - float(ends[0])), name, ends, "a finite distance between them")
    if kind == "log_uniform":
        _expect(ends[0] > 0, name, ends, "numbers above 0")


def size(grid: Mapping[str, Any]) -> int:
    """How many settings it has, repetitions included."""
    lengths = map(len, grid.get("product", {}).values())
    return math.prod(lengths) * max(1, len(grid.get("list", []))) * grid.get("random", {}).get("draws", 1)


def settings_of(grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All settings, the product's last parameter changing fastest; the same ones for the same seed.

    >>> list(settings_of({"product": {"n": [1, 2]}, "list": [{"a": 0}]}))
    [{'n': 1, 'a': 0}, {'n': 2, 'a': 0}]
    """
    table, drawn = grid.get("product", {}), list(_draws(grid.get("random")))
    for values, listed, random in product(product(*table.values()), grid.get("list") or [{}], drawn):
        yield {**dict(zip(table, values, strict=True)), **listed, **random}


_PARTS = {
    "list": "a list of mappings",
    "product": "a list for each parameter",
    "random": "draws, seed, and parameters with what is drawn for each",
}


def _draws(random: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    if not random:
        yield {}
        return
    rng = np.random.default_rng(random["seed"])
    rules = {name: next(iter(rule.items())) for name, rule in random["parameters"].items()}
    for _ in range(random["draws"]):
        yield {name: DRAWN[kind](rng, ends) for name, (kind, ends) in rules.items()}


def _refuse(value: Any) -> None:
    """Refuse what is no plain data, huge or infinite numbers, and texts that lead out of a folder, wherever it is."""
    if isinstance(value, Mapping):
        for name in value:
            _expect(isinstance(name, str), "grid", name, "names that are text")
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        known = each is None or isinstance(each, Mapping) or type(each) in (bool, int, float, str, list)
        _expect(known, "grid", each if known else f"{each!r} ({type(each).__name__})", "numbers, text, lists, mappings")
        if type(each) is int:
            _expect(each.bit_length() <= 64, "grid", f"a number of {each.bit_length()} bits", "at most 64")
        if isinstance(each, float):
            _expect(math.isfinite(each), "grid", each, "finite numbers")
        if isinstance(each, str):
            for path in (PurePosixPath(each), PureWindowsPath(each)):
                _expect(not path.is_absolute() and ".." not in path.parts, "grid", each, "no path out of the folder")
        _refuse(each)


def _expect(holds: Any, name: str, found: Any, expected: str) -> None:
    if holds:
        return
    try:
        text = str(found)[:200]
    except ValueError:  # of an integer of thousands of digits
        text = "a huge number"
    raise NotebookError(f"{name}: found {text}, expected {expected}.")
