"""One run of a sweep: what is sent to where it is done, and what comes back, both as JSON."""

import json
from typing import Any

from pydantic import BaseModel


class Row(BaseModel, strict=True):
    """What is kept of a run: its name, what was run with which settings, what that gave, and what it took."""

    key: str
    target: str
    code: str
    settings: dict[str, Any]
    values: dict[str, Any] = {}
    claims: dict[str, Any] = {}
    error: str = ""
    seconds: float | None = None
    memory_mb: float | None = None
    versions: dict[str, str] = {}


class Job(BaseModel, frozen=True):
    """A run and its limits.

    Attributes
    ----------
    key : str
        Its name.
    target : str
        A notebook's name, or ``module:function``.
    code : str
        Digest of the code.
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
    """

    target: str
    code: str
    key: str = ""
    settings: dict[str, Any] = {}
    source: str = ""
    given: dict[str, Any] = {}
    folder: str = ""
    seconds: float | None = None
    memory_mb: float | None = None

    def row(self, **findings: Any) -> Row:
        """The row of this run, whatever else the findings say of which it is."""
        return Row(**{**findings, **self.model_dump(include={"key", "target", "code", "settings"})})


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def answer(notebook: str = "", **findings: Any) -> str:
    """What :func:`read_answer` reads."""
    error = findings.get("error", "").encode(errors="backslashreplace").decode()  # half a surrogate pair has no bytes
    return json.dumps({"findings": {**findings, "error": error}, "notebook": notebook})


def read_answer(job: Job, text: str) -> tuple[Row, str]:
    """Row and notebook from what came back, which is data: of the row only what a run finds, of its own type."""
    try:
        content = json.loads(text)
        row, notebook = job.row(**content["findings"]), str(content["notebook"])
        (canonical(row.model_dump()) + notebook).encode()  # can be written: not too deep, text throughout
        return row, notebook
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return job.row(error=f"answer: cannot be read ({error!r})"[:500]), ""
