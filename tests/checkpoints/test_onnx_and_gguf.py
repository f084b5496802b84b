"""ONNX and GGUF, written by their own packages; without these a message says what to install."""

from types import SimpleNamespace

import numpy as np
import pytest

from capcore.checkpoints import Checkpoint, CheckpointError, Tensor, of_arrays, read_checkpoint
from capcore.checkpoints.onnx import as_taken, dequantised, quantised_inputs, weights_of
from capcore.checkpoints.parametrised import computed
from capcore.spectra import find_layers


@pytest.mark.parametrize("suffix", ["onnx", "gguf"])
def test_without_the_package(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("capcore.checks.names.find_spec", lambda name: None)
    (tmp_path / f"a.{suffix}").write_bytes(b"x" * 100)
    with pytest.raises(
        CheckpointError,
        match=f"{suffix}: found no such library.*pip install {suffix}, or capcore with",
    ):
        read_checkpoint(tmp_path / f"a.{suffix}")


def onnx_model(path, arrays, **options):
    onnx = pytest.importorskip("onnx")
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    constant = onnx.helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(np.eye(12, dtype="f4")))
    brain = onnx.helper.make_tensor("h", onnx.TensorProto.BFLOAT16, [2, 2], [1.0, -2.5, 0.0, 3.0])
    used = [onnx.helper.make_node("MatMul", ["x", name], [f"y{name}"]) for name in (*arrays, "h", "c")]
    graph = onnx.helper.make_graph([constant, *used], "g", [], [], initializer=[*tensors, brain])
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


def test_onnx_of_branches_and_loops(tmp_path, rng):
    """Weights of inner graphs, whose names may stand twice; sparse ones are named."""
    onnx = pytest.importorskip("onnx")
    make, kept = onnx.helper, {}

    def constant(name):
        kept[name] = rng.normal(size=(12, 20)).astype("f4")
        return onnx.numpy_helper.from_array(kept[name], "w")

    entries = onnx.numpy_helper.from_array(np.ones(2, "f4"), "thin"), onnx.numpy_helper.from_array(np.array([1, 30]))
    thin = make.make_sparse_tensor(*entries, [9, 9])
    used = make.make_node("MatMul", ["x", "w"], ["z"])
    body = make.make_graph([used], "b", [], [], [constant("w")])
    loop = make.make_node("Loop", ["n", "c"], ["y"], name="loop", body=body)
    other = [make.make_node("Constant", [], ["w"], value=constant("e")), used]
    then, other = (make.make_graph(nodes, "g", [], []) for nodes in ([loop], other))
    node = make.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other)
    graph = make.make_graph([node], "g", [], [], sparse_initializer=[thin])
    onnx.save(make.make_model(graph), tmp_path / "m.onnx")
    found = read_checkpoint(tmp_path / "m.onnx")
    (second,) = {*found} - {"w", "thin"}
    assert second in ("if.else_branch.w", "if.then_branch.loop.body.w")
    read = [found[name] for name in ("w", second)]
    assert any(np.array_equal(read[0], kept[name]) for name in "we") and not np.array_equal(*read)
    layers = find_layers(found)
    assert [each.name for each in layers.layers] == ["w", second]
    assert [each.name for each in layers.skipped] == ["thin"] and "Sparse" in layers.skipped[0].reason
    function = make.make_function("own", "f", [], [], [used], [make.make_opsetid("", 17)])
    onnx.save(make.make_model(graph, functions=[function]), tmp_path / "f.onnx")
    with pytest.raises(CheckpointError, match=r"found 1 functions.*inline_local_functions"):
        read_checkpoint(tmp_path / "f.onnx")


