"""What is a layer, of what kind, and why the rest is not."""

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, read_checkpoint
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, find_layers, layer_densities
from tests.strategies import refused


def layers_of(arrays, **options):
    return find_layers(read_checkpoint(arrays), **options)


def only(array, name="w", **options):
    (layer,) = layers_of({name: array}, **options).layers
    return layer


@pytest.mark.parametrize(
    ("shape", "name", "kind", "expected"),
    [
        ((5, 3), "fc.weight", "linear", (1, 5, 3)),
        ((5, 3, 7), "conv.weight", "conv1d", (1, 5, 3, 7)),
        ((5, 3, 7, 2), "conv.weight", "conv2d", (1, 5, 3, 7, 2)),
        ((5, 3, 2, 2, 2), "conv.weight", "conv3d", (1, 5, 3, 2, 2, 2)),
        ((50, 8), "tok_embeddings.weight", "embedding", (1, 50, 8)),
        ((50, 8), "transformer.wte.weight", "embedding", (1, 50, 8)),
        ((1, 50, 8), "pos_embed", "embedding", (1, 50, 8)),
        ((5, 3, 2, 2), "patch_embed.proj.weight", "conv2d", (1, 5, 3, 2, 2)),
    ],
)
def test_kinds(shape, name, kind, expected):
    layer = only(np.arange(np.prod(shape), dtype=float).reshape(shape), name)
    assert (layer.name, layer.kind, layer.shape, layer.groups) == (name, kind, expected, 1)
    assert layer.kernel == expected[3:]
    assert layer.weights().shape == expected
    np.testing.assert_array_equal(layer.weights().ravel(), np.arange(np.prod(shape)))


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("fc.bias", np.ones(3), "A bias"),
        ("lstm.bias_ih_l0_reverse", np.ones(3), "A bias"),
        ("bn.weight", np.ones(3), "A scale"),
        ("bn.running_mean", np.ones(3), "Statistics"),
        ("bn.num_batches_tracked", np.array(3), "int64"),
        ("temperature", np.array(3.0), "single number"),
        ("cls_token", np.ones((1, 1, 8)), "vector"),
        ("index", np.ones((3, 3), int), "int64"),
        ("mask", np.ones((3, 3), bool), "bool"),
        ("fourier", np.ones((3, 3), complex), "Complex numbers"),
        ("empty", np.ones((0, 3)), "Empty"),
        ("six", np.ones((2,) * 6), "6 axes"),
        ("_fsdp_wrapped_module._flat_param", np.ones(12), "FSDP made flat: save a full state dict"),
        ("fsdp.flat_param_0", np.ones(12), "FSDP made flat: save a full state dict"),
        ("depthwise_kernel", np.ones((3, 3, 12, 2)), "depthwise"),
        ("block/separable/depthwise_kernel:0", np.ones((3, 3, 12, 2)), "depthwise"),
        ("MobilenetV1/Conv2d_1_depthwise/depthwise_weights", np.ones((3, 3, 12, 1)), "depthwise"),
        ("blk.0.ssm_conv1d.weight", np.ones((12, 4)), "depthwise"),
    ],
)
def test_reasons(name, array, reason):
    found = layers_of({name: array, "fc.weight": np.ones((2, 2))})
    assert [layer.name for layer in found.layers] == ["fc.weight"]
    (skipped,) = found.skipped
    assert (skipped.name, skipped.shape) == (name, array.shape)
    assert reason in skipped.reason


def test_nothing_is_lost(rng):
    """Every tensor is a layer or is listed with its reason, in the order of the checkpoint."""
    arrays = {f"t{i}": np.ones(rng.integers(1, 3, rng.integers(0, 7))) for i in range(50)}
    found = layers_of(arrays)
    assert {layer.name for layer in found.layers} | {skipped.name for skipped in found.skipped} == {*arrays}
    assert len(found.layers) + len(found.skipped) == 50
    for names in ([layer.name for layer in found.layers], [skipped.name for skipped in found.skipped]):
        assert names == [name for name in arrays if name in names]


