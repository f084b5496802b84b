"""Reading the registry of claims, with errors that say which row to mend."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from chapters.claims.criteria import ClaimsError, Criterion
from chapters.claims.verdicts import DECLARED, NOT_ATTEMPTED, ROLES, VERDICTS

Test = Annotated[Criterion, BeforeValidator(Criterion.read)]


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError("expected a Python identifier: it becomes a keyword of record()")
    return name


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Check(_Row):
    """One comparison that was fixed before it was computed.

    An ``identity`` follows from how its quantity is made: only a wrong computation fails.
    """

    name: Annotated[str, AfterValidator(_identifier)]
    role: Literal[ROLES]  # type: ignore[valid-type]
    quantity: str
    statement: str
    test: Test
    why: str
    correction: str | None = None
    varies: bool = False
    identity: bool = False
    form: str | None = None

    @model_validator(mode="after")
    def _has_what_corrects(self) -> Self:
        if (self.role == "correction") != bool(self.correction):
            raise ValueError("the key correction says what corrects the statement; it belongs to that role alone")
        return self

    @property
    def remark(self) -> str:
        """What else the check is than the source's own claim that could fail; empty where it is that."""
        roles = {"claim": "", "question": "our question", "correction": f"correction: {self.correction}"}
        return ", ".join(filter(None, [roles.get(self.role, self.role), "identity" * self.identity]))


class Form(_Row):
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
    tests: tuple[str | Test, ...] = ()

    def admits(self, test: Criterion) -> bool:
        """Whether ``test`` is a way to write this form's criterion."""
        return not self.tests or test in self.tests or test.kind in self.tests


class Claim(_Row):
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
    kind: Literal["exact", "statistical", "qualitative"]
    form: str
    claim: str
    notebook: str | None
    checks: tuple[Check, ...]
    verdict: Literal[VERDICTS]  # type: ignore[valid-type]
    sentence: str = ""
    declared: Literal[DECLARED] | None = None  # type: ignore[valid-type]
    first_edition: str | None = None
    changed: str | None = None
    open: str | None = None
    history: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        judged = self.verdict != NOT_ATTEMPTED
        decisive = self.declared or any(check.role in ("claim", "counterexample") for check in self.checks)
        faults = {
            "two checks share a name": _twice(check.name for check in self.checks),
            "has checks, expected the notebook that computes them": self.checks and not self.notebook,
            "found declared and open, expected one of them: open leads to its verdict": self.declared and self.open,
            "expected a claim or a counterexample among its checks, or the key declared": self.checks and not decisive,
            f"{self.verdict!r} without checks, expected {NOT_ATTEMPTED!r}": not self.checks and judged and not decisive,
            "has a verdict, expected the key sentence with what was found": judged and not self.sentence,
        }
        for fault in (fault for fault, found in faults.items() if found):
            raise ValueError(fault)
        return self

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
        return _named(name, {check.name: check for check in self.checks}, f"check of {self.id}")


class Registry(_Row):
    """All claims, in the order of the file."""

    path: Path
    settings: tuple[str, ...] = ()
    forms: tuple[Form, ...]
    claims: tuple[Claim, ...]

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        forms = {form.name: form for form in self.forms}
        if twice := _twice(form.name for form in self.forms):
            raise ValueError(f"form {twice[0]}: found a second criterion, expected one for each form")
        if twice := _twice(claim.id for claim in self.claims):
            raise ValueError(f"{', '.join(twice)}: found more than once; ids are never reused")
        for claim in self.claims:
            _named(claim.form, forms, f"form, as {claim.id} has it")
            for check in claim.checks:
                form = _named(check.form or claim.form, forms, f"form, as {claim.id}.{check.name} has it")
                if check.role == "claim" and not form.admits(check.test):
                    raise ValueError(
                        f"{claim.id}.{check.name}: found the test '{check.test}', expected that of the form "
                        f"'{form.name}', {' or '.join(map(str, form.tests))}; or name the form that this check has"
                    )
        return self

    def __getitem__(self, claim_id: str) -> Claim:
        """The claim ``claim_id``. Raises ``ClaimsError`` with close matches."""
        return _named(claim_id, {claim.id: claim for claim in self.claims}, f"claim in {self.path.name}")

    def __iter__(self) -> Iterator[Claim]:  # type: ignore[override]
        """Claims in the order of the file."""
        return iter(self.claims)

    def __len__(self) -> int:
        """Number of claims."""
        return len(self.claims)


def load(path: str | Path | None = None) -> Registry:
    """The registry at ``path``; by default ``book/claims.yml`` above the working directory, or that of the book.

    Raises ``ClaimsError`` for a file that is missing or malformed.
    """
    folders = [*Path("_").absolute().parents, Path(__file__).parents[2]]
    known = (file for folder in folders if (file := folder / "book" / "claims.yml").is_file())
    file = (Path(path) if path else next(known)).resolve()
    if not file.is_file():
        raise ClaimsError(f"registry: found no file {str(path)!r}. Give the path of a claims.yml.")
    return _load(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _load(path: Path, modified: int) -> Registry:
    import yaml

    try:
        content = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return Registry.model_validate({"path": path, **content})
    except (yaml.YAMLError, TypeError) as error:
        raise ClaimsError(f"{path.name}: found no valid YAML of a mapping ({error}).") from None
    except ValidationError as error:
        last: Any = error.errors()[-1]
        places, row = [path.name], content
        for step in last["loc"]:
            row = row[step] if isinstance(row, list) or step in row else {}
            known = row if isinstance(row, dict) else {}
            places.append(str(known.get("id") or known.get("name") or step))
        found, fault = str(last["input"])[:80], last["msg"].removesuffix(".")
        raise ClaimsError(f"{', '.join(places)}: found {found}: {fault}.") from None


def _twice(names: Iterable[str]) -> list[str]:
    listed = list(names)
    return sorted({name for name in listed if listed.count(name) > 1})


def _named(name: str, known: dict[str, Any], what: str) -> Any:
    """The one of this name, or ``ClaimsError`` with close matches."""
    if name in known:
        return known[name]
    close = " or ".join(get_close_matches(str(name), known, n=3, cutoff=0.5))
    hint = f"Did you mean {close}?" if close else f"It has: {', '.join(known) if len(known) < 13 else '…'}."
    raise ClaimsError(f"found no {what} called {name!r}. {hint}")
