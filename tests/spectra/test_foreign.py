"""ONNX and GGUF, written by their own packages; without these a message says what to install."""

import numpy as np
import pytest

from capcore.spectra import CheckpointError, find_layers, read_checkpoint
from tests.strategies import all_of


@pytest.mark.parametrize("suffix", ["onnx", "gguf"])
def test_without_the_package(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("capcore.spectra.foreign.find_spec", lambda name: None)
    (tmp_path / f"a.{suffix}").write_bytes(b"x" * 100)
    with pytest.raises(CheckpointError, match=all_of([f"no package {suffix}", f"pip install {suffix}"])):
        read_checkpoint(tmp_path / f"a.{suffix}")


def onnx_model(path, arrays, **options):
    onnx = pytest.importorskip("onnx")
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    constant = onnx.helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(np.eye(12, dtype="f4")))
    brain = onnx.helper.make_tensor("h", onnx.TensorProto.BFLOAT16, [2, 2], [1.0, -2.5, 0.0, 3.0])
    graph = onnx.helper.make_graph([constant], "g", [], [], initializer=[*tensors, brain])
    onnx.save(onnx.helper.make_model(graph), path, **options)
    return onnx


@pytest.mark.parametrize("outside", [False, True])
def test_onnx(tmp_path, rng, outside):
    arrays = {"w": rng.normal(size=(12, 40)).astype("f4"), "i": np.arange(3), "q": np.ones((3, 3), np.int8)}
    options = {"save_as_external_data": True, "location": "w.bin", "size_threshold": 0} if outside else {}
    onnx_model(tmp_path / "m.onnx", arrays, **options)
    found = read_checkpoint(tmp_path / "m.onnx")
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert found["h"].tolist() == [[1.0, -2.5], [0.0, 3.0]] and len(found.parts) == (2 if outside else 0)
    layers = find_layers(found)
    assert [layer.name for layer in layers.layers] == ["w", "h", "c"]
    assert [skipped.name for skipped in layers.skipped if skipped.weights] == ["q"]


def test_onnx_that_points_elsewhere(tmp_path):
    arrays = {"w": np.ones((12, 40), "f4")}
    onnx = onnx_model(tmp_path / "m.onnx", arrays)
    for location in ("../secret", "/etc/passwd", "absent", "m.onnx"):
        model = onnx.load(tmp_path / "m.onnx")
        entry = model.graph.initializer[0]
        entry.data_location = onnx.TensorProto.EXTERNAL
        entry.external_data.add(key="location", value=location)
        entry.external_data.add(key="offset", value="1000000")
        (tmp_path / "n.onnx").write_bytes(model.SerializeToString())
        with pytest.raises(CheckpointError):
            read_checkpoint(tmp_path / "n.onnx")


def test_gguf(tmp_path, rng):
    """Every quantisation that the package itself can make, dequantised as it does."""
    gguf = pytest.importorskip("gguf")
    weights = rng.normal(size=(12, 256)).astype("f4")
    kinds = gguf.GGMLQuantizationType
    made = [kinds.Q4_0, kinds.Q4_1, kinds.Q5_0, kinds.Q5_1, kinds.Q8_0, kinds.BF16]
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_tensor("token_embd.weight", weights)
    writer.add_tensor("half.weight", weights.astype("f2"))
    writer.add_tensor("blk.0.ffn_up_exps.weight", weights.reshape(3, 4, 256))
    for kind in made:
        writer.add_tensor(f"{kind.name}.weight", gguf.quants.quantize(weights, kind), raw_dtype=kind)
    stack = gguf.quants.quantize(weights.reshape(3, 4, 256), kinds.Q8_0)
    writer.add_tensor("blk.1.ffn_up_exps.weight", stack, raw_dtype=kinds.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = read_checkpoint(tmp_path / "m.gguf")
    for kind in made:
        expected = gguf.quants.dequantize(gguf.quants.quantize(weights, kind), kind)
        np.testing.assert_array_equal(found[f"{kind.name}.weight"], expected)
        assert np.abs(expected - weights).max() < 0.5 and found.tensors[f"{kind.name}.weight"].shape == (12, 256)
    np.testing.assert_array_equal(found["token_embd.weight"], weights)
    np.testing.assert_array_equal(found["half.weight"], weights.astype("f2"))
    layers = {layer.name: layer for layer in find_layers(found).layers}
    assert layers["token_embd.weight"].kind == "embedding" and layers["blk.1.ffn_up_exps.weight"].kind == "stack"
    np.testing.assert_array_equal(
        layers["blk.1.ffn_up_exps.weight"].matrix(2), gguf.quants.dequantize(stack, kinds.Q8_0)[2]
    )
    data = (tmp_path / "m.gguf").read_bytes()
    for end in (3, 20, 60, 200, len(data) - 10**4):
        (tmp_path / "cut.gguf").write_bytes(data[:end])
        with pytest.raises(CheckpointError):
            [tensor.read() for tensor in read_checkpoint(tmp_path / "cut.gguf").tensors.values()]
    for place in (8, 16, 24):  # numbers of tensors and of keys, length of the first key
        (tmp_path / "liar.gguf").write_bytes(data[:place] + b"\xff" * 7 + b"\x7f" + data[place + 8 :])
        with pytest.raises(CheckpointError):
            read_checkpoint(tmp_path / "liar.gguf")