def test_groups(rng):
    stored = rng.normal(size=(6, 2, 3, 3))
    layer = only(stored, groups={"w": 3})
    assert layer.shape == (3, 2, 2, 3, 3)
    np.testing.assert_array_equal(layer.weights()[1], stored[2:4])


def test_channels_last(rng):
    dense, kernel = rng.normal(size=(3, 5)), rng.normal(size=(7, 2, 3, 5))
    np.testing.assert_array_equal(only(dense, layout="channels-last").weights()[0], dense.T)
    layer = only(kernel, layout="channels-last")
    assert layer.shape == (1, 5, 3, 7, 2)
    np.testing.assert_array_equal(layer.weights()[0], kernel.transpose(3, 2, 0, 1))


def test_transposed_layers(rng):
    """A transposed convolution in groups is stored (in, out/groups, *kernel), its groups along the first axis."""
    dense, kernel = rng.normal(size=(3, 5)), rng.normal(size=(6, 4, 3))
    np.testing.assert_array_equal(only(dense, transposed=["w"]).weights()[0], dense.T)
    layer = only(kernel, transposed=["w"], groups={"w": 2})
    assert layer.shape == (2, 4, 3, 3)
    np.testing.assert_array_equal(layer.weights()[1], kernel[3:].swapaxes(0, 1))
    both = only(kernel.transpose(2, 1, 0), transposed=["w"], groups={"w": 2}, layout="channels-last")
    np.testing.assert_array_equal(both.weights(), layer.weights())


def test_the_caller_knows_better():
    arrays = {"a.table": np.ones((9, 4)), "b.table": np.ones((9, 4)), "c": np.ones((1, 1, 9, 4))}
    found = layers_of(arrays, kinds={"a.*": "skip", "*": "embedding"})
    assert [(layer.name, layer.kind, layer.shape) for layer in found.layers] == [
        ("b.table", "embedding", (1, 9, 4)),
        ("c", "embedding", (1, 9, 4)),
    ]
    assert found.skipped[0].reason == "Left out by the caller."


test_options_that_cannot_be = refused(
    lambda options: layers_of({"w": np.ones((6, 2, 3, 3))}, **options),
    ({"kinds": {"x*": "skip"}}, ["'x*'", "no tensor"]),
    ({"groups": {"x*": 2}}, ["'x*'", "no tensor"]),
    ({"transposed": ["x*"]}, ["'x*'", "no tensor"]),
    ({"kinds": {"w": "conv4d"}}, ["kinds", "'conv4d'", "'conv3d'"]),
    ({"kinds": {"w": "conv1d"}}, ["kind 'conv1d'", "expected 'conv2d'"]),
    ({"kinds": {"w": "embedding"}}, ["two axes for an embedding"]),
    ({"groups": {"w": 4}}, ["4 groups for 6 channels", "divisor"]),
    ({"groups": {"w": 0}}, ["groups: found 0"]),
    ({"layout": "channels"}, ["layout", "channels-first"]),
)


@pytest.mark.parametrize("layout", ["channels-first", "channels-last"])
@pytest.mark.parametrize("transposed", [(), ("w",)])
def test_a_tensor_of_three_axes_may_be_linear(rng, layout, transposed):
    """Its first axis by all others; its last if outputs come last, by the layout or as transposed: (out, in)."""
    weights = rng.normal(size=(4, 3, 5))
    (layer,) = layers_of({"w": weights}, kinds={"w": "linear"}, layout=layout, transposed=transposed).layers
    matrix = weights.reshape(12, 5).T if (layout == "channels-last") != bool(transposed) else weights.reshape(4, 15)
    assert (layer.kind, layer.shape) == ("linear", (1, *matrix.shape))
    np.testing.assert_array_equal(layer.weights()[0], matrix)


