"""What is a layer, of what kind, and why the rest is not."""

import numpy as np
import pytest

from capcore.spectra import CheckpointError, find_layers, read_checkpoint
from tests.strategies import all_of


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
        ("bn.weight", np.ones(3), "A scale"),
        ("bn.running_mean", np.ones(3), "Statistics"),
        ("bn.num_batches_tracked", np.array(3), "int64"),
        ("temperature", np.array(3.0), "single number"),
        ("cls_token", np.ones((1, 1, 8)), "vector"),
        ("index", np.ones((3, 3), int), "int64"),
        ("mask", np.ones((3, 3), bool), "bool"),
        ("fourier", np.ones((3, 3), complex), "Not real"),
        ("empty", np.ones((0, 3)), "Empty"),
        ("six", np.ones((2,) * 6), "6 axes"),
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


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"kinds": {"x*": "skip"}}, ["'x*'", "no tensor"]),
        ({"groups": {"x*": 2}}, ["'x*'", "no tensor"]),
        ({"transposed": ["x*"]}, ["'x*'", "no tensor"]),
        ({"kinds": {"w": "conv4d"}}, ["kinds", "'conv4d'", "'conv3d'"]),
        ({"kinds": {"w": "linear"}}, ["kind 'linear'", "expected 'conv2d'"]),
        ({"kinds": {"w": "embedding"}}, ["two axes for an embedding"]),
        ({"groups": {"w": 4}}, ["4 groups for 6 channels", "divisor"]),
        ({"groups": {"w": 0}}, ["groups: found 0"]),
        ({"layout": "channels"}, ["layout", "channels-first"]),
    ],
)
def test_options_that_cannot_be(options, parts):
    with pytest.raises(ValueError, match=all_of(parts)):
        layers_of({"w": np.ones((6, 2, 3, 3))}, **options)


def test_a_listed_type_is_named(tmp_path):
    from tests.spectra.crafted import entry, safetensors_bytes

    path = tmp_path / "a.safetensors"
    path.write_bytes(safetensors_bytes({"w": entry("F8_E4M3", [2, 2], 0, 4)}, bytes(4)))
    checkpoint = read_checkpoint(path)
    (skipped,) = find_layers(checkpoint).skipped
    assert "Quantised" in skipped.reason
    with pytest.raises(CheckpointError, match="float8_e4m3"):
        checkpoint["w"]
