"""Weights that are computed from several tensors: as the layer applies them, or named; never one of the parts."""

import json

import numpy as np
import pytest

from capcore.checkpoints import of_arrays, read_checkpoint, read_folder
from capcore.checkpoints.parametrised import computed
from capcore.spectra import find_layers, weightwatcher_details
from capcore.spectra.weightwatcher import preset_table
from tests.checkpoints.crafted import packed
from tests.strategies import all_of

OLD = {"g": "fc.weight_g", "v": "fc.weight_v", "orig": "fc.weight_orig", "u": "fc.weight_u", "mask": "fc.weight_mask"}
NEW = {name: f"fc.parametrizations.weight.{part}" for name, part in {"g": "original0", "v": "original1"}.items()}
SPECTRAL = {"orig": "original", "u": "0._u", "v": "0._v"}
W = np.ones((12, 9))
NEW_SPECTRAL = {name: f"fc.parametrizations.weight.{part}" for name, part in SPECTRAL.items()}


def named(names, parts):
    return {names[key]: values for key, values in parts.items()}


def reasons(found):
    return {part.name: part.reason for part in find_layers(found).skipped}


@pytest.mark.parametrize("names", [OLD, NEW], ids=["weight_g", "original0"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((6, 4), 0), ((6, 4), 1), ((6, 4), None), ((6, 4, 5), 2), ((6, 4, 3, 2), 0)]
)
def test_weight_norm(rng, names, shape, axis):
    """One fibre at a time: it has the length that g says, and the direction of v. The shape of g tells the axis."""
    shape = tuple(map(int, shape))
    v = rng.normal(size=shape)
    g = rng.uniform(1, 9, () if axis is None else [n if i == axis else 1 for i, n in enumerate(shape)])
    found = read_checkpoint(named(names, {"g": g, "v": v}))
    assert [layer.name for layer in find_layers(found).layers] == ["fc.weight"]
    fibres = [...] if axis is None else [(slice(None),) * axis + (i,) for i in range(shape[axis])]
    for length, fibre in zip(g.ravel(), fibres, strict=True):
        weights, direction = found["fc.weight"][fibre].ravel(), v[fibre].ravel()
        assert np.linalg.norm(weights) == pytest.approx(length, rel=1e-14)
        assert weights @ direction == pytest.approx(length * np.linalg.norm(direction), rel=1e-14)  # parallel
    assert set(reasons(found)) == {names["g"], names["v"]}
    assert all(reason == "A part of 'fc.weight', which is computed from it." for reason in reasons(found).values())


@pytest.mark.parametrize("names", [OLD, NEW_SPECTRAL], ids=["weight_u", "_u"])
@pytest.mark.parametrize("transposed", [False, True])
def test_spectral_norm(rng, names, transposed):
    """The largest singular value is one, by whichever axis holds the outputs; v is a vector, not weight norm's."""
    weights = rng.normal(size=(8, 8, 3))
    matrix = np.moveaxis(weights, 1, 0).reshape(8, -1) if transposed else weights.reshape(8, -1)
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    found = read_checkpoint(named(names, {"orig": weights, "u": left[:, 0], "v": right[0]}))
    np.testing.assert_allclose(found["fc.weight"], weights / values[0], rtol=1e-13)
    assert [layer.name for layer in find_layers(found).layers] == ["fc.weight"]


