"""Quantised weights as the libraries that write them unpack them, where these are installed."""

import numpy as np
import pytest

from capcore.spectra import read_checkpoint

torch = pytest.importorskip("torch")


def weights_of(parts, tmp_path):
    """What is read of a file of these tensors."""
    torch.save({f"fc.{name}": each for name, each in parts.items()}, tmp_path / "a.pt")
    return read_checkpoint(tmp_path / "a.pt")["fc.weight"]


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("block", [64, 256])
def test_bitsandbytes_in_four_bits(tmp_path, kind, nested, block):
    """Columns are whole blocks: release 0.50.2 mixes up blocks on a processor otherwise, by its own error."""
    functional = pytest.importorskip("bitsandbytes.functional")
    weights = torch.randn(24, 512, generator=torch.Generator().manual_seed(0))
    codes, state = functional.quantize_4bit(weights, blocksize=block, quant_type=kind, compress_statistics=nested)
    parts = {f"weight.{name}": each for name, each in state.as_dict(packed=True).items()}
    expected = functional.dequantize_4bit(codes, state).numpy()
    np.testing.assert_allclose(weights_of({"weight": codes, **parts}, tmp_path), expected, rtol=1e-6, atol=0)


def test_bitsandbytes_blocks_across_rows(tmp_path):
    """By the error of quantising: half of the widest step of NF4, 0.152 of a block's largest."""
    functional = pytest.importorskip("bitsandbytes.functional")
    weights = torch.randn(96, 80, generator=torch.Generator().manual_seed(0))
    codes, state = functional.quantize_4bit(weights, blocksize=64, quant_type="nf4")
    parts = {f"weight.{name}": each for name, each in state.as_dict(packed=True).items()}
    error = np.abs(weights_of({"weight": codes, **parts}, tmp_path) - weights.numpy()).reshape(-1, 64)
    assert np.all(error.max(axis=1) < 0.153 * np.abs(weights.numpy()).reshape(-1, 64).max(axis=1))


def test_bitsandbytes_in_eight_bits(tmp_path):
    functional = pytest.importorskip("bitsandbytes.functional")
    weights = torch.randn(24, 64, generator=torch.Generator().manual_seed(0)).half()
    codes, scale, _ = functional.int8_vectorwise_quant(weights)
    expected = functional.int8_vectorwise_dequant(codes, scale).float().numpy()
    np.testing.assert_allclose(weights_of({"weight": codes, "SCB": scale}, tmp_path), expected, rtol=1e-6)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("group_size", [32, None])
def test_compressed_tensors_packed(tmp_path, bits, symmetric, group_size):
    scheme, compressors = schemes(num_bits=bits, type="int", symmetric=symmetric, group_size=group_size)
    generator = torch.Generator().manual_seed(0)
    columns, half = 96 // (group_size or 96), 2 ** (bits - 1)
    parts = {"weight": torch.randn(21, 96, generator=generator), "weight_scale": torch.rand(21, columns) + 0.1}
    if not symmetric:
        parts["weight_zero_point"] = torch.randint(-half, half, (21, columns), generator=generator, dtype=torch.int8)
    packed = compressors.PackedQuantizationCompressor.compress(parts, scheme)
    expected = compressors.PackedQuantizationCompressor.decompress(packed, scheme)["weight"].numpy()
    np.testing.assert_allclose(weights_of(packed, tmp_path), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["NVFP4", "MXFP4"])
