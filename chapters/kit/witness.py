"""Witnesses of stored results: a piece of one is made again, and compared with what is stored.

A piece is a run with fewer settings: one family of five, one seed of ten. What it gives must be found in the stored
values, so that ``run`` is the one code that makes both. An experiment's module declares its pieces::

    WITNESS = Witness(["families channels", "seeds"])

Pieces of the first kind take one of the families and one of the channels, and no seeds; those of the second kind one
seed, and neither families nor channels. A dot leads into a setting that holds others: ``paper.lengths``.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from operator import getitem
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from chapters.kit.running import Experiment, RunError, sweep_here
from chapters.kit.stored import load, path_of, paths, versions

RTOL = 1e-9
"""Where kernels and versions are those that made the result: what remains is the order of sums in one process."""
ELSEWHERE = 1e-6
"""Under other arithmetic: rounding, 1e-16, times conditions up to 1e10."""
CHAOTIC: dict[str, Any] = {
    "elsewhere": {"": math.inf},
    "reason": "Iterations from a random start magnify rounding, so that other arithmetic ends elsewhere.",
}
"""Of a witness that is compared only where the arithmetic is that which made the result."""
SHOWN = 5
"""Differences that the command prints of a piece."""
Place = tuple[int, int, str]
"""Of an item: its index in a list, the length of that list, and the setting that has it."""


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
    least : float
        Numbers that differ by less are equal, such as losses that no longer show beside a variance of one.
    reason : str
        Why a value is not compared or a tolerance is wider, or why there are no pieces.
    weekly : bool
        Whether it is made again as a whole only.
    needs : sequence of Path
        Files that are not in the repository, without which no piece can be made.
    """

    kinds: Sequence[str] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    volatile: Sequence[str] = ()
    partial: Sequence[str] = ()
    elsewhere: Mapping[str, float] = field(default_factory=dict)
    least: float = 0.0
    reason: str = ""
    weekly: bool = False
    needs: Sequence[Path] = ()

    def pieces(self, settings: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], tuple[Place, ...]]]:
        """Name, such as ``families=AR1 channels=4`` → settings of a piece, and the places of its items."""
        fewer = reduce(_replaced, self.fixed.items(), dict(settings))
        named = {name: type(_at(settings, name))() for name in " ".join(self.kinds).split()}
        empty = reduce(_replaced, named.items(), fewer)
        pieces = {}
        for names in map(str.split, self.kinds):
            for items in product(*(_items(_at(fewer, name), _at(settings, name)) for name in names)):
                labels, parts, places = zip(*items, strict=True) if items else ((), (), ())
                label = " ".join(f"{name}={label}" for name, label in zip(names, labels, strict=True))
                named_places = tuple((*place, name) for name, place in zip(names, places, strict=True))
                pieces[label or "whole"] = reduce(_replaced, zip(names, parts, strict=True), empty), named_places
        return pieces

    def differences(
        self, piece: Any, stored: Any, places: Sequence[Place] = (), alike: bool = True, whole: bool = False
    ) -> Iterator[str]:
        """Where the values of a piece, of plain types, are not those that are stored: both, with where they are.

        places : of the items of the piece. alike : whether the arithmetic is that which made the result. whole :
        whether the piece is all of it.
        """
        skipped = [*self.volatile, *(() if whole else self.partial)]
        known = ({"": RTOL} if alike else {"": ELSEWHERE, **self.elsewhere}) | dict.fromkeys(skipped, math.inf)
        yield from _differences(piece, stored, tuple(places), known, known[""], "values", least=self.least)