def test_pruned_weights_are_zero_where_the_mask_is(rng):
    weights, mask = rng.normal(size=(12, 20)).astype("f4"), (rng.random((12, 20)) < 0.5).astype("f4")
    found = read_checkpoint(named(OLD, {"orig": weights, "mask": mask}))
    np.testing.assert_array_equal(found["fc.weight"], np.where(mask == 1, weights, 0))
    assert [layer.name for layer in find_layers(found).layers] == ["fc.weight"]


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        (named(OLD, {"orig": np.ones((12, 9)), "u": np.ones(12)}), "without the others"),
        (named(OLD, {"orig": np.ones((12, 9))}), "without the others"),
        (named(NEW, {"v": np.ones((12, 9))}), "unknown parametrization"),
        (named(OLD, {"v": np.ones((12, 9))}), "without the others"),
        (named(OLD, {"g": np.ones((12, 1))}), "without the others"),
        (named(OLD, {"g": np.ones((12, 9)), "v": np.ones((12, 9))}), "of shape (12, 9)"),
        (named(OLD, {"g": np.ones((9, 1)), "v": np.ones((12, 9))}), "of shape (9, 1)"),
        (named(OLD, {"orig": np.ones((12, 9)), "u": np.ones(5), "v": np.ones(9)}), "of shape (5,)"),
        (named(OLD, {"orig": np.ones((12, 9)), "mask": np.ones((9, 12))}), "of shape (12, 9)"),
        (named(OLD, {"g": np.ones((12, 1)), "v": np.ones((12, 9), np.int8)}), "not all read"),
        ({"fc.parametrizations.weight.original": np.ones((12, 12))}, "unknown parametrization"),
        ({f"fc.parametrizations.weight.{part}": np.eye(12) for part in ("original", "0.base")}, "unknown parametr"),
        ({**named(NEW, {"g": np.ones((12, 1)), "v": W}), "fc.parametrizations.weight.1._u": np.ones(12)}, "unknown p"),
    ],
)
def test_what_is_not_known_is_named_and_not_guessed(arrays, reason):
    found = read_checkpoint(arrays)
    assert "fc.weight" not in found and not find_layers(found).layers
    told = reasons(found)
    assert set(told) == {*arrays} and all(reason in each and "fc.weight" in each for each in told.values())
    wide = {name for name, values in arrays.items() if sum(n > 1 for n in values.shape) > 1}
    assert {part.name for part in find_layers(found).skipped if part.weights} == wide


@pytest.mark.parametrize(
    "names",
    [
        ("attn.weight_q", "attn.weight_k", "attn.weight_v"),
        ("cell.weight_f", "cell.weight_i", "cell.weight_g"),
        ("low_rank.weight_u", "low_rank.weight_v"),
        ("fc.weight", "sparse.weight_mask"),
    ],
)
def test_matrices_whose_names_end_alike_are_left_alone(names):
    found = find_layers(read_checkpoint({name: np.eye(12) + i for i, name in enumerate(names)}))
    assert [layer.name for layer in found.layers] == [*names]


def test_a_weight_beside_its_parts_is_taken_as_it_is():
    arrays = {"fc.weight": np.eye(12), "fc.weight_g": np.ones((12, 1)), "fc.weight_v": np.ones((12, 12))}
    found = read_checkpoint(arrays)
    assert [layer.name for layer in find_layers(found).layers] == ["fc.weight"]
    np.testing.assert_array_equal(found["fc.weight"], np.eye(12))
    assert set(reasons(found)) == {"fc.weight_g", "fc.weight_v"}