def test_compressed_tensors_in_four_bit_floats(tmp_path, kind):
    """The library unpacks to bfloat16, of eight bits."""
    group_size = 16 if kind == "NVFP4" else 32
    scheme, compressors = schemes(num_bits=4, type="float", symmetric=True, group_size=group_size)
    generator = torch.Generator().manual_seed(0)
    parts = {"weight": torch.randn(12, 96, generator=generator)}
    parts["weight_scale"] = torch.rand(12, 96 // group_size, generator=generator) + 0.5
    if kind == "NVFP4":
        parts["weight_global_scale"] = torch.tensor([2.0])
    compressor = getattr(compressors, f"{kind}PackedCompressor")
    packed = compressor.compress(parts, scheme)
    found = weights_of(packed, tmp_path)
    np.testing.assert_allclose(found, compressor.decompress(packed, scheme)["weight"].float().numpy(), rtol=2**-7)


@pytest.mark.parametrize("bits", range(1, 9))
@pytest.mark.parametrize("columns", [8, 16, 20, 64, 192])
def test_bits_that_are_not_read_are_named(tmp_path, bits, columns):
    scheme, compressors = schemes(num_bits=bits, type="int", symmetric=True, group_size=None)
    parts = {"weight": torch.randn(21, columns), "weight_scale": torch.rand(21, 1) + 0.1}
    packed = compressors.PackedQuantizationCompressor.compress(parts, scheme)
    expected = compressors.PackedQuantizationCompressor.decompress(packed, scheme)["weight"].numpy()
    try:
        np.testing.assert_allclose(weights_of(packed, tmp_path), expected, rtol=1e-6)
    except KeyError:
        assert bits not in (2, 4, 8) or columns < 64  # words that several widths would fill


def test_groups_of_any_length(tmp_path):
    scheme, compressors = schemes(num_bits=4, type="int", symmetric=True, group_size=96)
    parts = {"weight": torch.randn(21, 192), "weight_scale": torch.rand(21, 2) + 0.1}
    packed = compressors.PackedQuantizationCompressor.compress(parts, scheme)
    expected = compressors.PackedQuantizationCompressor.decompress(packed, scheme)["weight"].numpy()
    np.testing.assert_allclose(weights_of(packed, tmp_path), expected, rtol=1e-6)


def test_eight_bit_floats_in_blocks_of_powers_of_two(tmp_path):
    scheme, _ = schemes(num_bits=8, type="float", symmetric=True, group_size=32)
    mxfp8 = pytest.importorskip("compressed_tensors.compressors.mxfp8")
    (compressor,) = [each for name, each in vars(mxfp8).items() if name.endswith("Compressor") and "MX" in name.upper()]
    parts = {"weight": torch.randn(12, 96), "weight_scale": torch.rand(12, 3) + 0.5}
    packed = compressor.compress(parts, scheme)
    expected = compressor.decompress(packed, scheme)["weight"].float().numpy()
    np.testing.assert_allclose(weights_of(packed, tmp_path), expected, rtol=2**-7)


def schemes(**weights):
    """The library's description of quantised weights, and its compressors."""
    compressors = pytest.importorskip("compressed_tensors.compressors")
    quantization = pytest.importorskip("compressed_tensors.quantization")
    if weights["type"] == "float":
        weights["strategy"] = "tensor_group" if weights["group_size"] == 16 else "group"  # of NVFP4, and of MX
    else:
        weights["strategy"] = "group" if weights["group_size"] else "channel"
    weights = quantization.QuantizationArgs(**weights)
    return quantization.QuantizationScheme(targets=["Linear"], weights=weights), compressors


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("how", ["dynamic", "QDQ", "QOperator"])
def test_onnxruntime(tmp_path, how, per_channel):
    """Weights come back to half a step: at most 1/254 of the largest in their channel or tensor."""
    onnx, quantization = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime.quantization")
    rng, make, info = np.random.default_rng(0), onnx.helper, onnx.helper.make_tensor_value_info
    weights = {"W": rng.normal(size=(24, 32)).astype("f4"), "C": rng.normal(size=(12, 3, 3, 3)).astype("f4")}
    nodes = [make.make_node("MatMul", ["x", "W"], ["y"]), make.make_node("Conv", ["im", "C"], ["z"])]
    inputs = {"x": ["n", 24], "im": ["n", 3, 8, 8]}
    initial = [onnx.numpy_helper.from_array(each, name) for name, each in weights.items()]
    given = [info(name, 1, shape) for name, shape in inputs.items()]
    graph = make.make_graph(nodes, "g", given, [info(name, 1, None) for name in "yz"], initial)
    model, quantised = str(tmp_path / "m.onnx"), str(tmp_path / "q.onnx")
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9), model)
    options = {"per_channel": per_channel, "weight_type": quantization.QuantType.QInt8}
    if how == "dynamic":
        quantization.quantize_dynamic(model, quantised, **options)
    else:
        samples = iter([{name: rng.normal(size=[4, *shape[1:]]).astype("f4") for name, shape in inputs.items()}] * 2)
        reader = type("Reader", (quantization.CalibrationDataReader,), {"get_next": lambda self: next(samples, None)})
        form = getattr(quantization.QuantFormat, how)
        quantization.quantize_static(model, quantised, reader(), quant_format=form, **options)
    found = read_checkpoint(quantised)
    for name, expected in weights.items():
        assert np.abs(found[f"{name}_quantized"] - expected).max() < 1.01 / 254 * np.abs(expected).max()