def test_onnx_names_are_kept_apart(tmp_path, rng):
    """Unnamed branches and weights behind an identity: no matrix replaces another."""
    onnx = pytest.importorskip("onnx")
    make, n = onnx.helper, 0

    def graph(*nodes):
        nonlocal n
        n += 1
        weights = onnx.numpy_helper.from_array(np.full((12, 20), n, "f4"), "W")
        return make.make_graph([*nodes], f"g{n}", [], [], [weights])

    nodes = [make.make_node("If", ["c"], [f"y{i}"], then_branch=graph(), else_branch=graph()) for i in range(3)]
    shape = {"B": (1, 16), "R": (2, 64, 16), "R.reverse": (30, 20)}
    initial = [onnx.numpy_helper.from_array(rng.normal(size=each).astype("f4"), name) for name, each in shape.items()]
    nodes += [make.make_node("MatMul", ["x", "R.reverse"], ["z"]), make.make_node("Identity", ["R"], ["again"])]
    nodes += [make.make_node("LSTM", ["x", "W", "again", "B"], ["h"])]
    main = graph(*nodes)
    main.initializer.extend(initial)
    onnx.save(make.make_model(main), tmp_path / "m.onnx")
    found = read_checkpoint(tmp_path / "m.onnx")
    matrices = [found[name] for name in found if found.tensors[name].shape == (12, 20)]
    assert sorted(each[0, 0] for each in matrices) == [1, 2, 3, 4, 5, 6, 7]
    shapes = {each.name: each.tensor.shape for each in find_layers(found).layers}
    assert shapes["R"] == shapes["R.reverse (2)"] == (64, 16) and shapes["R.reverse"] == (30, 20) and "B" not in shapes


def operator(kind, inputs, **attributes):
    said = [SimpleNamespace(name=name, i=value) for name, value in attributes.items()]
    return SimpleNamespace(op_type=kind, input=inputs, attribute=said)


def numbers_of(node, arrays):
    """What an operator makes of quantised weights."""
    tensors = of_arrays(arrays).tensors
    _, *names = quantised_inputs(node)
    return dequantised(node, *(tensors.get(name) for name in names))


@pytest.mark.parametrize(
    ("node", "scale", "axis"),
    [
        (operator("DequantizeLinear", ["w_quantized", "w_scale"]), (), None),
        (operator("DequantizeLinear", ["w_quantized", "w_scale", "z"], axis=0), (12,), 0),
        (operator("DequantizeLinear", ["w_quantized", "w_scale", "z"], axis=-1), (20,), 1),
        (operator("QLinearConv", ["x", "xs", "xz", "w_quantized", "w_scale", "z"]), (12,), 0),
        (operator("QLinearMatMul", ["x", "xs", "xz", "w_quantized", "w_scale", "z"]), (20,), 1),
        (operator("MatMulInteger", ["x", "w_quantized", "xz", "z"]), (20,), 1),
        (operator("ConvInteger", ["x", "w_quantized"]), (1,), None),
    ],
    ids=lambda value: getattr(value, "op_type", None),
)
def test_quantised_operators(rng, node, scale, axis):
    """(code - zero) × scale, one weight at a time."""
    codes = rng.integers(-128, 128, (12, 20)).astype("i1")
    scales, zeros = rng.uniform(0.5, 1, scale).astype("f4"), rng.integers(-9, 9, scale).astype("i1")
    found = numbers_of(node, {"w_quantized": codes, "w_scale": scales, "z": zeros}).read()
    for i, j in np.ndindex(codes.shape):
        place = () if axis is None else ((i, j)[axis],)
        part = scales[place] if scale != (1,) else scales[0]
        zero = int(zeros[place]) if "z" in node.input else 0
        assert found[i, j] == np.float32(int(codes[i, j]) - zero) * part


@pytest.mark.parametrize(
    "node",
    [
        operator("DequantizeLinear", ["v", "s"]),
        operator("DequantizeLinear", ["m", "s"]),
        operator("DequantizeLinear", ["m", "four"], axis=1),
        operator("DequantizeLinear", ["m", "four"], axis=2),
        operator("DequantizeLinear", ["m", "six"], axis=0, block_size=2),
        operator("DequantizeLinear", ["m", "four", "computed"], axis=0),
    ],
)
def test_codes_that_an_operator_does_not_describe_give_no_numbers(node):
    arrays = {"w": np.ones((5, 3, 8), "u1"), "s": np.ones(15, "f4"), "v": np.ones(9, "i1"), "m": np.ones((4, 6), "i1")}
    arrays |= {"four": np.ones(4, "f4"), "six": np.ones((6, 4), "f4"), "o": np.arange(48)}
    assert numbers_of(node, arrays) is None


