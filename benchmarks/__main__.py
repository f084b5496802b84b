"""Print the table of ratios: ``python -m benchmarks [--quick]``. Exit code 1 when a row's check fails."""

from __future__ import annotations

import argparse
import sys

from threadpoolctl import threadpool_limits

from benchmarks import fitting, ranks
from benchmarks.measure import environment, peak_memory_gb

SUITES = {"fitting": fitting.rows, "ranks": ranks.rows}


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen suites and print one line per row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--suite", action="append", choices=list(SUITES), help="may be repeated; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes: checks the agreement, not the speed")
    parser.add_argument("--threads", type=int, default=1, help="BLAS threads (default 1)")
    options = parser.parse_args(arguments)
    failed = False
    print(f"{environment()}, {options.threads} BLAS thread(s)")
    with threadpool_limits(options.threads):
        for name in options.suite or SUITES:
            print(f"\n{name}\n{'ratio':>8}  {'ours':>9}  {'peer':>9}  work | peer | agreement")
            for row in SUITES[name](options.quick):
                mark = "" if row.holds else "  ** FAILED **"
                print(
                    f"{row.ratio:8.1f}  {row.seconds:8.3f}s  {row.peer_seconds:8.3f}s  "
                    f"{row.work} | {row.peer} | {row.agreement}{mark}",
                    flush=True,
                )
                failed |= not row.holds
    print(f"\npeak memory {peak_memory_gb():.2f} GB")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
