"""Quantised weights against sums over bits, one number at a time, and against the libraries that wrote the formats."""

import json
from fractions import Fraction

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, read_checkpoint
from capcore.checkpoints.number_types import float8_table
from capcore.checkpoints.quantised import AWQ_ORDER, FP4
from capcore.spectra import analyse_spectra, find_layers
from tests.checkpoints.crafted import entry, safetensors_bytes

KINDS = {  # bits of the fraction, bias, and the largest finite value, by the published definitions
    "float8_e4m3fn": (3, 7, 448),
    "float8_e5m2": (2, 15, 57344),
    "float8_e4m3fnuz": (3, 8, 240),
    "float8_e5m2fnuz": (2, 16, 57344),
}


def weights_of(arrays):
    return read_checkpoint(arrays)["fc.weight"]


@pytest.mark.parametrize("kind", KINDS)
def test_eight_bit_floats_by_their_definition(kind):
    n_fraction, bias, largest = KINDS[kind]
    table = float8_table(kind)
    for code in range(256):
        power, fraction = (code & 127) >> n_fraction, Fraction(code & (2**n_fraction - 1), 2**n_fraction)
        value = (1 + fraction if power else fraction) * Fraction(2) ** (max(power, 1) - bias) * (-1) ** (code >> 7)
        if np.isfinite(table[code]):
            assert Fraction(float(table[code])) == value
    assert table[np.isfinite(table)].max() == largest
    assert np.isnan(table).sum() == {"float8_e4m3fn": 2, "float8_e5m2": 6}.get(kind, 1)
    assert np.isinf(table).sum() == (2 if kind == "float8_e5m2" else 0)


@pytest.mark.parametrize("kind", [*KINDS, "float8_e8m0fnu"])
def test_eight_bit_floats_against_pytorch(kind):
    torch = pytest.importorskip("torch")
    expected = torch.arange(256, dtype=torch.uint8).view(getattr(torch, kind)).float().numpy()
    np.testing.assert_array_equal(float8_table(kind), expected)


