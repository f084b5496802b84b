"""A network of seven billion weights in shards, files with holes: read a layer at a time, in little memory."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.checkpoints.crafted import entry, safetensors_bytes
from tests.listings import ROOT

WIDTH, INNER, DEPTH, WORDS, N_SHARDS = 4096, 11008, 32, 32000, 3
BOUND = 4 * 2**30  # bytes beyond the largest matrix
FILLED = {  # rows that are no holes: two matrices to analyse, and a head that is not the embedding
    "model.layers.0.mlp.down_proj.weight": WIDTH,
    "model.layers.1.self_attn.q_proj.weight": WIDTH,
    "lm_head.weight": 1,
}
MEASURE = """
import json, sys
from time import process_time
from benchmarks.measure import peak_memory_gb
from capcore.checkpoints import read_checkpoint
from capcore.spectra import SpectraOptions, analyse_spectra, find_layers
peak = lambda: peak_memory_gb() * 1e9  # getrusage would count what the parent had when it started this process
before, start = peak(), process_time()
checkpoint = read_checkpoint(sys.argv[1])
layers = find_layers(checkpoint).layers
opened = peak() - before, process_time() - start
total = sum(float(abs(layer.weights()[0, ::512]).sum()) for layer in layers)
read = peak() - before, process_time() - start
kinds = {"*layers.0.mlp.down_proj*": "linear", "*layers.1.self_attn.q_proj*": "linear", "*": "skip"}
report = analyse_spectra(checkpoint, SpectraOptions(kinds=kinds, alternatives=()))
found = {row.layer: [row.n, row.alpha] for row in report.spectra}
n = sum(layer.tensor.size for layer in layers)
analysed = peak() - before, process_time() - start
print(json.dumps({"n": n, "opened": opened, "read": read, "analysed": analysed, "rows": found, "sum": total}))
"""


def shapes():
    """Name → shape of every matrix of LLaMA's with seven billion weights."""
    found = {"model.embed_tokens.weight": (WORDS, WIDTH)}
    for i in range(DEPTH):
        for name in "qkvo":
            found[f"model.layers.{i}.self_attn.{name}_proj.weight"] = (WIDTH, WIDTH)
        for name, shape in (("gate", (INNER, WIDTH)), ("up", (INNER, WIDTH)), ("down", (WIDTH, INNER))):
            found[f"model.layers.{i}.mlp.{name}_proj.weight"] = shape
    return {**found, "lm_head.weight": (WORDS, WIDTH)}


@pytest.mark.slow
def test_seven_billion_weights_in_shards(tmp_path):
    """Peak memory of a process of its own, beyond what it has before: at most 4 GiB and the largest matrix."""
    names, rng, weight_map = [*shapes()], np.random.default_rng(0), {}
    for k, part in enumerate(np.array_split(names, N_SHARDS)):
        file, header, end = f"model-{k + 1:05}-of-{N_SHARDS:05}.safetensors", {}, 0
        for name in part:
            shape = shapes()[name]
            header[str(name)] = entry("BF16", list(shape), end, end := end + 2 * shape[0] * shape[1])
            weight_map[str(name)] = file
        text = safetensors_bytes(header)
        with (tmp_path / file).open("wb") as out:
            out.write(text)
            out.truncate(len(text) + end)  # holes read as zeros and take no room
            for name, n_rows in FILLED.items():
                if name in header:
                    out.seek(len(text) + header[name]["data_offsets"][0])
                    values = rng.normal(size=(n_rows, shapes()[name][1])).astype(np.float32)
                    out.write((values.view(np.uint32) >> 16).astype("<u2").tobytes())
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    command = [sys.executable, "-P", "-c", MEASURE, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print(found)
    assert found["n"] > 6.7e9 and found["sum"] > 0
    assert {name: n for name, (n, _) in found["rows"].items()} == {
        "model.layers.0.mlp.down_proj.weight": WIDTH,
        "model.layers.1.self_attn.q_proj.weight": WIDTH,
    }
    assert found["opened"][1] < 10  # seconds of CPU time: headers and vectors only
    assert found["read"][0] < 4 * WORDS * WIDTH + 2**30
    assert found["analysed"][0] < 4 * WORDS * WIDTH + BOUND
