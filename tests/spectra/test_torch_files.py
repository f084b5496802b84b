"""PyTorch's files: weights only, or not at all. What needs PyTorch itself is skipped without it."""

import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

from capcore.spectra import CheckpointError, read_checkpoint
from capcore.spectra.tensors import NoWeightsError
from capcore.spectra.torch_files import read_torch
from tests.spectra.test_archives import Hostile
from tests.strategies import all_of


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed: an optional extra")


@pytest.fixture
def stub(monkeypatch):
    """A PyTorch whose loader raises or returns what a test wants."""

    def install(version="2.6.0", load=None):
        module = types.ModuleType("torch")
        module.__version__, module.load, module.Tensor = version, load, type(None)
        module.__spec__ = types.SimpleNamespace(name="torch")
        monkeypatch.setitem(sys.modules, "torch", module)

    return install


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.pth"
    path.write_bytes(b"anything")
    return path


def test_without_pytorch(file, monkeypatch):
    monkeypatch.setattr("capcore.spectra.torch_files.find_spec", lambda name: None)
    with pytest.raises(
        CheckpointError, match=all_of(["no PyTorch", "capcore[torch]", "safetensors file", "needs no PyTorch"])
    ):
        read_checkpoint(file)


@pytest.mark.parametrize("version", ["1.13.1", "2.5.1+cpu", "2.0"])
def test_an_old_pytorch_is_not_trusted(file, stub, version):
    stub(version, lambda *_, **__: pytest.fail("loaded"))
    with pytest.raises(CheckpointError, match=all_of([version, "expected 2.6 or newer", "execute code"])):
        read_torch(file)


def test_weights_only_is_asked_for(file, stub):
    asked = {}

    def load(path, **options):
        asked.update(options)
        return {"none": 1}

    stub("2.13.0+cpu", load)
    with pytest.raises(NoWeightsError, match="no tensors among"):
        read_torch(file)
    assert asked == {"map_location": "cpu", "weights_only": True}


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (
            pickle.UnpicklingError("Weights only load failed. … GLOBAL distiller.Recipe was not an allowed global"),
            ["the pickled class or function distiller.Recipe", "could execute code", "save_file", "without PyTorch"],
        ),
        (pickle.UnpicklingError("pickle data was truncated"), ["no weights-only pickle", "expected tensors"]),
        (
            RuntimeError("PytorchStreamReader failed\nlong trace"),
            ["cannot be read (found: PytorchStreamReader failed)"],
        ),
        (EOFError(), ["cannot be read (found: EOFError)"]),
        (MemoryError(), ["cannot be read (found: MemoryError)"]),
        (RecursionError("too deep"), ["cannot be read (found: too deep)"]),
    ],
)
def test_what_the_loader_raises(file, stub, error, parts):
    def load(*_, **__):
        raise error

    stub(load=load)
    with pytest.raises(CheckpointError, match=all_of(parts)):
        read_torch(file)


def test_a_bomb_never_reaches_the_loader(tmp_path, stub):
    stub(load=lambda *_, **__: pytest.fail("loaded"))
    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(5):
            archive.writestr(f"archive/data/{i}", bytes(2**26))
    with pytest.raises(CheckpointError, match="expands to"):
        read_torch(path)


def test_an_archive_of_several_disks(tmp_path, stub):
    """zipfile raises on these while it only looks whether a file is an archive."""
    stub(load=lambda *_, **__: pytest.fail("loaded"))
    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data/0", b"0")
    data = path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    locator = b"PK\x06\x07" + struct.pack("<LQL", 1, 0, 2)
    path.write_bytes(data[:end] + locator + data[end:])
    with pytest.raises(CheckpointError, match="multiple disks"):
        read_torch(path)


@pytest.mark.parametrize(
    "wrap", [lambda s: s, *(lambda s, key=key: {key: s, "epoch": 3} for key in ("state_dict", "model"))]
)
@pytest.mark.parametrize("legacy", [False, True])
def test_a_state_dict(torch, tmp_path, wrap, legacy):
    weights = OrderedDict(w=torch.arange(6.0).reshape(2, 3), h=torch.ones(2, dtype=torch.bfloat16), n=torch.tensor(3))
    path = tmp_path / "a.pth"
    torch.save(wrap(weights), path, _use_new_zipfile_serialization=not legacy)
    found = read_checkpoint(path)
    assert [*found] == ["w", "h", "n"]
    assert [tensor.dtype for tensor in found.tensors.values()] == ["float32", "bfloat16", "int64"]
    assert found["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["h"].dtype == np.float32


def test_an_optimiser_is_not_taken_for_weights(torch, tmp_path):
    path = tmp_path / "a.pt"
    moments = {"state": {0: {"exp_avg": torch.ones(3, 3)}}}
    torch.save(
        {"optimizer": moments, "ema": {"w": torch.ones(2, 2)}, "model_state_dict": {"v": torch.ones(2, 2)}}, path
    )
    assert [*read_checkpoint(path)] == ["v"]
    assert [*read_checkpoint(path, key="ema")] == ["w"]
    with pytest.raises(CheckpointError, match=all_of(["under 'none'", "'ema'"])):
        read_checkpoint(path, key="none")


def test_hostile_pickles(torch, tmp_path):
    left = tmp_path / "left"
    torch.save({"w": torch.ones(2, 2), "x": Hostile(left)}, tmp_path / "a.pth")
    torch.save({"x": Hostile(left)}, tmp_path / "b.pth", _use_new_zipfile_serialization=False)
    (tmp_path / "c.pth").write_bytes(pickle.dumps(Hostile(left)))
    for name in ("a.pth", "b.pth", "c.pth"):
        with pytest.raises(CheckpointError, match="could execute code"):
            read_checkpoint(tmp_path / name)
    assert not left.exists()


def test_a_tensor_larger_than_its_storage(torch, tmp_path):
    path = tmp_path / "a.pth"
    torch.save({"w": torch.ones(1).expand(10**6, 10**6)}, path)
    with pytest.raises(CheckpointError, match=all_of(["shape (1000000, 1000000)", "4 bytes"])):
        read_checkpoint(path)


@pytest.mark.parametrize("legacy", [False, True])
def test_cut_files(torch, tmp_path, legacy):
    path = tmp_path / "a.pth"
    torch.save({"w": torch.ones(2, 2)}, path, _use_new_zipfile_serialization=not legacy)
    data = path.read_bytes()
    for length in range(0, len(data) - 1, 7):
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError):
            read_checkpoint(path)


def test_tensors_in_memory(torch):
    weights = {"w": torch.ones(2, 2, requires_grad=True), "h": torch.ones(2, dtype=torch.bfloat16)}
    assert read_checkpoint(weights)["w"].tolist() == [[1, 1], [1, 1]]
