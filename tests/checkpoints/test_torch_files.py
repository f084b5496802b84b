"""PyTorch's files: weights only, or not at all. What needs PyTorch itself is skipped without it."""

import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, read_checkpoint
from capcore.checkpoints.opening import read_file
from capcore.checkpoints.tensors import NoWeightsError
from capcore.checkpoints.torch_files import weights_in
from capcore.spectra import find_layers
from tests.strategies import all_of, refused


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
    monkeypatch.setattr("capcore.checks.names.find_spec", lambda name: None)
    with pytest.raises(CheckpointError, match=r"torch: found no such library.*pip install torch"):
        read_checkpoint(file)


@pytest.mark.parametrize("version", ["1.13.1", "2.5.1+cpu", "2.0"])
def test_an_old_pytorch_is_not_trusted(file, stub, version):
    stub(version, lambda *_, **__: pytest.fail("loaded"))
    with pytest.raises(CheckpointError, match=all_of([version, "expected 2.6 or newer", "execute code"])):
        read_file(file)


def test_weights_only_is_asked_for(file, stub):
    asked = {}

    def load(path, **options):
        asked.update(options)
        return {"none": 1}

    stub("2.13.0+cpu", load)
    with pytest.raises(NoWeightsError, match="no tensors among"):
        read_file(file)
    assert asked == {"map_location": "cpu", "weights_only": True, "mmap": False}


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (
            pickle.UnpicklingError("Weights only load failed. … GLOBAL distiller.Recipe was not an allowed global"),
            ["the pickled class or function distiller.Recipe", "could execute code", "safetensors"],
        ),
        (pickle.UnpicklingError("pickle data was truncated"), ["not a weights-only pickle", "expected plain tensors"]),
        (RuntimeError("reader failed\nlong trace"), ["cannot be read (found: reader failed)"]),
        (MemoryError(), ["cannot be read (found: MemoryError)"]),
    ],
)
def test_what_the_loader_raises(file, stub, error, parts):
    def load(*_, **__):
        raise error

    stub(load=load)
    with pytest.raises(CheckpointError, match=all_of(parts)):
        read_file(file)


def test_a_bomb_never_reaches_the_loader(tmp_path, stub):
    stub(load=lambda *_, **__: pytest.fail("loaded"))
    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(5):
            archive.writestr(f"archive/data/{i}", bytes(2**26))
    with pytest.raises(CheckpointError, match="expand to"):
        read_file(path)


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
        read_file(path)


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
    w = torch.ones(2, 2)
    torch.save({"optimizer": moments, "ema": {"w": w}, "model_state_dict": {"v": w}}, path)
    assert [*read_checkpoint(path)] == ["v"]
    assert [*read_checkpoint(path, key="ema")] == ["w"]
    with pytest.raises(CheckpointError, match=all_of(["under 'none'", "'ema'"])):
        read_checkpoint(path, key="none")


def test_a_tensor_larger_than_its_storage(torch, tmp_path):
    path = tmp_path / "a.pth"
    torch.save({"w": torch.ones(1).expand(10**6, 10**6)}, path)
    with pytest.raises(CheckpointError, match=all_of(["(1000000, 1000000)", "4 bytes"])):
        read_checkpoint(path)


def test_large_files_are_read_tensor_by_tensor(torch, tmp_path, monkeypatch):
    """Above a size no values are loaded with the file, and each tensor comes from its bytes: the same as otherwise."""
    w = torch.arange(600.0).reshape(20, 30)
    weights = {"w": w, "t": w.T, "part": w[3:9, 4:8], "tied": w, "h": w.bfloat16(), "f8": w.to(torch.float8_e5m2)}
    weights |= {"stack": torch.rand(3, 4, 5), "n": torch.arange(3), "empty": torch.ones(0, 3), "one": torch.tensor(2.0)}
    torch.save({"state_dict": weights}, tmp_path / "a.pth")
    small = read_checkpoint(tmp_path / "a.pth")
    monkeypatch.setattr("capcore.checkpoints.torch_files.LARGE", 0)
    large = read_checkpoint(tmp_path / "a.pth")
    assert {*large} == {*small} == {*weights}
    assert large.tensors == small.tensors  # types, shapes and reasons
    for name, tensor in large.tensors.items():
        np.testing.assert_array_equal(tensor.values(), small.tensors[name].values())
    assert large.tensors["tied"].aside.startswith("The same weights as 'w'")
    (tmp_path / "a.pth").write_bytes((tmp_path / "a.pth").read_bytes()[:2000])
    with pytest.raises(CheckpointError, match="changed while it was read"):
        large["w"]


