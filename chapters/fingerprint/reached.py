"""Every definition that a run reaches by name, and one hash of them all."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

from chapters.fingerprint.essence import Essence, Key
from chapters.fingerprint.names import EFFECTS, Module, Sources

ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package
State = tuple[tuple[str, int, int], ...]


class Reach:
    """What an entry point reaches by name, and ``SETTINGS`` beside it.

    Parameters
    ----------
    entry : str
        ``module:name``, or several with spaces between.
    sources : Sources
        Where definitions are looked up.

    Attributes
    ----------
    essences : dict
        Module, name and whether somebody catches what it raises → what is written of that definition.
    own : dict
        The same keys → hash of the definition alone.
    labels : dict
        Of the definition and of those it names.
    """

    def __init__(self, entry: str, sources: Sources) -> None:
        self.entry, self.sources = entry, sources
        self.essences: dict[Key, Essence] = {}
        called: set[str] = set()
        todo: list[Key] = []
        for start in entry.split():
            name, function = _parts(start)
            module = sources.module(name)
            todo += [(name, each, False) for each in (function, *(["SETTINGS"] if _has(module, "SETTINGS") else []))]
        while todo:
            key = todo.pop()
            if key not in self.essences:
                essence = self.essences[key] = _essence(sources, key)
                called |= essence.called
                todo += [*essence.reached, *((name, EFFECTS, False) for name in _with_effects(sources, key[0]))]
            if not todo:  # methods called where somebody catches what they raise, of whatever class is at hand
                classes = [(*key[:2], True) for key, each in self.essences.items() if called & each.defines]
                todo = [key for key in classes if key not in self.essences]
        texts = {key: essence.text() for key, essence in self.essences.items()}
        self.own = {key: _digest(text) for key, text in texts.items()}
        self.labels = {key: _digest(self.essences[key].text(self.own)) for key, text in texts.items() if text != "[]"}

    @property
    def files(self) -> list[Path]:
        """Data files that the definitions name."""
        return sorted(set().union(*(essence.files for essence in self.essences.values())))

    @property
    def names(self) -> list[tuple[str, str]]:
        """Module and name of every definition, sorted."""
        return sorted({(module, name) for module, name, _ in self.labels})

    @property
    def hash(self) -> str:
        """Hash of the set of definitions and of the data files' contents."""
        contents = {_digest(_content(path)) for path in self.files}
        return _digest("\n".join(sorted({*self.labels.values(), *contents})))[:16]

    @property
    def digests(self) -> dict[str, set[str]]:
        """Short digest of a definition alone → the names that have it."""
        found: dict[str, set[str]] = {}
        for key in self.labels:
            found.setdefault(self.own[key][:6], set()).add(key[1])
        return found


def reach(entry: str, root: str | Path | None = None) -> Reach:
    """What ``entry`` reaches now; kept for as long as no source file changes.

    >>> ("capcore.processes.families", "PowerLaw") in reach("chapters.hierarchical.lbfgs_sweep:run").names
    True
    """
    root = Path(root or ROOT)
    tops = sorted({"capcore", *(_parts(each)[0].split(".")[0] for each in entry.split())})
    files = sorted(path for top in tops for path in (root / top).rglob("*.py"))
    return _reach(
        entry, root, tuple(tops), tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    )


@lru_cache(maxsize=64)
def _reach(entry: str, root: Path, tops: tuple[str, ...], state: State) -> Reach:
    return Reach(entry, _sources(root, tops, state))


@lru_cache(maxsize=8)
def _sources(root: Path, tops: tuple[str, ...], _state: State) -> Sources:
    return Sources(root, tops)


@lru_cache(maxsize=8192)
def _essence(sources: Sources, key: Key) -> Essence:
    return Essence(sources, key)


def _parts(entry: str) -> tuple[str, str]:
    """Module and name of an entry point."""
    module, _, name = entry.partition(":")
    if not (module and name):
        raise ValueError(
            f"entry: found {entry!r}, expected module:name, such as 'chapters.hierarchical.lbfgs_sweep:run'."
        )
    return module, name


def _with_effects(sources: Sources, name: str) -> list[str]:
    """Of a module and the packages that hold it, those with statements that act when they are imported."""
    parts = name.split(".")
    modules = [sources.module(".".join(parts[: end + 1])) for end in range(len(parts))]
    return [module.name for module in modules if module and _has(module, EFFECTS)]


def _has(module: Module | None, name: str) -> bool:
    return module is not None and name in module.definitions


def _content(path: Path) -> str:
    """What counts of a data file: of a stored result its numbers, of another file everything."""
    if path.suffix == ".json":
        content = json.loads(path.read_text("utf8"))
        return json.dumps(content.get("values", content) if isinstance(content, dict) else content, sort_keys=True)
    return path.read_bytes().hex()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
