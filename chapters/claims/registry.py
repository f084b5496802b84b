"""Reading the registry of claims, with errors that say which row to mend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from chapters.claims.criteria import ClaimsError, Criterion
from chapters.claims.verdicts import DECLARED, NOT_ATTEMPTED, ROLES, VERDICTS

KINDS = ("exact", "statistical", "qualitative")


@dataclass(frozen=True)
class Check:
    """One comparison that was fixed before it was computed."""

    name: str
    role: str
    quantity: str
    statement: str
    test: Criterion
    why: str
    correction: str | None = None
    varies: bool = False


@dataclass(frozen=True)
class Claim:
    """One row of the registry.

    Attributes
    ----------
    verdict : str
        What the last collection wrote.
    sentence : str
        What was found, in one sentence; it names the correction.
    declared : str or None
        A verdict that no check can give, see ``verdicts.DECLARED``.
    first_edition : str or None
        The verdict before the vocabulary changed.
    changed : str or None
        In one line, why it is another one now.
    """

    id: str
    source: str
    kind: str
    claim: str
    notebook: str | None
    checks: tuple[Check, ...]
    verdict: str
    sentence: str = ""
    declared: str | None = None
    first_edition: str | None = None
    changed: str | None = None

    @property
    def slug(self) -> str:
        """The id as it stands in page anchors: ``P1.02`` gives ``p1-02``."""
        return self.id.lower().replace(".", "-")

    @property
    def anchor(self) -> str:
        """The anchor of the claim's evidence on its notebook page."""
        return f"claim-{self.slug}"

    def check(self, name: str) -> Check:
        """The check called ``name``. Raises ``ClaimsError`` with close matches."""
        named = {check.name: check for check in self.checks}
        if name not in named:
            raise ClaimsError(f"{self.id} has no check {name!r}.{_hint(name, named)}")
        return named[name]


@dataclass(frozen=True)
class Registry:
    """All claims, in the order of the file."""

    path: Path
    claims: tuple[Claim, ...]
    settings: tuple[str, ...] = ()
    _by_id: dict[str, Claim] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the claims by id."""
        object.__setattr__(self, "_by_id", {claim.id: claim for claim in self.claims})

    def __getitem__(self, claim_id: str) -> Claim:
        """The claim ``claim_id``. Raises ``ClaimsError`` with close matches."""
        if claim_id not in self._by_id:
            raise ClaimsError(f"No claim {claim_id!r} in {self.path.name}.{_hint(claim_id, self._by_id)}")
        return self._by_id[claim_id]

    def __iter__(self) -> Iterator[Claim]:
        """Claims in the order of the file."""
        return iter(self.claims)

    def __len__(self) -> int:
        """Number of claims."""
        return len(self.claims)


def find_registry(path: str | Path | None = None) -> Path:
    """The registry file: ``path`` if given, else ``book/claims.yml`` above the working directory or the package.

    Raises ``ClaimsError`` if there is none.
    """
    if path is not None:
        if not Path(path).is_file():
            raise ClaimsError(f"registry: found no file {str(path)!r}. Give the path of a claims.yml.")
        return Path(path)
    starts = [Path.cwd(), Path(__file__).resolve().parent]
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / "book" / "claims.yml").is_file():
                return folder / "book" / "claims.yml"
    raise ClaimsError(
        "registry: found no book/claims.yml above the working directory or the package. "
        "Work inside the repository, or pass its path."
    )


def load(path: str | Path | None = None) -> Registry:
    """The registry at ``path`` (by default the one that :func:`find_registry` finds). Raises ``ClaimsError``."""
    file = find_registry(path).resolve()
    return _load(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _load(path: Path, modified: int) -> Registry:
    import yaml

    try:
        content = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ClaimsError(f"{path.name} is not valid YAML: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("claims"), list):
        raise ClaimsError(f"{path.name}: expected a list under the key 'claims'.")
    claims = tuple(_read_claim(row) for row in content["claims"])
    twice = sorted({claim.id for claim in claims if sum(other.id == claim.id for other in claims) > 1})
    if twice:
        raise ClaimsError(f"{path.name}: the id(s) {', '.join(twice)} occur more than once; ids are never reused.")
    return Registry(path, claims, tuple(content.get("settings") or ()))


_CLAIM_KEYS = {"id", "source", "kind", "claim", "notebook", "checks", "verdict"}
_CHECK_KEYS = {"name", "role", "quantity", "statement", "test", "why"}


def _read_claim(row: object) -> Claim:
    where = f"claim {row.get('id', '?')}" if isinstance(row, Mapping) else "claim"
    fields = _fields(row, where, _CLAIM_KEYS, optional={"sentence", "declared", "first_edition", "changed"})
    _among(fields["kind"], KINDS, f"{where}, kind")
    _among(fields["verdict"], VERDICTS, f"{where}, verdict")
    checks = tuple(_read_check(check, where) for check in fields.pop("checks") or ())
    names = [check.name for check in checks]
    if len(set(names)) < len(names):
        raise ClaimsError(f"{where}: two checks share a name.")
    if checks and not fields["notebook"]:
        raise ClaimsError(f"{where}: has checks, expected the name of the notebook that computes them.")
    declared = fields.get("declared")
    if declared is not None:
        _among(declared, DECLARED, f"{where}, declared")
    elif checks and not any(check.role in ("claim", "counterexample") for check in checks):
        raise ClaimsError(f"{where}: expected a claim or a counterexample among its checks, or the key declared.")
    if fields["verdict"] != NOT_ATTEMPTED and not checks and not declared:
        raise ClaimsError(f"{where}: verdict '{fields['verdict']}' without checks, expected '{NOT_ATTEMPTED}'.")
    if fields["verdict"] != NOT_ATTEMPTED and not fields.get("sentence"):
        raise ClaimsError(f"{where}: has a verdict, expected the key sentence with what was found in one sentence.")
    return Claim(checks=checks, **fields)


def _read_check(row: object, claim: str) -> Check:
    where = f"{claim}, check {row.get('name', '?')}" if isinstance(row, Mapping) else f"{claim}, check"
    fields = _fields(row, where, _CHECK_KEYS, optional={"correction", "varies"})
    _among(fields["role"], ROLES, f"{where}, role")
    if not str(fields["name"]).isidentifier():
        raise ClaimsError(f"{where}: the name must be a Python identifier, it becomes a keyword of record().")
    if (fields["role"] == "correction") != bool(fields.get("correction")):
        raise ClaimsError(
            f"{where}: the key correction says what corrects the statement; it belongs to that role alone."
        )
    try:
        test = Criterion.read(fields.pop("test"))
    except ClaimsError as error:
        raise ClaimsError(f"{where}, {error}") from None
    return Check(test=test, **fields)


def _fields(row: object, where: str, needed: set[str], optional: set[str]) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise ClaimsError(f"{where}: found {row!r}, expected a mapping.")
    missing, unknown = needed - set(row), set(row) - needed - optional
    if missing or unknown:
        found = [f"missing {', '.join(sorted(missing))}"] * bool(missing)
        found += [f"unknown {', '.join(map(str, unknown))}"] * bool(unknown)
        raise ClaimsError(f"{where}: {'; '.join(found)}.")
    return dict(row)


def _among(value: object, choices: tuple[str, ...], where: str) -> None:
    if value not in choices:
        raise ClaimsError(f"{where}: found {value!r}, expected one of {', '.join(choices)}.")


def _hint(name: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(str(name), known, n=3, cutoff=0.5)
    if close:
        return f" Did you mean {' or '.join(close)}?"
    return f" It has: {', '.join(known)}." if 0 < len(known) <= 12 else ""
