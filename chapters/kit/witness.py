"""Witnesses of stored results: a piece of one is made again, and compared with what is stored.

A piece is a run with fewer settings: one family of five, one seed of ten. What it gives must be found in the stored
values, so that ``run`` is the one code that makes both. An experiment's module declares its pieces::

    WITNESS = Witness(["families channels", "seeds"])

Pieces of the first kind take one of the families and one of the channels, and no seeds; those of the second kind one
seed, and neither families nor channels. A dot leads into a setting that holds others: ``paper.lengths``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

from chapters.kit.running import Experiment, RunError, sweep_here
from chapters.kit.stored import load, path_of, paths, versions

RTOL = 1e-9
"""Where kernels and versions are those that made the result: what remains is the order of sums in one process."""
SHOWN = 5
"""Differences that the command prints of a piece."""
ELSEWHERE = 1e-6
"""Under other arithmetic: rounding, 1e-16, times conditions up to 1e10."""


CHAOTIC: dict[str, Any] = {
    "elsewhere": {"": math.inf},
    "reason": "Iterations from a random start magnify rounding, so that other arithmetic ends elsewhere.",
}
"""Of a witness that is compared only where the arithmetic is that which made the result."""


class Item(NamedTuple):
    """One item of a setting: its name, the setting with this item alone, and its place in a list of so many."""

    name: str
    setting: Any
    place: tuple[int, int]


class Piece(NamedTuple):
    """The settings of a piece, and the places of its items in their lists; of lists alike the last is the innermost."""

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
    volatile : sequence of str
        Keys of values that differ from run to run, such as seconds, and are not compared.
    partial : sequence of str
        Keys of values that the settings of pieces change: they are compared only where all is made again.
    elsewhere : mapping
        Key of the values → how far numbers may be off under other arithmetic, relative to the largest beside them.
        The key ``""`` is for all others, in place of ``ELSEWHERE``.
    reason : str
        Why a value is not compared or a tolerance is wider, or why there are no pieces.
    needs : sequence of Path
        Files that are not in the repository, without which no piece can be made.
    """

    kinds: Sequence[str] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    volatile: Sequence[str] = ()
    partial: Sequence[str] = ()
    elsewhere: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    needs: Sequence[Path] = ()

    def pieces(self, settings: Mapping[str, Any]) -> dict[str, Piece]:
        """Name → piece, such as ``families=AR1 channels=4``."""
        fewer = deepcopy(dict(settings))
        for name, value in self.fixed.items():
            _put(fewer, name, value)
        empty = deepcopy(fewer)
        for name in {name for kind in self.kinds for name in kind.split()}:
            _put(empty, name, type(_at(settings, name))())
        pieces = {}
        for names in map(str.split, self.kinds):
            for chosen in product(*(_items(_at(fewer, name), _at(settings, name)) for name in names)):
                changed = deepcopy(empty)
                for name, item in zip(names, chosen, strict=True):
                    _put(changed, name, item.setting)
                label = " ".join(f"{name}={item.name}" for name, item in zip(names, chosen, strict=True))
                pieces[label or "whole"] = Piece(changed, tuple(item.place for item in chosen))
        return pieces

    def differences(
        self, piece: Any, stored: Any, places: Sequence[tuple[int, int]] = (), alike: bool = True, whole: bool = False
    ) -> Iterator[str]:
        """Where the values of a piece, of plain types, are not those that are stored: both, with where they are.

        places : of :class:`Piece`. alike : whether the arithmetic is that which made the result. whole : whether the
        piece is all of it.
        """
        known = ({} if alike else dict(self.elsewhere)) | dict.fromkeys(
            [*self.volatile, *(() if whole else self.partial)], math.inf
        )
        yield from _differences(piece, stored, [*places], known, known.get("", RTOL if alike else ELSEWHERE), "values")