def test_a_listed_type_is_named(tmp_path):
    from tests.checkpoints.crafted import entry, safetensors_bytes

    path = tmp_path / "a.safetensors"
    path.write_bytes(safetensors_bytes({"w": entry("F8_E8M0", [2, 2], 0, 4)}, bytes(4)))
    checkpoint = read_checkpoint(path)
    (skipped,) = find_layers(checkpoint).skipped
    assert "Quantised" in skipped.reason
    with pytest.raises(CheckpointError, match="float8_e8m0"):
        checkpoint["w"]


def test_experts_are_a_stack_of_matrices(rng):
    """(n, out, in) under a name of experts: n spectra, or one of all; each equal to that of its matrix alone."""
    stored = rng.normal(size=(5, 12, 30)).astype("f4")
    source = {"mlp.experts.down_proj": stored, "mlp.experts.down_proj_bias": stored[..., 0]}
    (layer,) = layers_of(source).layers
    assert (layer.kind, layer.shape, layer.groups, layer.is_convolution) == ("stack", (1, 12, 30, 5), 1, False)
    np.testing.assert_array_equal(layer.weights()[0, ..., 3], stored[3])
    alone = {
        name: row.alpha
        for name, row in zip(
            "abcde", analyse_spectra(dict(zip("abcde", stored, strict=True)), SpectraOptions()).spectra, strict=True
        )
    }
    rows = analyse_spectra(source, SpectraOptions(DensityOptions("slices"))).spectra
    assert [row.name for row in rows] == [f"mlp.experts.down_proj[{i}]" for i in range(5)]
    assert [row.alpha for row in rows] == [*alone.values()]
    for view in ("pooled", "unfolded", "operator"):
        options = DensityOptions(view, grid=8 if view == "operator" else None)
        (row,) = analyse_spectra(source, SpectraOptions(options)).spectra
        assert (row.n, row.n_matrices, row.rows, row.columns) == (60, 5, 12, 30)
    (other,) = layers_of(source, transposed=["*proj"]).layers
    assert other.shape == (1, 30, 12, 5)
    np.testing.assert_array_equal(other.weights()[0, ..., 2], stored[2].T)


@pytest.mark.parametrize("view", ["slices", "pooled"])
def test_a_stack_with_bad_weights_is_skipped(rng, view):
    stored = rng.normal(size=(3, 12, 30))
    stored[1, 0, 0] = np.nan
    layer = find_layers(read_checkpoint({"w": stored}, non_finite="keep"), kinds={"w": "stack"}).layers[0]
    found = layer_densities(layer, DensityOptions(view))
    assert not len(found) and found.skipped[0].reason == "1 weights are NaN or infinite."


def test_what_may_be_weights_and_is_not_read_is_told_apart():
    """Of tensors that are no layers: quantised matrices, not biases, counters, positions, masks and scales."""
    codes = np.ones((4, 4), "i1")
    arrays = {
        **{name: codes.astype(name) for name in ("int8", "uint8", "int32", "int64", "bool", "complex64")},
        "packed.weight": np.ones((32, 1), np.uint8),
        "position_ids": np.ones((1, 9), np.int32),
        "attn.bias": np.tril(np.ones((1, 1, 4, 4), "f4")),
        "A_log": np.ones((4, 4)),
        "rnn.bias": np.ones((2, 4)),
        "six": np.ones((2,) * 6),
        "depthwise_kernel": np.ones((3, 3, 4, 1)),
        "tied": np.ones((3, 3)),
    }
    arrays["again"] = arrays["tied"]
    found = layers_of(arrays)
    assert [layer.name for layer in found.layers] == ["tied"]
    named = {skipped.name for skipped in found.skipped if skipped.weights}
    assert named == {"int8", "uint8", "int32", "complex64", "packed.weight", "six", "depthwise_kernel"}
    assert {skipped.name: skipped.reason for skipped in found.skipped}["again"].startswith("The same weights as 'tied'")
    left_out = layers_of(arrays, kinds={"int8": "skip"})
    assert not any(skipped.weights for skipped in left_out.skipped if skipped.name == "int8")