@pytest.mark.parametrize("directions", [1, 2])
def test_recurrent_weights_are_matrices(rng, directions):
    weights = rng.normal(size=(directions, 16, 4)).astype("f4")
    (tensor,) = of_arrays({"w": weights}).tensors.values()
    matrices = as_taken(tensor, operator("LSTM", ["x", "w", "r"]))
    assert [matrix.name for matrix in matrices] == ["w", "w.reverse"][:directions]
    for matrix, expected in zip(matrices, weights, strict=True):
        np.testing.assert_array_equal(matrix.read(), expected)
        assert matrix.shape == (16, 4)


def bare_model(nodes, arrays):
    """What is read of an ONNX model, as plain objects: these tests need no package."""

    def node(kind, inputs, attributes=None, output=None):
        said = dict(attributes or {})
        domain, names = said.pop("domain", ""), inputs.split()
        same = {"HasField": lambda field: False, "graphs": []}
        read = [SimpleNamespace(name=key, i=value, ints=value, **same) for key, value in said.items()]
        output = [output or f"of_{names[-1]}"]
        return SimpleNamespace(op_type=kind, domain=domain, name="", input=names, output=output, attribute=read)

    initial = [SimpleNamespace(name=name, values=np.asarray(values)) for name, values in arrays.items()]
    graph = SimpleNamespace(node=[node(*each) for each in nodes], initializer=initial, sparse_initializer=[])

    def read(name, entry):
        return Tensor(name, entry.values.dtype.name, entry.values.shape, lambda: entry.values)

    return Checkpoint("m", "onnx", dict, 0, {tensor.name: tensor for tensor in weights_of(graph, "m", read)})


def written_model(nodes, arrays, path):
    """The same by way of a file."""
    onnx = pytest.importorskip("onnx")

    def node(kind, inputs, attributes=None, output=None):
        names = inputs.split()
        return onnx.helper.make_node(kind, names, [output or f"of_{names[-1]}"], **(attributes or {}))

    initial = [onnx.numpy_helper.from_array(np.asarray(values), name) for name, values in arrays.items()]
    graph = onnx.helper.make_graph([node(*each) for each in nodes], "g", [], [], initial)
    onnx.save(onnx.helper.make_model(graph), path)
    return read_checkpoint(path)


@pytest.fixture(params=["bare", "written"])
def graph_of(request, tmp_path):
    """``graph_of(nodes, **arrays)``: layers of an ONNX model of these nodes, (operator, inputs, attributes, output)."""

    def found(*nodes, **arrays):
        bare = request.param == "bare"
        return find_layers(bare_model(nodes, arrays) if bare else written_model(nodes, arrays, tmp_path / "m.onnx"))

    return found


def shapes(found):
    return {layer.name: (layer.kind, layer.shape) for layer in found.layers}