def check(path: Path, label: str = "", draw: str = "", whole: bool = False) -> tuple[str, list[str]]:
    """Make a piece of a stored result again: its name, and its differences from what is stored.

    label : of the piece; without one it is drawn by the text ``draw``. whole : all of the result in place of a piece.
    The name is empty where no piece can be made.
    """
    experiment, content = Experiment.of(path), load(path)
    witness: Witness = experiment.module.WITNESS
    pieces = witness.pieces(experiment.settings)
    if whole and (pieces or experiment.main is None):  # what takes over needs files that are not here
        pieces = {"whole": Piece(experiment.settings, ())}
    if not pieces or not all(file.exists() for file in witness.needs):
        return "", []
    label = label or Random(f"{path.stem} {draw}").choice([*pieces])
    if label not in pieces:
        raise RunError(f"piece: found {label!r}, expected one of {path.stem}, such as {next(iter(pieces))!r}.")
    settings, places = pieces[label]
    values = experiment.values(settings, progress=False, workers=1, sweep=sweep_here)
    made, here = content["versions"], versions(content["versions"])
    alike = all(here[name] in (made[name], "absent") for name in set(made) - {"python", "capcore"})
    values = json.loads(json.dumps(values))  # keys are texts, tuples are lists
    return label, [*witness.differences(values, content["values"], places, alike, whole)]


def main(arguments: Sequence[str], prog: str) -> int:
    """Exit status of the command: 0 if all pieces are as stored, 1 if one is not, 2 if one cannot be made."""
    text = "make a piece of stored results again, and compare it with what is stored"
    parser = argparse.ArgumentParser(prog=prog, description=text, allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of stored results (default: all)")
    parser.add_argument("--piece", default="", help="of one result; otherwise one is drawn")
    parser.add_argument("--draw", default="", metavar="TEXT", help="draws the pieces, as the hash of a commit does")
    parser.add_argument("--whole", action="store_true", help="all of each result, which takes from seconds to hours")
    given = parser.parse_args(arguments)
    status = 0
    try:
        for path in [path_of(name) for name in given.names] or paths().values():
            content = load(path)
            if content["entry"] is None:
                continue
            begin = perf_counter()
            label, differences = check(path, given.piece, given.draw, given.whole)
            shown = f"{label}, {perf_counter() - begin:.1f} s" if label else "no piece"
            print(f"{path.stem} ({shown}): {len(differences)} differences", flush=True)
            if differences:
                status = 1
                print(*differences[:SHOWN], f"If this is meant, make it again: {content['command']}", sep="\n  ")
    except (FileNotFoundError, RunError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 2
    return status


def _differences(
    piece: Any, stored: Any, places: list[tuple[int, int]], known: Mapping[str, float], rtol: float, where: str
) -> Iterator[str]:
    if math.isinf(rtol):
        return
    if isinstance(piece, dict) and isinstance(stored, dict):
        n_rows, n_stored = _length(piece), _length(stored)
        if n_rows and n_stored not in (n_rows, None, *(number for _, number in places)):  # of a table, some rows
            yield from _differences(_rows(piece), _rows(stored), places, known, rtol, where)
            return
        for key, value in piece.items():
            if key not in stored:
                yield f"{where}.{key}: found in the piece, not stored"
            else:
                yield from _differences(value, stored[key], places, known, known.get(key, rtol), f"{where}.{key}")
    elif isinstance(piece, list) and isinstance(stored, list):
        if len(piece) == 1 != len(stored) and len(stored) in [number for _, number in places]:
            at = max(i for i, (_, number) in enumerate(places) if number == len(stored))
            index, rest = places[at][0], places[:at] + places[at + 1 :]
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


def _items(setting: Any, whole: Any) -> Iterator[Item]:
    """Every item of a list, or of all lists in a mapping; of a mapping without lists, every entry."""
    if isinstance(setting, list):
        for value in setting:
            yield Item(str(value), [value], (whole.index(value), len(whole)))
        return
    for key, value in setting.items():
        if isinstance(value, list) or (isinstance(value, dict) and any(isinstance(v, list) for v in value.values())):
            for item in _items(value, whole[key]):
                yield Item(f"{key}.{item.name}", {key: item.setting}, item.place)
        else:
            yield Item(key, {key: value}, ([*whole].index(key), len(whole)))


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
