"""A grid of settings, from a YAML file that holds data only: products and lists.

    product: {process: [PowerLaw, AR1], channel_list: [[1, 2], [1, 2, 4]]}
    list: [{n_layers: 4}, {n_layers: 6, kernel_size: 3}]

Either part is optional; where there are both, every setting of one meets every setting of the other.
"""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from annotated_types import MinLen
from pydantic import BaseModel, Field, ValidationError, model_validator

from chapters.sweeps.notebooks import NotebookError

_Values = Annotated[list[Any], MinLen(1)]


class Grid(BaseModel, strict=True, extra="forbid"):
    """What can be varied, and how."""

    product: Annotated[dict[str, _Values], MinLen(1)] = {}
    listed: Annotated[list[dict[str, Any]], MinLen(1)] = Field([{}], alias="list")

    def settings(self) -> Iterator[dict[str, Any]]:
        """All settings, the product's last parameter changing fastest.

        >>> list(check_grid({"product": {"n": [1, 2]}, "list": [{"a": 0}]}).settings())
        [{'n': 1, 'a': 0}, {'n': 2, 'a': 0}]
        """
        for values, listed in product(product(*self.product.values()), self.listed):
            yield {**dict(zip(self.product, values, strict=True)), **listed}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [*self.product, *{name for setting in self.listed for name in setting}]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"found {', '.join(twice)} in two of its parts, expected each parameter in one of them")
        return self


class _Loader(yaml.SafeLoader):
    """YAML of plain types, each key once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        names = [key.value for key, _ in node.value]
        if len(set(names)) < len(names):
            raise yaml.YAMLError(f"found a name twice in {', '.join(names)}, expected once")
        return super().construct_mapping(node, deep=deep)


def read_grid(path: str | Path) -> Grid:
    """The grid in a file. Raises ``NotebookError`` for what is none."""
    try:
        text = Path(path).read_text("utf8")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):  # a small file, and a huge grid
            raise ValueError("references (*name) are not taken; write the value out")
        content = yaml.load(text, _Loader)
    except (OSError, yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise NotebookError(f"{path}: cannot be read as a grid: {error}") from None
    return check_grid(content)


def check_grid(grid: Any) -> Grid:
    """The grid that a mapping writes, or ``NotebookError`` with what is wrong with it."""
    try:
        json.dumps(grid, allow_nan=False)  # only numbers, texts, lists and mappings, not too deep
        return Grid.model_validate(grid)
    except ValidationError as error:
        first = error.errors()[0]
        place, value = ": ".join(map(str, first["loc"])) or "grid", str(first["input"])[:200]
        raise NotebookError(f"{place}: found {value}, expected what the help shows: {first['msg']}.") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise NotebookError(f"grid: found what is no plain data: {error}.") from None
