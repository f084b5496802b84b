"""Which stored results a change of a definition makes stale: ``python -m chapters.fingerprint NAME…``.

Without a name: how many definitions each stored result reaches, and whether it is stale.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from chapters.fingerprint.reached import reach
from chapters.kit.stored import paths


def entries() -> dict[str, tuple[str, str]]:
    """Stored result → its entry point and fingerprint, for those whose values are decided by code."""
    found = {name: json.loads(path.read_text("utf8"))["code"] for name, path in paths().items()}
    return {name: (code["entry"], code["hash"]) for name, code in found.items() if code}


def main(names: Sequence[str]) -> int:
    """Print a line for each stored result that reaches one of ``names`` (a name, or module:name)."""
    for result, (entry, stored) in entries().items():
        found = reach(entry)
        if not names:
            print(f"{result:24} {len(found.names):4} definitions, {'as stored' if found.hash == stored else 'STALE'}")
            continue
        reached = [f"{module}:{name}" for module, name in found.names]
        hits = [each for each in reached if any(wanted in (each, each.split(":")[1]) for wanted in names)]
        if hits:
            print(f"{result:24} {', '.join(hits)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