@pytest.mark.parametrize(
    ("nodes", "shape", "expected"),
    [
        ([("MatMul", "x w")], (12, 20), ("linear", (1, 12, 20))),
        ([("MatMul", "w x")], (12, 20), ("linear", (1, 12, 20))),
        ([("MatMul", "x w")], (5, 12, 20), ("stack", (1, 12, 20, 5))),
        ([("MatMul", "x w")], (1, 12, 20), ("linear", (1, 12, 20))),
        ([("Gemm", "x w c", {"transB": 1})], (12, 20), ("linear", (1, 12, 20))),
        ([("Gather", "w i")], (50, 20), ("linear", (1, 50, 20))),
        ([("Conv", "x w")], (12, 4, 3), ("conv1d", (1, 12, 4, 3))),
        ([("Conv", "x w b", {"group": 3})], (12, 4, 3, 3), ("conv2d", (3, 4, 4, 3, 3))),
        ([("Conv", "x w", {"group": 12})], (12, 1, 3, 3), ("conv2d", (12, 1, 1, 3, 3))),
        ([("ConvTranspose", "x w", {"group": 3})], (12, 4, 3), ("conv1d", (3, 4, 4, 3))),
        ([("Cast", "w", {"to": 1}, "u"), ("MatMul", "x u")], (12, 20), ("linear", (1, 12, 20))),
        ([("Transpose", "w", {"perm": [1, 0]}, "v"), ("MatMul", "x v")], (12, 20), ("linear", (1, 20, 12))),
        ([("Transpose", "w", {"perm": [3, 2, 0, 1]}, "v"), ("Conv", "x v")], (3, 2, 4, 12),
         ("conv2d", (1, 12, 4, 3, 2))),
        ([("Reshape", "w to", {}, "v"), ("Conv", "x v", {"group": 6})], (3, 3, 6, 2), ("conv2d", (6, 2, 1, 3, 3))),
        ([("Reshape", "w rest", {}, "v"), ("Conv", "x v")], (12, 4, 9), ("conv2d", (1, 12, 4, 3, 3))),
        ([("Flatten", "w", {}, "v"), ("MatMul", "x v")], (12, 4, 3, 3), ("linear", (1, 12, 36))),
        ([("Unsqueeze", "w axes", {}, "v"), ("Conv", "x v")], (12, 4, 3), ("conv1d", (1, 12, 4, 3))),
    ],
)  # fmt: skip
def test_weights_are_what_operators_take(graph_of, rng, nodes, shape, expected):
    weights = rng.normal(size=shape).astype("f4")
    found = graph_of(*nodes, w=weights, b=np.ones(12, "f4"), to=np.array([12, 1, 3, 3]), axes=np.array([2]),
                     rest=np.array([0, -1, 3, 3]))  # fmt: skip
    assert shapes(found) == {"w": expected}
    assert found.layers[0].weights().shape == expected[1]
    np.testing.assert_array_equal(np.sort(found.layers[0].weights(), axis=None), np.sort(weights, axis=None))


@pytest.mark.parametrize(
    ("nodes", "shape", "users"),
    [
        ([("Add", "x w")], (1, 64, 1, 1), "Add"),
        ([("Mul", "x w"), ("Add", "x w")], (64, 64), "Add, Mul"),
        ([("Gemm", "x v w")], (12, 64), "Gemm"),
        ([("Where", "x w y")], (1, 1, 64, 64), "Where"),
        ([("Identity", "w", {}, "u"), ("Add", "x u")], (64, 64), "Add"),
        ([], (64, 64), "no operator"),
    ],
)
def test_what_only_adds_or_scales_is_no_weight(graph_of, nodes, shape, users):
    found = graph_of(("MatMul", "x v"), *nodes, w=np.ones(shape, "f4"), v=np.ones((12, 64), "f4"))
    assert [*shapes(found)] == ["v"]
    assert [(part.reason, part.weights) for part in found.skipped] == [
        (f"Taken by {users}: not a matrix that multiplies.", False)
    ]


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([("Mul", "w s", {}, "v"), ("MatMul", "x v")], "computed from it in the graph, by Mul"),
        ([("Concat", "w w", {"axis": 0}, "v"), ("Transpose", "v", {}, "u"), ("Gemm", "x u")], "by Concat"),
        ([("Concat", "s s", {"axis": 0}, "to"), ("Reshape", "w to", {}, "v"), ("MatMul", "x v")], "not followed"),
        ([("Magic", "x w", {"domain": "org.example"})], "org.example.Magic"),
        ([("Loop", "n c w", {})], "Taken by Loop"),
        ([("Conv", "x w", {"group": 5})], "5 groups"),
        ([("Einsum", "x w", {"equation": "bi,ijk->bjk"})], "Einsum, of 3 axes"),
    ],
)
def test_weights_that_are_not_followed_are_named(graph_of, nodes, reason):
    """They may be weights: named among those that are not analysed, and no spectrum by guess."""
    shape = (12, 4, 3) if "axes" in reason or "groups" in reason else (12, 20)
    found = graph_of(*nodes, w=np.ones(shape, "f4"), s=np.ones((12, 1), "f4"))
    (part,) = [part for part in found.skipped if part.name == "w"]
    assert not found.layers and reason in part.reason and part.weights


