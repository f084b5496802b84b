"""Print the table of ratios: ``python -m benchmarks [--quick]``. Exit code 1 when a row's check fails."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import (
    fitting,
    fitting_at_scale,
    lengths,
    networks,
    octaves,
    propagation,
    ranks,
    scale,
    spectra,
    tangent,
)
from benchmarks.measure import Row, Skipped, environment, forget_peak_memory, peak_memory_gb
from benchmarks.store import save

SUITES = {
    "fitting": fitting.rows,
    "fitting_at_scale": fitting_at_scale.rows,
    "lengths": lengths.rows,
    "scale": scale.rows,
    "octaves": octaves.rows,
    "tangent": tangent.rows,
    "ranks": ranks.rows,
    "propagation": propagation.rows,
    "spectra": spectra.rows,
    "networks": networks.rows,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen suites, print one line per row, and store them if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--suite", action="append", choices=list(SUITES), help="may be repeated; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes: checks the agreement, not the speed")
    parser.add_argument("--threads", type=int, default=1, help="BLAS threads (default 1)")
    parser.add_argument("--save", metavar="FILE", help="write the rows there, suite by suite")
    options = parser.parse_args(arguments)
    command = shlex.join(["python", "-m", "benchmarks", *(sys.argv[1:] if arguments is None else arguments)])
    holds = True
    with threadpool_limits(options.threads):
        for name in options.suite or SUITES:
            found = environment()
            print(f"\n{name}: {_described(found)}, {options.threads} BLAS thread(s)")
            rows = run(SUITES[name](options.quick))
            holds &= all(row["holds"] for row in rows)
            if options.save:
                suite = {"command": command, "quick": options.quick, "environment": found, "rows": rows}
                save(options.save, options.threads, name, suite)
    return int(not holds)


def run(rows: Iterable[Row | Skipped]) -> list[dict[str, Any]]:
    """Print the rows of one suite as they come, and return them as plain types with the peak memory of each."""
    print(f"{'ratio':>8}  {'ours':>9}  {'peer':>9}  {'memory':>8}  work | peer | agreement")
    kept: list[dict[str, Any]] = []
    forget_peak_memory()
    for row in rows:
        memory = peak_memory_gb()
        print(row if isinstance(row, Skipped) else _line(row, memory), flush=True)
        if isinstance(row, Row):
            kept.append({**vars(row), "holds": bool(row.holds), "memory_gb": round(memory, 3)})
        forget_peak_memory()
    return kept


def _line(row: Row, memory: float) -> str:
    ratio = f"{row.ratio:8.1f}" if row.ratio is not None else f"{'':8}"
    peer = f"{row.peer_seconds:8.3f}s" if row.peer_seconds is not None else f"{'':9}"
    mark = "" if row.holds else "  ** FAILED **"
    return f"{ratio}  {row.seconds:8.3f}s  {peer}  {memory:5.2f} GB  {row.work} | {row.peer} | {row.agreement}{mark}"


def _described(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return f"{found['processor']}, {found['cores']} cores, load {found['load']}; {versions}"


if __name__ == "__main__":
    sys.exit(main())
