"""Execute notebooks in place, so that the same sources always give the same bytes.

``python scripts/refresh_notebooks.py notebooks/*.ipynb``. Each notebook runs in its own folder, in a fresh kernel
of this environment. Timings and the kernel's version are left out, cell ids stay, image bytes depend on the
locked Matplotlib alone. Exit status 1 at the first cell that raises; that notebook is then left as it was.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import nbclient
import nbformat
from nbclient.exceptions import CellExecutionError

from chapters.kit.pictures import digest
from scripts.budget import HIDDEN

TIMEOUT = 600  # seconds per cell


def refresh(path: Path) -> bool:
    """Execute one notebook and write it back; whether its bytes changed."""
    before = path.read_text("utf8")
    notebook = nbformat.reads(before, as_version=4)
    nbclient.execute(notebook, str(path.parent), timeout=TIMEOUT, kernel_name="python3", record_timing=False)
    _make_reproducible(notebook)
    after = nbformat.writes(notebook) + "\n"
    path.write_text(after, "utf8")
    return after != before


def _make_reproducible(notebook: nbformat.NotebookNode) -> None:
    """Leave out what differs between machines and runs without being a result."""
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        for key in ("execution", "papermill", "ExecuteTime"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = _merge_streams(cell.outputs)
            sign_picture(cell)
            cell.metadata.pop("jupyter", None)
            if HIDDEN & set(cell.metadata.get("tags", [])):  # in JupyterLab as well
                cell.metadata["jupyter"] = {"source_hidden": True}


def sign_picture(cell: nbformat.NotebookNode) -> None:
    """Write the digest of the cell's picture into its metadata, or remove it where there is none."""
    cell.metadata.pop("capcore", None)
    if found := digest(cell):
        cell.metadata["capcore"] = {"picture": found}


def _merge_streams(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join adjacent pieces of one stream: how a kernel cuts them depends on timing."""
    merged: list[nbformat.NotebookNode] = []
    for output in outputs:
        if merged and output.output_type == "stream" and merged[-1].get("name") == output.get("name"):
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def main(arguments: list[str]) -> int:
    """Refresh the named notebooks one after another."""
    if not arguments:
        print("No notebooks in notebooks/: nothing to refresh.")
    for name in arguments:
        path = Path(name)
        start = time.perf_counter()
        try:
            changed = refresh(path)
        except CellExecutionError as error:
            print(f"{path}: a cell raised, the file is left as it was.\n{error}", file=sys.stderr)
            return 1
        print(f"{path}: {'changed' if changed else 'unchanged'}, {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
