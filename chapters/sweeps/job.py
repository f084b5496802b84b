"""One run of a sweep: what is sent to where it is done, and what comes back, both as JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from capcore.sweeps import SCHEMA, canonical, digest

EMPTY: dict[str, Any] = {
    "values": {},
    "claims": {},
    "error": "",
    "seconds": None,
    "memory_mb": None,
    "versions": {},
}
"""What a run finds, before it has found anything."""
PACKAGES = ("capcore", "numpy", "scipy")


@dataclass(frozen=True)
class Job:
    """A run and its limits.

    Attributes
    ----------
    key : str
        Its name.
    target : str
        A notebook's name, or ``module:function``.
    code : str
        Fingerprint of what it reaches.
    settings : dict
        All of them, defaults included.
    source : str
        The notebook without outputs, as JSON; empty for a function.
    given : dict
        Those settings that are set, and not the notebook's own.
    folder : str
        Where the notebook runs, if that folder is there; else in an empty one.
    seconds, memory_mb : float or None
        Most that it may take.
    warm : bool
        Whether it is forked from a process that has imported ``preload``.
    keep : str
        Whose executed notebooks come back: ``failed``, ``all`` or ``none``.
    """

    key: str
    target: str
    code: str
    settings: dict[str, Any]
    source: str = ""
    given: dict[str, Any] | None = None
    folder: str = ""
    seconds: float | None = None
    memory_mb: float | None = None
    warm: bool = True
    preload: tuple[str, ...] = ()
    keep: str = "failed"

    def to_json(self) -> str:
        """The job as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """The job of a text."""
        content = json.loads(text)
        return cls(**{**content, "preload": tuple(content["preload"])})

    def row(self, **found: Any) -> dict[str, Any]:
        """The row of this run, as ``capcore.sweeps`` describes it; without values where there are none."""
        found = {**EMPTY, **found}
        parts = {"settings": self.settings, "values": found.pop("values"), "claims": found.pop("claims")}
        run = {"key": self.key, "target": self.target, "code": self.code, **found}
        return {"schema": SCHEMA, **parts, "run": run}


def versions() -> dict[str, str]:
    """What a row says of the interpreter and the packages."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def read_answer(job: Job, text: bytes) -> tuple[dict[str, Any], str]:
    """Row and notebook from what came back, which is data: of the row only what a run finds, of its own type."""
    try:
        content = json.loads(text)
        found = content["found"]
        types: dict[str, Any] = {"values": dict, "claims": dict, "versions": dict, "error": str}
        wrong = [name for name, kind in types.items() if not isinstance(found[name], kind)]
        wrong += [name for name in ("seconds", "memory_mb") if not isinstance(found[name], float | int | None)]
        if wrong or not isinstance(content["notebook"], str):
            raise ValueError(f"{', '.join(wrong) or 'notebook'}: not of the expected type")
        row = job.row(**{name: found[name] for name in (*types, "seconds", "memory_mb")})
        digest(canonical(row) + content["notebook"])  # whether it can be written: not too deep, and text throughout
        return row, content["notebook"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return job.row(error=f"answer: cannot be read ({error!r})"[:500]), ""


def answer(found: dict[str, Any], notebook: str = "") -> bytes:
    """What :func:`read_answer` reads."""
    error = found.get("error", "").encode(errors="backslashreplace").decode()  # half a surrogate pair can't be written
    return json.dumps({"found": {**EMPTY, **found, "error": error}, "notebook": notebook}).encode()


def threads() -> dict[str, str]:
    """Environment of a run: one thread of linear algebra, unless the environment says otherwise."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {name: os.environ.get(name, "1") for name in names}
