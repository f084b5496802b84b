"""Statistics of a published table of spectral metrics: ``python -m experiments.published_metrics --table FILE``.

FILE is ``published_osmr_joined.csv``: per-network metrics of CalculatedContent/ww-trends-2020 (commit efe4723, without
a licence) joined with top-1 errors and numbers of parameters of osmr/imgclsmob (commit f928f6c, MIT). It is not part of
this repository and must have the hash that the code names. Takes about a minute on one core and writes
``notebooks/results/published_metrics.json``: statistics, and no row of the table.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from chapters import stored as results
from chapters.spectra_accuracy.published_metrics import COMMAND, SETTINGS, run

TARGET = Path(__file__).resolve().parent.parent / "notebooks" / "results" / "published_metrics.json"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True, type=Path, help="the joined table, a CSV file")
    table = parser.parse_args().table
    with threadpool_limits(1):
        results.save(TARGET, COMMAND, run, SETTINGS, lambda: run(table))
