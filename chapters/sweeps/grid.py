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
from itertools import product
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import yaml

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
    """YAML of plain types; no references, which can make a small file a huge grid."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("references (*name) are not taken; write the value out")
        return super().compose_node(parent, index)


def read_grid(path: str | Path) -> dict[str, Any]:
    """The grid in a file. Raises ``NotebookError`` for what is none."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise NotebookError(f"{path}: found more than {LARGEST_FILE:,} bytes, expected a grid.")
        content = yaml.load(path.read_text("utf8"), _Loader)
    except (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise NotebookError(f"{path}: cannot be read as a grid: {error}") from None
    return check_grid(content)


def check_grid(grid: Any) -> dict[str, Any]:
    """The grid itself, or ``NotebookError`` with what is wrong with it."""
    _expect(isinstance(grid, Mapping) and grid, "grid", grid, "product, list or random")
    unknown = set(grid) - {"product", "list", "random"}
    _expect(not unknown, "grid", sorted(map(str, unknown)), "product, list or random")
    lists, table, drawn = grid.get("list", []), grid.get("product", {}), grid.get("random", {})
    _expect(isinstance(lists, list) and all(isinstance(each, Mapping) for each in lists), "list", lists, "mappings")
    _expect(isinstance(table, Mapping), "product", table, "a list for each parameter")
    for name, values in table.items():
        _expect(isinstance(values, list) and values, f"product: {name}", values, "a list of its values")
    if drawn:
        _expect(isinstance(drawn, Mapping) and set(drawn) == {"draws", "seed", "parameters"}, "random", drawn, _RANDOM)
        _expect(type(drawn["draws"]) is int and drawn["draws"] > 0, "random: draws", drawn["draws"], "a whole number")
        _expect(type(drawn["seed"]) is int and drawn["seed"] >= 0, "random: seed", drawn["seed"], "a whole number")
        _expect(isinstance(drawn["parameters"], Mapping), "random: parameters", drawn["parameters"], _RANDOM)
        for name, rule in drawn["parameters"].items():
            known = isinstance(rule, Mapping) and len(rule) == 1 and next(iter(rule)) in DRAWN
            _expect(known, f"random: {name}", rule, f"one of {', '.join(DRAWN)}")
            _expect(isinstance(next(iter(rule.values())), list), f"random: {name}", rule, "a list behind it")
    _expect(size(grid) <= MOST, "grid", f"{size(grid):,} settings", f"at most {MOST:,}")
    _refuse_paths(grid)
    return dict(grid)


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


_RANDOM = "draws, seed, and parameters with what is drawn for each"


def _draws(random: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    if not random:
        yield {}
        return
    rng = np.random.default_rng(random["seed"])
    rules = {name: next(iter(rule.items())) for name, rule in random["parameters"].items()}
    for _ in range(random["draws"]):
        try:
            yield {name: DRAWN[kind](rng, ends) for name, (kind, ends) in rules.items()}
        except (TypeError, ValueError, IndexError) as error:
            raise NotebookError(f"random: cannot be drawn: {error}") from None


def _refuse_paths(value: Any) -> None:
    """Refuse texts that lead out of a folder, wherever they stand."""
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        if isinstance(each, str):
            for path in (PurePosixPath(each), PureWindowsPath(each)):
                _expect(not path.is_absolute() and ".." not in path.parts, "grid", each, "no path out of the folder")
        _refuse_paths(each)


def _expect(holds: Any, name: str, found: Any, expected: str) -> None:
    if not holds:
        raise NotebookError(f"{name}: found {str(found)[:200]}, expected {expected}.")