def test_tensors_without_plain_values_are_named(torch, tmp_path):
    odd = {"meta": torch.ones(3, 3, device="meta"), "sparse": torch.eye(3).to_sparse_csr(), "w": torch.ones(12, 12)}
    odd |= {"negative": torch._neg_view(torch.ones(12, 13)), "complex": torch.ones(3, 3, dtype=torch.complex64)}
    torch.save(odd, tmp_path / "odd.pt")
    found = find_layers(read_checkpoint(tmp_path / "odd.pt"))
    assert [layer.name for layer in found.layers] == ["w", "negative"]
    reasons = {skipped.name: skipped.reason for skipped in found.skipped if skipped.weights}
    assert {*reasons} == {"meta", "sparse", "complex"} and "to_dense()" in reasons["sparse"]
    assert reasons["complex"].startswith("Complex numbers: save the real and the imaginary part")
    np.testing.assert_array_equal(found.layers[1].weights(), -np.ones((1, 12, 13)))


class Stored:
    """Stands for a PyTorch tensor, so that what is taken for the network is tested without it."""

    shape = (2, 2)


W, MOMENTS = Stored(), {"state": {0: {"exp_avg": Stored()}}, "param_groups": [{"lr": 1}]}


@pytest.mark.parametrize(
    ("loaded", "key", "expected"),
    [
        (W, None, ["file"]),
        ({"w": W, "deep": {"v": W, "list": [W, 3]}, "step": 1}, None, ["w", "deep.v", "deep.list.0"]),
        ({"w": W, "optimizer": {"m": W}, "ema": {"w": W}, "state": W}, None, ["w"]),
        ({"model": {"w": W}, "ema": {"w": W}}, None, ["w"]),
        ({"model": {"step": 1}, "net": {"w": W}}, None, ["w"]),
        ({"model": {"w": W}, "ema": {"v": W}}, "ema", ["v"]),
        ({"net_state": {"w": W}, "optimizer_state": MOMENTS, "step": 3, "names": [1]}, None, ["w"]),
        ({"net_state": {"w": W}, "empty": {}, "text": "x", "log": {"loss": 1.0}}, None, ["w"]),
    ],
)
def test_what_is_taken_for_the_network(loaded, key, expected):
    weights = weights_in(loaded, Stored, Path("file.pt"), key)
    assert weights == [(name, W) for name in expected]


test_what_is_no_network_by_its_names = refused(
    lambda loaded, key: weights_in(loaded, Stored, Path("file.pt"), key),
    ([W], None, ["found a list", "tensors by name"]),
    (7, None, ["found a int"]),
    ({"model": {"w": W}}, "none", ["under 'none'", "'model'"]),
    ({"model": 3}, "model", ["under 'model'"]),
    ({"encoder": {"w": W}, "decoder": {"w": W}}, None, ["['encoder', 'decoder']", "--key encoder"]),
    ({"net_state": {"w": W}, "heads": [W]}, None, ["['net_state']", "key='net_state'"]),
    ({"net_state": {"w": W}, "other_net": {"w": W}}, None, ["expected one to be named"]),
    ({"ema": {"w": W}}, None, ["['ema']"]),
    ({"state": {"w": W}}, None, ["['state']"]),
    ({"adam": {"m": W}, "scheduler": {"s": W}}, None, ["['adam', 'scheduler']"]),
    ({1: {"w": W}}, None, ["[1]"]),
    error=CheckpointError,
)


@pytest.mark.parametrize(
    "loaded", [MOMENTS, {**MOMENTS, "lr": 1}, {"step": 1}, {"log": {"loss": 1}}, {"heads": [W]}, {}]
)
def test_what_holds_no_network(loaded):
    with pytest.raises(NoWeightsError, match="an optimiser's state" if "state" in loaded else "no tensors among"):
        weights_in(loaded, Stored, Path("file.pt"))


def test_torchscript_is_refused_before_it_is_opened(torch, tmp_path, recwarn):
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        archive.writestr("a/code/__torch__.py", "import os")
        archive.writestr("a/data.pkl", b"x")
    with pytest.raises(CheckpointError, match="TorchScript"):
        read_checkpoint(tmp_path / "a.pt")
    assert not recwarn.list


def test_a_module_is_its_state(torch):
    module = torch.nn.Sequential(torch.nn.Linear(20, 12), torch.nn.Linear(12, 20, bias=False))
    module[1].weight = torch.nn.Parameter(module[0].weight.T)
    found = read_checkpoint(module)
    assert [*found] == ["0.weight", "0.bias", "1.weight"]
    np.testing.assert_array_equal(found["0.weight"], module[0].weight.detach().numpy())
    tied = torch.nn.ModuleDict({"a": module[0], "b": module[0]})
    asides = [tensor.aside for tensor in read_checkpoint(tied).tensors.values()]
    assert [bool(aside) for aside in asides] == [False, False, True, True]
    arrays = {name: values.numpy() for name, values in module.state_dict().items()}
    assert read_checkpoint(module).sha256 == read_checkpoint(arrays).sha256