def test_parts_in_two_files_are_put_together_when_they_are_read(tmp_path, rng):
    g, v = rng.uniform(1, 2, (12, 1)).astype("f4"), rng.normal(size=(12, 20)).astype("f4")
    (tmp_path / "m-1.safetensors").write_bytes(packed({"fc.weight_g": g}))
    (tmp_path / "m-2.safetensors").write_bytes(packed({"fc.weight_v": v}))
    places = {"fc.weight_g": "m-1.safetensors", "fc.weight_v": "m-2.safetensors"}
    (tmp_path / "m.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    expected = g * v / np.linalg.norm(v, axis=1, keepdims=True)
    for found in (read_checkpoint(tmp_path / "m.safetensors.index.json"), *read_folder(tmp_path).checkpoints):
        np.testing.assert_allclose(found["fc.weight"], expected, rtol=1e-6)


def test_nothing_is_read_before_it_is_asked_for():
    read = []
    checkpoint = of_arrays({"fc.weight_g": np.ones((12, 1)), "fc.weight_v": np.ones((12, 9)), "bias": np.ones(3)})
    for tensor in checkpoint.tensors.values():
        object.__setattr__(tensor, "values", lambda tensor=tensor: read.append(tensor.name) or np.ones(tensor.shape))
    found = computed(checkpoint)
    assert not read and [*found] == ["fc.weight", "fc.weight_g", "fc.weight_v", "bias"]
    assert found["fc.weight"].shape == (12, 9) and sorted(read) == ["fc.weight_g", "fc.weight_v"]


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_directions_of_any_scale(rng, scale):
    v = rng.normal(size=(12, 9))
    found = read_checkpoint({"fc.weight_g": np.ones((12, 1)), "fc.weight_v": scale * v})["fc.weight"]
    np.testing.assert_allclose(found, v / np.linalg.norm(v, axis=1, keepdims=True), rtol=1e-14)


def test_a_direction_of_zeros_is_no_number(recwarn):
    """As in PyTorch: 0/0, which is refused as every such weight is."""
    arrays = {"fc.weight_g": np.ones((12, 1)), "fc.weight_v": np.zeros((12, 12))}
    with pytest.raises(ValueError, match=all_of(["144 value(s)", "'fc.weight'"])):
        read_checkpoint(arrays)
    assert not recwarn.list


def test_the_preset_sees_what_the_tool_sees(rng):
    """WeightWatcher looks for names that end in .weight, and computes none."""
    arrays = {"fc.weight_g": np.ones((30, 1)), "fc.weight_v": rng.normal(size=(30, 20))}
    assert weightwatcher_details(read_checkpoint(arrays)).empty and weightwatcher_details(arrays).empty
    left_out = preset_table(read_checkpoint(arrays)).left_out
    assert "no tensor of that name" in left_out["fc.weight"] and "does not end in" in left_out["fc.weight_v"]
    assert {*preset_table(read_checkpoint({"fc.weight_v": np.eye(12)})).left_out} == {"fc.weight_v"}


@pytest.mark.parametrize("form", ["utils", "parametrizations"])
@pytest.mark.parametrize("how", ["weight_norm", "spectral_norm"])
@pytest.mark.filterwarnings("ignore")
def test_pytorch_says_the_same(form, how):
    torch = pytest.importorskip("torch")
    norm = getattr(torch.nn.utils if form == "utils" else torch.nn.utils.parametrizations, how)
    torch.manual_seed(0)
    made = {"linear": torch.nn.Linear(20, 12), "conv": torch.nn.Conv1d(12, 14, 3)}
    made["grown"] = torch.nn.ConvTranspose2d(6, 6, 2)
    module = torch.nn.ModuleDict({name: norm(each) for name, each in made.items()}).eval()
    if how == "weight_norm":
        with torch.no_grad():
            for name, values in module.named_parameters():
                if name.endswith(("weight_g", "original0")):
                    values.mul_(torch.exp(torch.randn(values.shape)))
    found = read_checkpoint(module)
    for name, each in made.items():
        each(torch.ones(2, each.weight.shape[1 if name != "grown" else 0], *[4] * (each.weight.ndim - 2)))
        np.testing.assert_allclose(found[f"{name}.weight"], each.weight.detach().numpy(), rtol=1e-5)


@pytest.mark.parametrize("form", ["params/attn/{}/kernel", "attn.{}.kernel", "mha/{}/kernel:0"])
@pytest.mark.parametrize("output", ["out", "attention_output"])
def test_attention_by_head_is_matrices(rng, form, output):
    """(d, heads, head_dim) and (heads, head_dim, d), as Flax and Keras store them: one matrix each, (in, out)."""
    names = {part: form.format(part) for part in ("query", "key", "value", output)}
    arrays = {name: rng.normal(size=(3, 4, 24) if part == output else (24, 3, 4)) for part, name in names.items()}
    arrays["attn/query/bias"] = np.ones((3, 4))
    found = find_layers(read_checkpoint(arrays), layout="channels-last")
    assert [(layer.name, layer.kind) for layer in found.layers] == [(name, "linear") for name in names.values()]
    for layer in found.layers:
        stored = arrays[layer.name]
        shape = (24, 12) if stored.shape[0] == 3 else (12, 24)  # (out, in)
        np.testing.assert_array_equal(layer.weights()[0], stored.reshape(shape[::-1]).T)


def test_a_convolution_that_is_called_out_stays_one():
    assert not find_layers(read_checkpoint({"query/kernel": np.ones((0, 3, 4))})).layers
    arrays = {"out/kernel": np.ones((3, 12, 24)), "query/bias": np.ones(3), "b/query/kernel": np.ones((24, 12))}
    assert find_layers(read_checkpoint(arrays), layout="channels-last").layers[0].kind == "conv1d"
