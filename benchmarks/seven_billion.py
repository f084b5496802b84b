"""The default report of a language model with seven billion weights in shards: its time, and its peak memory.

Shapes are those of Llama-2-7B, weights are bfloat16 noise. Each block of layers is a shard, written one at a time, and
``capcore spectra`` reads them in a process of its own with one thread::

    python -m benchmarks.seven_billion --blocks 1 2
        the first block, then two; what 32 would take is extrapolated, and said to be
    python -m benchmarks.seven_billion --blocks 32
        the whole model: 14 GB on disk, and the better part of an hour or more

No suite of ``python -m benchmarks``, because of its length and because it has no peer.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
WIDTH, INNER, DEPTH, WORDS = 4096, 11008, 32, 32000
SD = 0.02
MEMORY_GIB = 4
"""What a report may take beyond what its process has before, whatever the number of blocks."""
CHILD = """
import json, sys
from time import process_time
from benchmarks.measure import peak_memory_gb
from capcore.commands.cli import main
before, start = peak_memory_gb(), process_time()
status = main(["spectra", *sys.argv[1:]])
found = {"status": status, "gib": (peak_memory_gb() - before) * 1e9 / 2**30, "seconds": process_time() - start}
print(json.dumps(found), file=sys.stderr)
"""


def ends() -> dict[str, tuple[int, int]]:
    """Name → shape of the embedding and of the head."""
    return {"model.embed_tokens.weight": (WORDS, WIDTH), "lm_head.weight": (WORDS, WIDTH)}


def block(i: int) -> dict[str, tuple[int, int]]:
    """Name → shape of the seven matrices of a block of layers."""
    found = {f"model.layers.{i}.self_attn.{name}_proj.weight": (WIDTH, WIDTH) for name in "qkvo"}
    for name, shape in (("gate", (INNER, WIDTH)), ("up", (INNER, WIDTH)), ("down", (WIDTH, INNER))):
        found[f"model.layers.{i}.mlp.{name}_proj.weight"] = shape
    return found


def write_shard(path: Path, shapes: Mapping[str, tuple[int, int]], rng: np.random.Generator) -> None:
    """Write a safetensors file of bfloat16 noise, with one matrix at a time in memory."""
    header, end = {}, 0
    for name, shape in shapes.items():
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end := end + 2 * shape[0] * shape[1]]}
    text = json.dumps(header).encode()
    with path.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for shape in shapes.values():
            values = rng.standard_normal(shape, dtype=np.float32) * np.float32(SD)
            out.write((values.view(np.uint32) >> 16).astype("<u2").tobytes())


def extend(folder: Path, blocks: int, rng: np.random.Generator) -> int:
    """Write the shards that a folder lacks for so many blocks, and its index; return the number of weights."""
    parts = {"ends.safetensors": ends(), **{f"block-{i}.safetensors": block(i) for i in range(blocks)}}
    missing = {name: shapes for name, shapes in parts.items() if not (folder / name).exists()}
    needed = sum(2 * rows * columns for shapes in missing.values() for rows, columns in shapes.values())
    free = shutil.disk_usage(folder).free
    if free < 1.1 * needed:
        raise SystemExit(f"{folder}: found {free / 1e9:.0f} GB free, expected {1.1 * needed / 1e9:.0f}. Name --folder.")
    for name, shapes in missing.items():
        write_shard(folder / name, shapes, rng)
    weight_map = {name: file for file, shapes in parts.items() for name in shapes}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return sum(rows * columns for shapes in parts.values() for rows, columns in shapes.values())


def measure(folder: Path, flags: Sequence[str] = ()) -> dict[str, Any]:
    """What the command takes for a folder: ``seconds`` of processor time, ``gib`` at its peak, spectra ``n``."""
    with TemporaryDirectory() as place:
        output = Path(place) / "report.json"
        command = [sys.executable, "-P", "-c", CHILD, str(folder), "--format", "json", "--output", str(output), *flags]
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        environment = {**os.environ, **one_thread, "PYTHONPATH": paths}
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        found: dict[str, Any] = json.loads(done.stderr.strip().splitlines()[-1])
        (report,) = json.loads(output.read_text("utf8"))["reports"]
        return {**found, "n": len(report["spectra"])}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a line for each number of blocks and an extrapolation. 1 if a run took too much memory."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seven_billion", description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, nargs="+", default=[1, 2], help=f"ascending, up to {DEPTH}; default: 1 2")
    parser.add_argument("--folder", type=Path, help="where the temporary shards go; default: the system's folder")
    parser.add_argument("--fast", action="store_true", help="without null, intervals and other laws")
    given = parser.parse_args(arguments)
    counts, rng, found = sorted({*given.blocks}), np.random.default_rng(0), []
    if not 1 <= counts[0] <= counts[-1] <= DEPTH:
        parser.error(f"--blocks: found {counts}, expected numbers from 1 to {DEPTH}.")
    with TemporaryDirectory(dir=given.folder) as place:
        for blocks in counts:
            weights = extend(Path(place), blocks, rng)
            run = measure(Path(place), ["--fast"] if given.fast else [])
            found.append(run)
            told = f"{run['n']} spectra, {run['seconds']:.0f} s of processor time, peak {run['gib']:.2f} GiB"
            print(f"{blocks} block(s), {weights / 1e9:.2f} billion weights: {told}", flush=True)
    if len(counts) > 1 and counts[-1] < DEPTH:
        each = (found[-1]["seconds"] - found[0]["seconds"]) / (counts[-1] - counts[0])
        whole = found[0]["seconds"] + (DEPTH - counts[0]) * each
        told = f"{each:.0f} s per block, so {DEPTH} blocks would take {whole / 60:.0f} min"
        print(f"not measured, extrapolated: {told}; memory depends on the largest matrix, not on the number of blocks")
    return int(max(run["gib"] for run in found) > MEMORY_GIB)


if __name__ == "__main__":
    sys.exit(main())
