"""What a function gives for many settings, by the engine's sweep, in the order of the settings."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def values_of(
    function: Callable, settings: Sequence[Mapping], sweep: Callable, *, progress: bool = False, workers: int = 1
) -> list[dict[str, Any]]:
    """What ``function(**each)`` gives for each of the settings, all of which have the same names.

    sweep : that of the engine. Raises ``RuntimeError`` where a run failed.
    """
    target = f"{function.__module__}:{function.__name__}"
    with tempfile.TemporaryDirectory() as folder:
        table = sweep(target, settings, folder, workers=workers, progress=progress)
    if (table["error"] != "").any():
        raise RuntimeError(f"found errors in the sweep, expected none: {sorted(set(table['error']) - {''})}")
    rows = [{name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")]
    by_settings = {_key(row, settings[0]): row for row in rows}
    return [by_settings[_key(setting, settings[0])] for setting in settings]


def _key(row: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    return json.dumps([row[name] for name in names])


def _plain(value: Any) -> Any:
    """A table holds lists and mappings as JSON text."""
    return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
