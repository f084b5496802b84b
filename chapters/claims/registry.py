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
    form: str | None = None


@dataclass(frozen=True)
class Form:
    """A form that sentences of the sources have, and the one criterion by which all of them are judged.

    Attributes
    ----------
    criterion : str
        In words.
    tests : tuple of Criterion or str
        The ways to write it, a bare kind such as ``equals`` for any bound; none where bounds are computed.
    """

    name: str
    criterion: str
    tests: tuple[Criterion | str, ...] = ()

    def admits(self, test: Criterion) -> bool:
        """Whether ``test`` is a way to write this form's criterion."""
        return not self.tests or test in self.tests or test.kind in self.tests


@dataclass(frozen=True)
class Claim:
    """One row of the registry.

    Attributes
    ----------
    form : str
        Of its sentence; decides the criterion of its checks of role ``claim``, unless a check names another.
    open : str or None
        What the source leaves open that a threshold needs; ``not found`` is then not possible.
    history : tuple of str
        Changes of the verdict since the second edition, each with its reason.
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
    form: str
    claim: str
    notebook: str | None
    checks: tuple[Check, ...]
    verdict: str
    sentence: str = ""
    declared: str | None = None
    first_edition: str | None = None
    changed: str | None = None
    open: str | None = None
    history: tuple[str, ...] = ()

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
    forms: Mapping[str, Form] = field(default_factory=dict)
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
    forms = _read_forms(content.get("forms"))
    claims = tuple(_read_claim(row, forms) for row in content["claims"])
    twice = sorted({claim.id for claim in claims if sum(other.id == claim.id for other in claims) > 1})
    if twice:
        raise ClaimsError(f"{path.name}: the id(s) {', '.join(twice)} occur more than once; ids are never reused.")
    return Registry(path, claims, tuple(content.get("settings") or ()), forms)


_CLAIM_KEYS = {"id", "source", "kind", "form", "claim", "notebook", "checks", "verdict"}
_CLAIM_OPTIONS = {"sentence", "declared", "first_edition", "changed", "open", "history"}
_CHECK_KEYS = {"name", "role", "quantity", "statement", "test", "why"}


def _read_forms(rows: object) -> dict[str, Form]:
    if not isinstance(rows, list):
        raise ClaimsError(
            f"forms: found {rows!r}, expected a list: one entry with a name and a criterion for each form."
        )
    forms: dict[str, Form] = {}
    for row in rows:
        where = f"form {row.get('name', '?')}" if isinstance(row, Mapping) else "form"
        fields = _fields(row, where, {"name", "criterion"}, optional={"tests"})
        if fields["name"] in forms:
            raise ClaimsError(f"{where}: found a second criterion, expected one for each form. Merge or rename them.")
        tests = tuple(
            test if isinstance(test, str) else _read_test(test, where) for test in fields.pop("tests", None) or ()
        )
        forms[fields["name"]] = Form(tests=tests, **fields)
    return forms


def _read_test(test: object, where: str) -> Criterion:
    try:
        return Criterion.read(test)
    except ClaimsError as error:
        raise ClaimsError(f"{where}, {error}") from None


def _read_claim(row: object, forms: Mapping[str, Form]) -> Claim:
    where = f"claim {row.get('id', '?')}" if isinstance(row, Mapping) else "claim"
    fields = _fields(row, where, _CLAIM_KEYS, optional=_CLAIM_OPTIONS)
    _among(fields["kind"], KINDS, f"{where}, kind")
    _among(fields["form"], tuple(forms), f"{where}, form")
    _among(fields["verdict"], VERDICTS, f"{where}, verdict")
    checks = tuple(_read_check(check, where) for check in fields.pop("checks") or ())
    for check in checks:
        _judge_by_form(check, forms, check.form or fields["form"], f"{where}, check {check.name}")
    names = [check.name for check in checks]
    if len(set(names)) < len(names):
        raise ClaimsError(f"{where}: two checks share a name.")
    if checks and not fields["notebook"]:
        raise ClaimsError(f"{where}: has checks, expected the name of the notebook that computes them.")
    declared = fields.get("declared")
    if declared is not None and fields.get("open"):
        raise ClaimsError(
            f"{where}: found declared and open, expected one of them: open leads to its verdict by itself."
        )
    if declared is not None:
        _among(declared, DECLARED, f"{where}, declared")
    elif checks and not any(check.role in ("claim", "counterexample") for check in checks):
        raise ClaimsError(f"{where}: expected a claim or a counterexample among its checks, or the key declared.")
    if fields["verdict"] != NOT_ATTEMPTED and not checks and not declared:
        raise ClaimsError(f"{where}: verdict '{fields['verdict']}' without checks, expected '{NOT_ATTEMPTED}'.")
    if fields["verdict"] != NOT_ATTEMPTED and not fields.get("sentence"):
        raise ClaimsError(f"{where}: has a verdict, expected the key sentence with what was found in one sentence.")
    return Claim(checks=checks, history=tuple(fields.pop("history", None) or ()), **fields)


def _judge_by_form(check: Check, forms: Mapping[str, Form], name: str, where: str) -> None:
    _among(name, tuple(forms), f"{where}, form")
    if check.role == "claim" and not forms[name].admits(check.test):
        expected = " or ".join(
            str(test) if isinstance(test, Criterion) else f"any {test}" for test in forms[name].tests
        )
        raise ClaimsError(
            f"{where}: found the test '{check.test}', expected that of the form '{name}': {expected}. "
            "Sentences of one form have one criterion; use it, or name the form that this check has."
        )


def _read_check(row: object, claim: str) -> Check:
    where = f"{claim}, check {row.get('name', '?')}" if isinstance(row, Mapping) else f"{claim}, check"
    fields = _fields(row, where, _CHECK_KEYS, optional={"correction", "varies", "form"})
    _among(fields["role"], ROLES, f"{where}, role")
    if not str(fields["name"]).isidentifier():
        raise ClaimsError(f"{where}: the name must be a Python identifier, it becomes a keyword of record().")
    if (fields["role"] == "correction") != bool(fields.get("correction")):
        raise ClaimsError(
            f"{where}: the key correction says what corrects the statement; it belongs to that role alone."
        )
    return Check(test=_read_test(fields.pop("test"), where), **fields)


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
