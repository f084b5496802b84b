"""Witnesses of stored results: a piece of one is made again, and compared with what is stored.

A piece is a run with fewer settings: one family of five, one seed of ten. What it gives must be found in the stored
values, so that ``run`` is the one code that makes both. An experiment's module declares its pieces::

    WITNESS = Witness(["families channels", "seeds"])

Pieces of the first kind take one of the families and one of the channels, and no seeds; those of the second kind one
seed, and neither families nor channels. A dot leads into a setting that holds others: ``paper.lengths``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

RTOL = 1e-9
"""Of numbers that other linear algebra gives as well: rounding, 1e-16, times conditions up to 1e7."""


class Item(NamedTuple):
    """One item of a setting: its name, the setting with this item alone, and its place in a list of so many."""

    name: str
    setting: Any
    place: tuple[int, int]


class Piece(NamedTuple):
    """The settings of a piece, and the places of its items in their lists."""

    settings: dict[str, Any]
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Witness:
    """How a stored result is made again in pieces.

    Attributes
    ----------
    kinds : sequence of str
        For each kind of pieces the settings of which one item is taken; all others that are named here are empty. An
        empty text is one piece.
    fixed : mapping
        Settings that are less in every piece, as far as the stored values hold what these give.
    tolerance : mapping
        Key of the values → how far its numbers may be off, relative to the largest beside them; infinite for what
        differs from run to run. The key ``""`` is for all others, in place of ``RTOL``.
    reason : str
        Why a tolerance is wider, or why there are no pieces.
    quick : str
        The piece that ``make test`` makes, where one takes less than a second.
    """

    kinds: Sequence[str] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    tolerance: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    quick: str = ""

    def pieces(self, settings: Mapping[str, Any]) -> dict[str, Piece]:
        """Name → piece, such as ``families=AR1 channels=4``."""
        empty = deepcopy(dict(settings))
        for name in {name for kind in self.kinds for name in kind.split()}:
            _put(empty, name, type(_at(settings, name))())
        for name, value in self.fixed.items():
            _put(empty, name, value)
        pieces = {}
        for names in map(str.split, self.kinds):
            for chosen in product(*(_items(_at(settings, name)) for name in names)):
                changed = deepcopy(empty)
                for name, item in zip(names, chosen, strict=True):
                    _put(changed, name, item.setting)
                label = " ".join(f"{name}={item.name}" for name, item in zip(names, chosen, strict=True))
                pieces[label or "whole"] = Piece(changed, tuple(item.place for item in chosen))
        return pieces

    def differences(self, piece: Any, stored: Any, places: Sequence[tuple[int, int]] = ()) -> Iterator[str]:
        """Where the values of a piece, of plain types, are not those that are stored: both, with where they are."""
        yield from _differences(piece, stored, [*places], self.tolerance, self.tolerance.get("", RTOL), "values")


def _differences(
    piece: Any, stored: Any, places: list[tuple[int, int]], known: Mapping[str, float], rtol: float, where: str
) -> Iterator[str]:
    if math.isinf(rtol):
        return
    if isinstance(piece, dict) and isinstance(stored, dict):
        n_rows = _length(stored)
        if _length(piece) != n_rows and n_rows not in [number for _, number in places]:  # of a table, some rows
            yield from _differences(_rows(piece), _rows(stored), places, known, rtol, where)
            return
        for key, value in piece.items():
            if key not in stored:
                yield f"{where}.{key}: found in the piece, not stored"
            else:
                yield from _differences(value, stored[key], places, known, known.get(key, rtol), f"{where}.{key}")
    elif isinstance(piece, list) and isinstance(stored, list):
        if len(piece) == 1 != len(stored) and len(stored) in [number for _, number in places]:
            at = next(i for i, (_, number) in enumerate(places) if number == len(stored))
            index = places[at][0]
            rest = places[:at] + places[at + 1 :]
            yield from _differences(piece[0], stored[index], rest, known, rtol, f"{where}[{index}]")
        elif len(piece) == len(stored) or not all(isinstance(row, dict) for row in stored):
            if len(piece) > len(stored):
                yield f"{where}: found {len(piece)} items, stored are {len(stored)}"
            yield from _beginning(piece, stored, places, known, rtol, where)
        else:
            for row in piece:
                candidates = [[*_differences(row, other, places, known, rtol, where)] for other in stored]
                yield from min(candidates, key=len, default=[f"{where}: found a row, stored are none"])
    elif not _agree(piece, stored, rtol, abs(stored) if _is_number(stored) else 0.0):
        yield f"{where}: found {piece!r}, stored is {stored!r}"


def _beginning(
    piece: list[Any],
    stored: list[Any],
    places: list[tuple[int, int]],
    known: Mapping[str, float],
    rtol: float,
    where: str,
) -> Iterator[str]:
    """The same of lists that begin alike; numbers are compared on the scale of the largest."""
    scale = max((abs(value) for value in stored if _is_number(value)), default=0.0)
    for i, (one, other) in enumerate(zip(piece, stored, strict=False)):
        if isinstance(one, list | dict):
            yield from _differences(one, other, places, known, rtol, f"{where}[{i}]")
        elif not _agree(one, other, rtol, scale):
            yield f"{where}[{i}]: found {one!r}, stored is {other!r}"


def _agree(one: Any, other: Any, rtol: float, scale: float) -> bool:
    if not (_is_number(one) and _is_number(other)):
        return bool(one == other)
    return bool(abs(one - other) <= rtol * scale or (math.isnan(one) and math.isnan(other)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _length(table: Mapping[str, Any]) -> int | None:
    """Number of rows, where all values are lists of one length."""
    lengths = {len(column) if isinstance(column, list) else None for column in table.values()}
    return lengths.pop() if len(lengths) == 1 else None


def _rows(table: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _items(setting: Any) -> Iterator[Item]:
    """Every item of a list, or of all lists in a mapping; of a mapping without lists, every entry."""
    if isinstance(setting, list):
        for i, value in enumerate(setting):
            yield Item(str(value), [value], (i, len(setting)))
        return
    for i, (key, value) in enumerate(setting.items()):
        if isinstance(value, list) or (
            isinstance(value, dict) and any(isinstance(v, list | dict) for v in value.values())
        ):
            for item in _items(value):
                yield Item(f"{key}.{item.name}", {key: item.setting}, item.place)
        else:
            yield Item(key, {key: value}, (i, len(setting)))


def _at(settings: Mapping[str, Any], name: str) -> Any:
    value: Any = settings
    for key in name.split("."):
        value = value[key]
    return value


def _put(settings: dict[str, Any], name: str, value: Any) -> None:
    *outer, last = name.split(".")
    for key in outer:
        settings = settings[key]
    settings[last] = value
