"""HDF5 files of Keras: kernels turned to (out, in, *kernel), and nothing read from elsewhere."""

import io
import zipfile

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, read_checkpoint
from capcore.spectra import analyse_spectra, find_layers
from capcore.spectra import report as report_on

h5py = pytest.importorskip("h5py")


@pytest.fixture
def weights(rng):
    """Arrays by the names that Keras 3 gives them."""
    return {
        "layers/conv2d/vars/0": rng.normal(size=(3, 3, 12, 16)).astype("f4"),
        "layers/conv2d/vars/1": np.zeros(16, "f4"),
        "layers/dense/vars/0": rng.normal(size=(30, 20)).astype("f4"),
        "layers/embedding/vars/0": rng.normal(size=(50, 14)).astype("f4"),
        "layers/depthwise_conv2d/vars/0": rng.normal(size=(3, 3, 12, 1)).astype("f4"),
        "optimizer/vars/2": rng.normal(size=(30, 20)).astype("f4"),
    }


def written(path, weights, **options):
    with h5py.File(path, "w") as file:
        for name, values in weights.items():
            file.create_dataset(name, data=values, **options)
    return path


def test_kernels_are_turned(tmp_path, weights):
    found = read_checkpoint(written(tmp_path / "net.weights.h5", weights, compression="gzip"))
    kinds = {layer.name.split("/")[1]: layer.kind for layer in find_layers(found).layers}
    assert kinds == {"conv2d": "conv2d", "dense": "linear", "embedding": "embedding"}
    turned = np.moveaxis(weights["layers/conv2d/vars/0"], (-1, -2), (0, 1))
    np.testing.assert_array_equal(found["layers/conv2d/vars/0"], turned)
    np.testing.assert_array_equal(found["layers/dense/vars/0"], weights["layers/dense/vars/0"].T)
    np.testing.assert_array_equal(found["layers/embedding/vars/0"], weights["layers/embedding/vars/0"])
    reasons = {part.name: part.reason for part in find_layers(found).skipped}
    assert "depthwise" in reasons["layers/depthwise_conv2d/vars/0"] and "optimiser" in reasons["optimizer/vars/2"]


def test_an_archive_of_keras_is_the_same(tmp_path, weights):
    held = io.BytesIO()
    written(held, weights)
    with zipfile.ZipFile(tmp_path / "net.keras", "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", held.getvalue())
    found = read_checkpoint(tmp_path / "net.keras")
    other = read_checkpoint(written(tmp_path / "net.h5", weights))
    assert [*found] == [*other] and all(np.array_equal(found[name], other[name]) for name in found)
    with zipfile.ZipFile(tmp_path / "empty.keras", "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(CheckpointError, match=r"no model\.weights\.h5"):
        read_checkpoint(tmp_path / "empty.keras")


def test_exponents_are_those_of_the_arrays(tmp_path, weights):
    path = written(tmp_path / "net.h5", {"dense/dense/kernel:0": weights["layers/dense/vars/0"]})
    (row,) = report_on(path, fast=True).spectra
    assert row.alpha == analyse_spectra({"w": weights["layers/dense/vars/0"].T}).spectra[0].alpha
    from capcore.spectra import SpectraOptions

    with pytest.raises(ValueError, match="layout: found channels-last for Keras"):
        report_on(path, options=SpectraOptions(layout="channels-last"))


def test_attention_of_keras_is_matrices(tmp_path, rng):
    """Names and shapes as Keras 3.12 writes them; the biases of heads are no matrices."""
    prefix = "layers/multi_head_attention"
    weights = {f"{prefix}/{part}_dense/vars/0": rng.normal(size=(24, 3, 4)) for part in ("query", "key", "value")}
    weights[f"{prefix}/output_dense/vars/0"] = rng.normal(size=(3, 4, 24))
    biases = {f"{prefix}/{part}_dense/vars/1": np.ones((12, 16)) for part in ("query", "key", "value")}
    found = find_layers(read_checkpoint(written(tmp_path / "net.weights.h5", weights | biases)))
    assert {layer.name for layer in found.layers} == {*weights}
    for layer in found.layers:
        stored = weights[layer.name]
        np.testing.assert_array_equal(
            layer.weights()[0], stored.reshape(24, 12).T if len(stored) == 24 else stored.reshape(12, 24).T
        )
    assert {part.name for part in found.skipped if "A bias" in part.reason} == {*biases}


def test_bfloat16_of_keras(tmp_path):
    """Two bytes of no type, for which HDF5 has no name."""
    weights = {"layers/dense/vars/0": np.array([[0x3FC0, 0xC000]], np.uint16).view("V2")}
    found = read_checkpoint(written(tmp_path / "net.weights.h5", weights))
    assert found.tensors["layers/dense/vars/0"].dtype == "bfloat16"
    assert found["layers/dense/vars/0"].tolist() == [[1.5], [-2.0]]


def test_a_folder_with_another_format_leaves_its_copy_aside(tmp_path, weights):
    written(tmp_path / "tf_model.h5", weights)
    assert len(read_checkpoint(tmp_path)) == 6
    np.savez(tmp_path / "model.npz", w=np.ones((3, 3)))
    assert [*read_checkpoint(tmp_path)] == ["w"]


def test_values_in_other_files_are_refused(tmp_path):
    np.ones(64, "f8").tofile(tmp_path / "secret.raw")
    with h5py.File(tmp_path / "external.h5", "w") as file:
        file.create_dataset("w", (8, 8), "f8", external=[(str(tmp_path / "secret.raw"), 0, 512)])
    with pytest.raises(CheckpointError, match="values in another file"):
        read_checkpoint(tmp_path / "external.h5")
    written(tmp_path / "plain.h5", {"w": np.ones((8, 8))})
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        layout = h5py.VirtualLayout((8, 8), "f8")
        layout[...] = h5py.VirtualSource(str(tmp_path / "plain.h5"), "w", (8, 8))
        file.create_virtual_dataset("w", layout)
    with pytest.raises(CheckpointError, match="values in another file"):
        read_checkpoint(tmp_path / "virtual.h5")
    with h5py.File(tmp_path / "links.h5", "w") as file:
        file["v"] = np.ones((8, 8))
        file["w"] = h5py.ExternalLink(str(tmp_path / "plain.h5"), "w")
        file["loop"] = h5py.SoftLink("/")
    assert [*read_checkpoint(tmp_path / "links.h5")] == ["v"]


def test_an_array_that_takes_no_room_is_refused(tmp_path):
    with h5py.File(tmp_path / "bomb.h5", "w") as file:
        file.create_dataset("w", (2**20, 2**12), "f4", chunks=(2**10, 2**10), compression="gzip")
    with pytest.raises(CheckpointError, match="expand to 17179869184 bytes"):
        read_checkpoint(tmp_path / "bomb.h5")


def test_text_is_listed(tmp_path):
    found = read_checkpoint(written(tmp_path / "a.h5", {"w": np.ones((3, 3)), "name": "text"}))
    assert found.tensors["name"].unread and found["w"].shape == (3, 3)