@pytest.mark.parametrize(
    ("suffix", "shape"),
    [
        *(("weight_scale", shape) for shape in ((), (1,), (300,), (300, 1), (300, 5))),
        *(("weight_scale_inv", (3, 2)), ("scale_weight", ()), ("SCB", (300,))),
    ],
)
def test_int8_times_a_scale(rng, suffix, shape):
    """Each weight is its number times the scale of its row and block: 128 × 128, or as many as divide the axis."""
    codes, scale = rng.integers(-128, 128, (300, 200)).astype(np.int8), rng.uniform(1, 2, shape).astype(np.float32)
    by_axis = scale.reshape(*shape, *[1] * (2 - len(shape))) if len(shape) else scale.reshape(1, 1)
    blocks = [128 if m == -(-n // 128) else n // m for m, n in zip(by_axis.shape, codes.shape, strict=True)]
    expected = np.empty(codes.shape, np.float32)
    for i, j in np.ndindex(300, 200):
        block = min(i // blocks[0], len(by_axis) - 1), min(j // blocks[1], by_axis.shape[1] - 1)
        expected[i, j] = codes[i, j] * by_axis[block] * (np.float32(1 / 127) if suffix == "SCB" else 1)
    found = read_checkpoint({"fc.weight": codes, f"fc.{suffix}": scale})
    np.testing.assert_allclose(found["fc.weight"], expected, rtol=2e-7)  # three roundings of 6e-8
    layers = find_layers(found)
    assert [layer.name for layer in layers.layers] == ["fc.weight"]
    assert not any(skipped.weights for skipped in layers.skipped)
    assert suffix in found.tensors["fc.weight"].stored and found.tensors[f"fc.{suffix}"].aside


def test_zero_points_are_taken_off_first():
    arrays = {"fc.weight": np.array([[1, 2], [3, 4]], np.int8), "fc.weight_scale": np.array([[0.5], [2]])}
    arrays["fc.weight_zero_point"] = np.array([[1], [-1]], np.int8)
    assert weights_of(arrays).tolist() == [[0, 0.5], [8, 10]]


def test_experts_in_eight_bits(rng):
    codes = rng.integers(-128, 128, (3, 40, 60)).astype(np.int8)
    for scale in (rng.uniform(1, 2, (3, 40, 1)), rng.uniform(1, 2, (3, 1, 1)), rng.uniform(1, 2, 3)):
        found = read_checkpoint({"experts.weight": codes, "experts.weight_scale": scale.astype("f4")})
        expected = codes * np.broadcast_to(scale.reshape(3, -1, 1), (3, scale.size // 3, 1)).astype("f4")
        np.testing.assert_array_equal(found["experts.weight"], expected)
        np.testing.assert_array_equal(find_layers(found).layers[0].weights()[0, ..., 1], expected[1])


@pytest.mark.parametrize("code", ["F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"])
def test_eight_bit_floats_in_a_file(tmp_path, code):
    """With the scale their values; without it, named as weights that are not read."""
    raw = bytes(range(200)) + np.float32(0.5).tobytes()
    table = float8_table("float" + code[1:].lower() + ("" if code.endswith("FNUZ") or "E5" in code else "fn"))
    header = {"w.weight": entry(code, [10, 12], 0, 120), "x.weight": entry(code, [8, 10], 120, 200)}
    header["w.weight_scale_inv"] = entry("F32", [1, 1], 200, 204)
    (tmp_path / "a.safetensors").write_bytes(safetensors_bytes(header, raw))
    found = read_checkpoint(tmp_path / "a.safetensors", non_finite="keep")
    np.testing.assert_array_equal(found["w.weight"], 0.5 * table[np.arange(120)].reshape(10, 12))
    layers = find_layers(found)
    assert [layer.name for layer in layers.layers] == ["w.weight"]
    assert [skipped.name for skipped in layers.skipped if skipped.weights] == ["x.weight"]


def packed_rows(codes, bits, order=None):
    """(n, m·bits/32) words of (n, m) codes, one bit pattern at a time; order: place of each code within its word."""
    per = 32 // bits
    words = np.zeros((codes.shape[0], codes.shape[1] // per), np.uint32)
    for i, j in np.ndindex(codes.shape):
        place = j % per if order is None else order.index(j % per)
        words[i, j // per] |= np.uint32(codes[i, j]) << np.uint32(bits * place)
    return words.view(np.int32)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("act_order", [False, True])
@pytest.mark.parametrize("version", ["gptq", "gptq_v2"])
def test_gptq(rng, tmp_path, bits, act_order, version):
    n_in, n_out, n_groups = 64, 32, 4
    codes, zeros = rng.integers(0, 2**bits, (n_in, n_out)), rng.integers(0, 2**bits, (n_groups, n_out))
    scales = rng.uniform(0.5, 1, (n_groups, n_out)).astype(np.float16)
    group = rng.permutation(np.arange(n_in) // 16).astype(np.int32) if act_order else np.arange(n_in, dtype="i4") // 16
    arrays = {"qweight": packed_rows(codes.T, bits).T, "qzeros": packed_rows(zeros, bits), "scales": scales}
    if act_order:
        arrays["g_idx"] = group
    expected = np.empty((n_out, n_in), np.float32)
    for i, o in np.ndindex(n_in, n_out):
        zero = (int(zeros[group[i], o]) + (version == "gptq")) % 2**bits
        expected[o, i] = np.float32(scales[group[i], o]) * np.float32(int(codes[i, o]) - zero)
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {"checkpoint_format": version}}))
    np.savez(tmp_path / "model.npz", **{f"fc.{name}": array for name, array in arrays.items()})
    found = read_checkpoint(tmp_path / "model.npz")
    np.testing.assert_array_equal(found["fc.weight"], expected)
    layers = find_layers(found)
    assert [layer.name for layer in layers.layers] == ["fc.weight"]
    assert {skipped.name for skipped in layers.skipped} == {f"fc.{name}" for name in arrays}
    assert not any(skipped.weights for skipped in layers.skipped)


def test_awq(rng):
    codes, zeros = rng.integers(0, 16, (64, 32)), rng.integers(0, 16, (4, 32))
    scales = rng.uniform(0.5, 1, (4, 32)).astype(np.float16)
    order = [AWQ_ORDER[i] for i in range(8)]
    arrays = {"fc.qweight": packed_rows(codes, 4, order), "fc.qzeros": packed_rows(zeros, 4, order)}
    expected = (scales.astype("f4").repeat(16, 0) * (codes - zeros.repeat(16, 0))).T
    np.testing.assert_allclose(weights_of({**arrays, "fc.scales": scales}), expected, rtol=1e-7)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize(("bits", "groups"), [(4, 1), (4, 3), (8, 1), (2, 3)])
def test_compressed_tensors_packed(rng, bits, groups, order, zeros):
    half, shape, per = 2 ** (bits - 1), (6, 48), 32 // bits
    codes, scale = rng.integers(0, 2**bits, shape), rng.uniform(1, 2, (6, groups)).astype(np.float32)
    arrays = {"fc.weight_packed": packed_rows(codes, bits), "fc.weight_scale": scale}
    arrays["fc.weight_shape"] = np.array(shape)
    zero, group = np.full((6, groups), half), np.arange(48) // (48 // groups)
    if zeros:
        zero = rng.integers(0, 2**bits, (6, groups))
        padded = np.zeros((-(-6 // per) * per, groups), int)
        padded[:6] = zero
        arrays["fc.weight_zero_point"] = packed_rows(padded.T, bits).T
    if order:
        arrays["fc.weight_g_idx"] = group = rng.permutation(group).astype(np.int32)
    expected = np.empty(shape, np.float32)
    for place in np.ndindex(shape):
        where = place[0], group[place[1]]
        expected[place] = np.float32(int(codes[place]) - int(zero[where])) * scale[where]
    np.testing.assert_array_equal(weights_of(arrays), expected)


E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


@pytest.mark.parametrize("form", ["modelopt", "compressed-tensors", "microscaling", "experts"])
def test_four_bit_floats(rng, tmp_path, form):
    """Every weight: code × scale of its block × factor of its matrix, with scales as their bits say."""
    shape, per = (3, 4, 96) if form == "experts" else (4, 96), 32 if form == "microscaling" else 16
    codes, bits = rng.integers(0, 16, shape), rng.integers(100, 140, (*shape[:-1], 96 // per)).astype(np.uint8)
    bits[bits == 127] = 0  # NaN, of either kind
    own = rng.uniform(1, 2, 3 if form == "experts" else 1).astype(np.float32)
    name = "fc.weight" if form in ("modelopt", "experts") else "fc.weight_packed"
    parts = {name: (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8), "fc.weight_scale": bits}
    if form == "compressed-tensors":
        parts["fc.weight_global_scale"] = own
    elif form != "microscaling":
        parts["fc.weight_scale_2"] = own
    header, raw = {}, b""
    for part, array in parts.items():
        code = {"float32": "F32", "uint8": "U8"}[array.dtype.name]
        code = "F8_E4M3" if part == "fc.weight_scale" and form != "microscaling" else code
        header[part] = entry(code, list(array.shape), len(raw), len(raw) + array.nbytes)
        raw += array.tobytes()
    (tmp_path / "a.safetensors").write_bytes(safetensors_bytes(header, raw))
    found = read_checkpoint(tmp_path / "a.safetensors")
    expected = np.empty(shape)
    for place in np.ndindex(shape):
        bit, expert = int(bits[(*place[:-1], place[-1] // per)]), place[0] if form == "experts" else 0
        power, fraction = bit >> 3 & 15, (bit & 7) / 8
        scale = (-1) ** (bit >> 7) * ((1 + fraction) * 2.0 ** (power - 7) if power else fraction / 64)
        factor = {"compressed-tensors": 1 / own[expert], "microscaling": 1}.get(form, own[expert])
        scale = 2.0 ** (bit - 127) if form == "microscaling" else scale
        expected[place] = (-1) ** (codes[place] >> 3) * E2M1[codes[place] & 7] * scale * factor
    np.testing.assert_allclose(found["fc.weight"], expected, rtol=3e-7)
    layers = find_layers(found)
    assert [layer.name for layer in layers.layers] == ["fc.weight"]
    assert not any(skipped.weights for skipped in layers.skipped)


def test_mxfp4(rng):
    """Blocks of 32, the first of a pair in the lower half, as in the published weights of GPT-OSS."""
    codes, powers = rng.integers(0, 16, (2, 3, 4, 32)), rng.integers(120, 135, (2, 3, 4)).astype(np.uint8)
    arrays = {"experts.up_blocks": (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)}
    found = read_checkpoint({**arrays, "experts.up_scales": powers})
    expected = np.empty((2, 3, 128))
    for place in np.ndindex(2, 3, 128):
        block = (*place[:2], place[2] // 32)
        expected[place] = FP4[codes[*block, place[2] % 32]] * 2.0 ** (int(powers[block]) - 127)
    np.testing.assert_array_equal(found["experts.up"], expected)
    (layer,) = find_layers(found).layers
    assert layer.shape == (1, 3, 128, 2)
    np.testing.assert_array_equal(layer.weights()[0, ..., 1], expected[1])


@pytest.mark.parametrize("nested", [False, True])
def test_bitsandbytes(rng, nested):
    codes, table = rng.integers(0, 16, 20 * 16), np.linspace(-1, 1, 16).astype(np.float32)
    scales = rng.uniform(1, 2, 5).astype(np.float32)
    state = {"quant_type": "nf4", "blocksize": 64, "shape": [20, 16], "dtype": "bfloat16"}
    arrays = {"fc.weight": (codes[::2] << 4 | codes[1::2]).astype(np.uint8)[:, None], "fc.weight.quant_map": table}
    if nested:
        places, own = rng.integers(0, 256, 5).astype(np.uint8), np.float32([3])
        nested_table = np.linspace(0, 1, 256).astype(np.float32)
        scales = nested_table[places] * own + np.float32(0.25)
        arrays |= {"fc.weight.nested_absmax": own, "fc.weight.nested_quant_map": nested_table}
        state |= {"nested_blocksize": 256, "nested_offset": 0.25}
    arrays["fc.weight.absmax"] = places if nested else scales
    arrays["fc.weight.quant_state.bitsandbytes__nf4"] = np.frombuffer(json.dumps(state).encode(), np.uint8)
    expected = [table[code] * scales[i // 64] for i, code in enumerate(codes)]
    found = read_checkpoint(arrays)
    np.testing.assert_array_equal(found["fc.weight"], np.reshape(expected, (20, 16)).astype("f4"))
    assert [layer.name for layer in find_layers(found).layers] == ["fc.weight"]


GPTQ = {"fc.qzeros": np.ones((2, 6), "i4"), "fc.scales": np.ones((2, 64))}
REORDERED = {"fc.comfy_quant": np.ones(3, np.uint8)}  # the order of its scales is known to its own kernels only
THREE_BITS = {"fc.weight_scale": np.ones((8, 1)), "fc.weight_shape": np.array([8, 64])}


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"fc.weight": np.ones((9, 9), np.int8)}, "int8"),
        ({"fc.weight": np.ones((9, 9), np.int8), "fc.weight_scale": np.ones((2, 2), "f4")}, "unknown length"),
        ({"fc.weight": np.ones((9, 9), np.int8), "fc.weight_scale": np.ones(3, "f4")}, "of float32 and shape (3,)"),
        ({"fc.weight": np.ones((9, 9), np.int8), "fc.weight_scale": np.ones(9, bool)}, "of bool"),
        ({"fc.qweight": np.ones((6, 64), "i4"), **GPTQ}, "(6, 64)"),
        ({"fc.weight": np.ones((9, 16), np.uint8), "fc.weight_scale": np.ones((9, 2), np.uint8)}, "not read"),
        ({"fc.weight": np.ones((9, 16), "u1"), "fc.weight_scale": np.ones((9, 1), "u1"), **REORDERED}, "not read"),
        ({"fc.weight_packed": np.ones((8, 6), "i4"), **THREE_BITS}, "(8, 64)"),
    ],
)
def test_what_is_not_read_is_named(arrays, reason):
    report = analyse_spectra({**arrays, "head.weight": np.random.default_rng(0).normal(size=(20, 20))})
    (named,) = (part for part in report.not_layers if part.weights)
    assert named.name == next(iter(arrays)) and reason in named.reason
    assert [row.name for row in report.spectra] == ["head.weight"]


def test_a_state_that_lies():
    arrays = {"fc.weight": np.zeros((4, 1), np.uint8), "fc.weight.quant_map": np.zeros(16, "f4")}
    arrays |= {"fc.weight.absmax": np.ones(1, "f4")}
    for state in ({"shape": [10**9, 10**9], "blocksize": 64}, {"shape": [2, 4], "blocksize": 1}):
        raw = np.frombuffer(json.dumps(state).encode(), np.uint8)
        found = read_checkpoint({**arrays, "fc.weight.quant_state.bitsandbytes__nf4": raw})
        with pytest.raises(CheckpointError, match="Quantised"):
            found["fc.weight"]


def f4_file(path, codes, scales, name="fc.weight", scale="fc.scale"):
    """A safetensors file of type F4, two numbers to a byte, the first in the lower half, beside scales of F8_E8M0."""
    raw = (codes[..., ::2] | codes[..., 1::2] << 4).astype("u1").tobytes()
    header = {name: entry("F4", list(codes.shape), 0, len(raw))}
    header[scale] = entry("F8_E8M0", list(scales.shape), len(raw), len(raw) + scales.size)
    path.write_bytes(safetensors_bytes(header, raw + scales.tobytes()))
    return path


@pytest.mark.parametrize("scale", ["fc.scale", "fc.weight_scale", "fc.weight_scales"])
@pytest.mark.parametrize("shape", [(6, 64), (2, 6, 64)])
def test_four_bit_floats_of_safetensors(tmp_path, rng, shape, scale):
    """Microscaling formats 1.0: 32 numbers of sign, two bits of exponent and one of fraction share a power of two."""
    codes = rng.integers(16, size=shape)
    scales = rng.integers(120, 135, size=(*shape[:-1], 2)).astype("u1")
    found = read_checkpoint(f4_file(tmp_path / "a.safetensors", codes, scales, scale=scale))
    sign, power, fraction = codes >> 3, codes >> 1 & 3, codes & 1
    sizes = np.where(power > 0, (1 + fraction / 2) * 2.0 ** (power - 1), fraction / 2) * (-1.0) ** sign
    np.testing.assert_array_equal(found["fc.weight"], sizes * 2.0 ** (np.repeat(scales, 32, axis=-1) - 127.0))
    assert found.tensors[scale].aside and found.tensors["fc.weight"].stored == f"MXFP4, {scale}"


@pytest.mark.parametrize(("shape", "blocks"), [((6, 64), 3), ((6, 48), 2), ((6, 63), 2)])
def test_four_bit_floats_without_fitting_scales_are_listed(tmp_path, shape, blocks):
    codes, scales = np.zeros((6, 64), int), np.full((6, blocks), 127, "u1")
    if shape[-1] % 2:
        raw = bytes(6 * 63 // 2)
        path, header = tmp_path / "a.safetensors", {"fc.weight": entry("F4", [6, 63], 0, len(raw))}
        path.write_bytes(safetensors_bytes(header, raw))
    else:
        path = f4_file(tmp_path / "a.safetensors", codes[:, : shape[-1]], scales)
    (part,) = (part for part in find_layers(read_checkpoint(path)).skipped if part.name == "fc.weight")
    assert part.weights and "Quantised" in part.reason and "\n" not in part.reason


@pytest.mark.parametrize(("beside", "is_read"), [("norm.scale", True), ("fc.scale_of_what", False), ("bias", True)])
def test_eight_bit_floats_without_any_scale_are_numbers(tmp_path, beside, is_read):
    raw = bytes(range(120)) + np.float32(1).tobytes()
    header = {"fc.weight": entry("F8_E4M3", [10, 12], 0, 120), beside: entry("F32", [1], 120, 124)}
    (tmp_path / "a.safetensors").write_bytes(safetensors_bytes(header, raw))
    tensor = read_checkpoint(tmp_path / "a.safetensors").tensors["fc.weight"]
    assert tensor.is_real == is_read
    if is_read:
        np.testing.assert_array_equal(tensor.read(), float8_table("float8_e4m3fn")[:120].reshape(10, 12))
        (tmp_path / "config.json").write_text('{"quantization_config": {"quant_method": "fp8"}}')
        assert read_checkpoint(tmp_path / "a.safetensors").tensors["fc.weight"].unread
