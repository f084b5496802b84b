"""The benchmark of seven billion weights, at a size at which it takes seconds."""

import numpy as np
import pytest

from benchmarks import seven_billion
from capcore.checkpoints import read_checkpoint

pytestmark = pytest.mark.ci


@pytest.fixture
def small(monkeypatch):
    for name, size in (("WIDTH", 24), ("INNER", 40), ("WORDS", 60)):
        monkeypatch.setattr(seven_billion, name, size)


def test_the_shapes_are_those_of_seven_billion_weights():
    shapes = [*seven_billion.ends().values()]
    for i in range(seven_billion.DEPTH):
        shapes += seven_billion.block(i).values()
    assert len(shapes) == 226 and sum(rows * columns for rows, columns in shapes) == 6_738_149_376


def test_shards_hold_noise_of_one_model(small, tmp_path):
    weights = seven_billion.extend(tmp_path, 1, np.random.default_rng(0))
    first = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.safetensors")}
    more = seven_billion.extend(tmp_path, 2, np.random.default_rng(0))
    assert {path: path.stat().st_mtime_ns for path in first} == first and len(first) == 2
    found = read_checkpoint(tmp_path)
    assert len(found) == 2 + 2 * 7 and sum(tensor.size for tensor in found.tensors.values()) == more > weights
    values = found["model.layers.1.mlp.down_proj.weight"]
    assert values.shape == (24, 40) and values.std() == pytest.approx(seven_billion.SD, rel=0.1)


def test_runs_are_measured_and_the_rest_is_said_to_be_extrapolated(small, capsys, tmp_path):
    assert seven_billion.main(["--fast", "--folder", str(tmp_path)]) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("1 block(s)") and "9 spectra" in first and "GiB" in first
    assert second.startswith("2 block(s)") and "16 spectra" in second
    assert last.startswith("not measured, extrapolated: ") and not list(tmp_path.iterdir())


def test_too_much_memory_fails(small, monkeypatch, tmp_path):
    monkeypatch.setattr(seven_billion, "MEMORY_GIB", 0)
    assert seven_billion.main(["--fast", "--blocks", "1", "--folder", str(tmp_path)]) == 1


@pytest.mark.slow
def test_a_block_of_full_size_fits_into_the_memory_that_is_promised(tmp_path):
    assert seven_billion.main(["--blocks", "1", "--fast", "--folder", str(tmp_path)]) == 0


def test_a_full_disk_is_refused_before_anything_is_written(small, monkeypatch, tmp_path):
    monkeypatch.setattr(seven_billion.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    with pytest.raises(SystemExit, match="GB free"):
        seven_billion.extend(tmp_path, 1, np.random.default_rng(0))
    assert not list(tmp_path.iterdir())