def check(path: Path, label: str = "", draw: str = "", whole: bool = False) -> tuple[str, list[str]]:
    """Make a piece of a stored result again: its name, and its differences from what is stored.

    label : of the piece; without one it is drawn by the text ``draw``. whole : all of the result in place of a piece.
    The name is empty where no piece can be made.
    """
    experiment, content = Experiment.of(path), load(path)
    witness: Witness = experiment.module.WITNESS
    pieces = witness.pieces(experiment.settings)
    if not pieces or not all(file.exists() for file in witness.needs) or (witness.weekly and not whole):
        return "", []
    if whole:
        pieces = {"whole": (experiment.settings, ())}
    label = label or Random(f"{path.stem} {draw}").choice([*pieces])
    if label not in pieces:
        raise RunError(f"piece: found {label!r}, expected one of {path.stem}, such as {next(iter(pieces))!r}.")
    settings, places = pieces[label]
    values = experiment.values(settings, progress=False, workers=1, sweep=sweep_here)
    values = json.loads(json.dumps(values))  # keys are texts, tuples are lists
    made, here = content["versions"], versions(content["versions"])
    decisive = set(made) - {"python", "capcore", "processor"}
    alike = all(here[name] in (made[name], "absent") for name in decisive)
    if "jax" in made:  # XLA compiles for the very processor
        alike = alike and made.get("processor") == here["processor"]
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
            command, entry = (load(path)[name] for name in ("command", "entry"))
            begin = perf_counter()
            label, differences = check(path, given.piece, given.draw, given.whole) if entry else ("", [])
            shown = f"{label}, {perf_counter() - begin:.1f} s" if label else "no piece"
            print(f"{path.stem} ({shown}): {len(differences)} differences", flush=True)
            if differences:
                status = 1
                print("", *differences[:SHOWN], f"If this is meant, make it again: {command}", sep="\n  ")
    except (FileNotFoundError, RunError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 2
    return status


def _differences(
    piece: Any, stored: Any, places: tuple, known: Mapping, rtol: float, where: str, scale: float = 0, least: float = 0
) -> Iterator[str]:
    if math.isinf(rtol):
        return
    if isinstance(piece, dict) and isinstance(stored, dict):
        rows, stored_rows = _rows(piece), _rows(stored)
        if rows and stored_rows and len(stored_rows) not in (len(rows), *(length for _, length, _ in places)):
            yield from _differences(rows, stored_rows, places, known, rtol, where, least=least)
            return
        for key, value in piece.items():
            here = f"{where}.{key}"
            if len(piece) == 1 and key in stored:  # the item has its place here, and in no list below
                here_is = [*stored].index(key), len(stored)
                places = tuple(place for place in places if place[:2] != here_is or key in place[2].split("."))
            if key in stored:
                yield from _differences(value, stored[key], places, known, known.get(key, rtol), here, least=least)
            else:
                yield f"{here}: found in the piece, not stored"
    elif isinstance(piece, list) and isinstance(stored, list) and len(piece) <= len(stored):
        scale = max((abs(value) for value in stored if _is_number(value)), default=0)
        indices, rest = _indices(piece, stored, places)
        for one, i in zip(piece, indices, strict=False):
            yield from _differences(one, stored[i], rest, known, rtol, f"{where}[{i}]", scale, least)
    elif not _agree(piece, stored, rtol, max(rtol * scale, least)):
        yield f"{where}: found {piece!r}, stored is {stored!r}"


def _indices(piece: list[Any], stored: list[Any], places: tuple[Place, ...]) -> tuple[Sequence[int], tuple[Place, ...]]:
    """Where the items of a piece are stored, and the places that are left: of lists alike the last is the innermost."""
    fitting = [place for place in places if place[1] == len(stored)]
    if len(piece) == 1 < len(stored) and fitting:
        return [fitting[-1][0]], tuple(other for other in places if other != fitting[-1])
    if len(piece) < len(stored) and all(isinstance(row, dict) for row in stored):  # the rows with most in common
        alike = [[sum(row[key] == other.get(key) for key in row) for other in stored] for row in piece]
        return [counts.index(max(counts)) if any(counts) else i for i, counts in enumerate(alike)], places
    return range(len(piece)), places


def _agree(one: Any, other: Any, rtol: float, atol: float) -> bool:
    if not (_is_number(one) and _is_number(other)):
        return bool(one == other)
    return math.isclose(one, other, rel_tol=rtol, abs_tol=atol) or (math.isnan(one) and math.isnan(other))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of a table by columns; none where the values are not lists of one length."""
    lengths = {len(column) if isinstance(column, list) else None for column in table.values()}
    if len(table) == 1 or len(lengths) != 1 or None in lengths:
        return []
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _items(setting: Any, whole: Any) -> Iterator[tuple[str, Any, tuple[int, int]]]:
    """Every item of a list, or of all lists in a mapping; of a mapping without lists, every entry.

    Its name, the setting with it alone, and its place.
    """
    if isinstance(setting, list):
        yield from ((str(value), [value], (whole.index(value), len(whole))) for value in setting)
        return
    for key, value in setting.items():
        if isinstance(value, list) or (isinstance(value, dict) and any(isinstance(v, list) for v in value.values())):
            yield from ((f"{key}.{name}", {key: part}, place) for name, part, place in _items(value, whole[key]))
        else:
            yield key, {key: value}, ([*whole].index(key), len(whole))


def _at(settings: Mapping[str, Any], name: str) -> Any:
    return reduce(getitem, name.split("."), settings)


def _replaced(settings: dict[str, Any], change: tuple[str, Any]) -> dict[str, Any]:
    """Settings with another value of one of them, whose name may lead into others."""
    outer, _, inner = change[0].partition(".")
    return settings | {outer: _replaced(settings[outer], (inner, change[1])) if inner else change[1]}