def test_scales_follow_the_axes_of_their_operator(graph_of, rng):
    """Codes that were transposed first: the scale belongs to an axis of what the operator takes."""
    codes, scales = rng.integers(-9, 9, (12, 20)).astype("i1"), np.arange(1, 21, dtype="f4")
    nodes = [("Transpose", "w", {}, "t"), ("DequantizeLinear", "t s", {"axis": 0}, "d"), ("MatMul", "x d")]
    (layer,) = graph_of(*nodes, w=codes, s=scales).layers
    np.testing.assert_array_equal(layer.weights()[0], codes.T * scales[:, None])


def test_names_do_not_tell_what_a_graph_tells():
    """Parts of weight norm, which the graph puts together: the reason is the graph's, and no pair is put together."""
    nodes = [("ReduceL2", "fc.weight_v", {}, "n"), ("Div", "fc.weight_v n", {}, "d"), ("Mul", "d fc.weight_g", {}, "w")]
    arrays = {"fc.weight_v": np.ones((12, 20), "f4"), "fc.weight_g": np.ones((12, 1), "f4")}
    found = find_layers(computed(bare_model([*nodes, ("MatMul", "x w")], arrays)))
    assert not found.layers and {part.name for part in found.skipped} == {*arrays}
    assert all("computed from it in the graph" in part.reason for part in found.skipped)


@pytest.mark.parametrize(
    ("location", "offset", "length", "message"),
    [
        ("../secret", 0, 1920, "expected a file beside it"),
        ("/etc/passwd", 0, 1920, "expected a file beside it"),
        ("absent", 0, 1920, "no such file"),
        *(("w.bin", *bounds, "expected 1920 bytes within 1920") for bounds in ((-4, 1920), (4, 1920), (10**9, 1920))),
        *(("w.bin", 0, length, "expected 1920 bytes within 1920") for length in (1916, 1924)),
    ],
)
def test_onnx_whose_values_are_not_there(tmp_path, location, offset, length, message):
    """Elsewhere, before the file, beyond its end, or another number of bytes than the shape needs."""
    (tmp_path / "w.bin").write_bytes(np.ones((12, 40), "f4").tobytes())
    onnx = onnx_model(tmp_path / "m.onnx", {"w": np.ones((12, 40), "f4")})
    model = onnx.load(tmp_path / "m.onnx")
    entry = model.graph.initializer[0]
    entry.ClearField("raw_data")
    entry.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": offset, "length": length}.items():
        entry.external_data.add(key=key, value=str(value))
    (tmp_path / "n.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(CheckpointError, match=message):
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
    experts = layers["blk.1.ffn_up_exps.weight"]
    assert layers["token_embd.weight"].kind == "embedding" and experts.kind == "stack"
    np.testing.assert_array_equal(experts.weights()[0, ..., 2], gguf.quants.dequantize(stack, kinds.Q8_0)[2])
    data = (tmp_path / "m.gguf").read_bytes()
    for end in (3, 20, 60, 200, len(data) - 10**4):
        (tmp_path / "cut.gguf").write_bytes(data[:end])
        with pytest.raises(CheckpointError):
            [tensor.read() for tensor in read_checkpoint(tmp_path / "cut.gguf").tensors.values()]
    for place in (8, 16, 24):  # numbers of tensors and of keys, length of the first key
        (tmp_path / "liar.gguf").write_bytes(data[:place] + b"\xff" * 7 + b"\x7f" + data[place + 8 :])
        with pytest.raises(CheckpointError):
            read_checkpoint(tmp_path / "liar.gguf")
