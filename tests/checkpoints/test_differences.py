"""Weights as they are used: without names of wrappers, and with adapters, the products of their pairs, on a base."""

import json
from dataclasses import replace

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, lora_products, read_checkpoint
from capcore.checkpoints.differences import difference, unwrapped, used, with_adapter
from capcore.spectra import analyse_spectra, find_layers
from tests.strategies import refused


@pytest.fixture
def pair(rng):
    return rng.normal(size=(4, 30)).astype("f4"), rng.normal(size=(20, 4)).astype("f4")


CONFIGS = [
    *(({}, 1), ({"lora_alpha": 16, "r": 4}, 4), ({"lora_alpha": 16, "use_rslora": True}, 8)),
    ({"lora_alpha": 16, "alpha_pattern": {"q_proj": 2}}, 0.5),
    ({"lora_alpha": 16, "alpha_pattern": {"proj": 2}}, 4),  # of a whole part of the name
    ({"lora_alpha": 16, "alpha_pattern": {r"layers\.\d+\.q_proj": 32, "q_proj": 2}}, 8),  # the first that fits
    ({"lora_alpha": 16, "alpha_pattern": {"model.layers.0": 32, r"^layers\.0\.q_proj": 64}}, 4),
    ({"lora_alpha": 8, "r": 8, "rank_pattern": {"q_proj": 4}}, 2),  # A has the rank of the layer
]


@pytest.mark.parametrize(("config", "scale"), CONFIGS)
def test_a_folder_of_pefts(tmp_path, rng, pair, config, scale):
    a, b = pair
    base = rng.normal(size=(20, 30)).astype("f4")
    prefix = "base_model.model.model.layers.0.q_proj"
    np.savez(tmp_path / "adapter_model.npz", **{f"{prefix}.lora_A.weight": a, f"{prefix}.lora_B.weight": b})
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    adapter = read_checkpoint(tmp_path)
    found = lora_products(adapter)
    expected = scale * b.astype(float) @ a.astype(float)
    np.testing.assert_allclose(found["model.layers.0.q_proj.weight"], expected, atol=1e-5)  # 4 products of float32
    (layer,) = find_layers(found).layers
    assert f"{scale:g}·B·A" in layer.tensor.stored
    row = analyse_spectra(found).spectra[0]
    np.testing.assert_allclose(row.rank, 4)
    whole = lora_products(adapter, read_checkpoint({"model.layers.0.q_proj.weight": base, "other": base}))
    assert [layer.name for layer in find_layers(whole).layers] == ["model.layers.0.q_proj.weight"]
    np.testing.assert_allclose(whole["model.layers.0.q_proj.weight"], base + expected, atol=1e-5)
    stored_the_other_way = lora_products(adapter, read_checkpoint({"layers.0.q_proj.weight": base.T}))
    np.testing.assert_allclose(stored_the_other_way["model.layers.0.q_proj.weight"], (base + expected).T, atol=1e-5)


def test_other_names_and_kernels(rng, pair):
    a, b = pair
    kohya = {"unet_q.lora_down.weight": a, "unet_q.lora_up.weight": b, "unet_q.alpha": np.float32(2)}
    np.testing.assert_allclose(lora_products(read_checkpoint(kohya))["unet_q.weight"], b @ a / 2, rtol=1e-5)
    table = {"wte.lora_embedding_A": a, "wte.lora_embedding_B": b}
    np.testing.assert_allclose(lora_products(read_checkpoint(table))["wte.weight"], (b @ a).T, rtol=1e-5)
    kernel = rng.normal(size=(4, 5, 3, 3)).astype("f4")
    found = lora_products(read_checkpoint({"c.lora_A.weight": kernel, "c.lora_B.weight": b[..., None, None]}))
    np.testing.assert_allclose(found["c.weight"], np.einsum("or,rihw->oihw", b, kernel), rtol=1e-4, atol=1e-5)
    assert found.tensors["c.weight"].shape == (20, 5, 3, 3)


test_adapters_that_are_none = refused(
    lambda arrays: lora_products(read_checkpoint(arrays)),
    ({"w": np.ones((2, 2))}, ["no lora_A and lora_B"]),
    ({"w.lora_A.weight": np.ones((2, 2))}, ["without 'w.lora_B.weight'"]),
    ({"w.lora_A.weight": np.ones((2, 3)), "w.lora_B.weight": np.ones((4, 3))}, ["A of (2, 3) and B of (4, 3)"]),
    error=CheckpointError,
)


def test_bases_that_do_not_fit(pair):
    a, b = pair
    arrays = {"w.lora_A.weight": a, "w.lora_B.weight": b}
    for base, part in (({"v.weight": a}, "no such layer"), ({"w.weight": a}, r"a layer of \(4, 30\)")):
        with pytest.raises(CheckpointError, match=part):
            lora_products(read_checkpoint(arrays), read_checkpoint(base))
    dora = read_checkpoint({**arrays, "w.lora_magnitude_vector": np.ones(20)})
    assert len(find_layers(lora_products(dora)).layers) == 1
    tokens = read_checkpoint({**arrays, "wte.token_adapter.trainable_tokens_delta": np.ones((3, 20))})
    for adapter in (dora, tokens):
        with pytest.raises(CheckpointError, match="DoRA or tokens"):
            lora_products(adapter, read_checkpoint({"w.weight": np.ones((20, 30))}))


def test_a_network_with_its_adapter_is_whole(rng, pair):
    """W + s·B·A where the adapter changes a layer, and W in all others, under the base's own names."""
    a, b = pair
    base = {"layers.0.q.weight": rng.normal(size=(20, 30)), "head.weight": rng.normal(size=(5, 20))}
    adapter = read_checkpoint({"model.layers.0.q.lora_A.weight": a, "model.layers.0.q.lora_B.weight": b})
    found = with_adapter(read_checkpoint(base), adapter)
    assert [layer.name for layer in find_layers(found).layers] == ["layers.0.q.weight", "head.weight"]
    np.testing.assert_allclose(found["layers.0.q.weight"], base["layers.0.q.weight"] + b @ a, atol=1e-5)
    np.testing.assert_array_equal(found["head.weight"], base["head.weight"])
    assert found.sha256 not in (adapter.sha256, read_checkpoint(base).sha256)


@pytest.mark.parametrize("wrapper", ["module.", "_orig_mod.", "state_dict."])
def test_wrappers_of_either_side_do_not_count(rng, pair, wrapper):
    a, b = pair
    base = {f"{wrapper}fc.weight": rng.normal(size=(20, 30)), f"{wrapper}fc.bias": np.ones(20)}
    adapter = read_checkpoint({"base_model.model.fc.lora_A.weight": a, "base_model.model.fc.lora_B.weight": b})
    plain = {name.removeprefix(wrapper): values for name, values in base.items()}
    np.testing.assert_allclose(difference(adapter, read_checkpoint(base))["fc.weight"], b @ a, rtol=1e-5)
    whole = used(read_checkpoint(base), adapter=adapter)
    np.testing.assert_allclose(whole["fc.weight"], plain["fc.weight"] + b @ a, atol=1e-5)
    for tuned in (read_checkpoint(base), read_checkpoint(plain)):
        assert not used(tuned, read_checkpoint(base))["fc.weight"].any()
        assert not used(tuned, read_checkpoint(plain))["fc.weight"].any()


@pytest.mark.parametrize("config", [{"fan_in_fan_out": True}, {"fan_in_fan_out": False}, {}])
def test_a_square_layer_that_is_stored_as_in_out(tmp_path, rng, config):
    """GPT-2's c_proj: its shape does not tell the order, but PEFT's configuration does."""
    a, b, base = rng.normal(size=(2, 6)), rng.normal(size=(6, 2)), rng.normal(size=(6, 6))
    conv = rng.normal(size=(2, 6, 1)), rng.normal(size=(6, 2, 1))
    prefix = "base_model.model.h.0"
    arrays = {f"{prefix}.c_proj.lora_A.weight": a, f"{prefix}.c_proj.lora_B.weight": b}
    arrays |= {f"{prefix}.conv.lora_A.weight": conv[0], f"{prefix}.conv.lora_B.weight": conv[1]}
    np.savez(tmp_path / "adapter_model.npz", **arrays)
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    network = read_checkpoint({"h.0.c_proj.weight": base, "h.0.conv.weight": np.zeros((6, 6, 1))})
    found = used(network, adapter=read_checkpoint(tmp_path))
    change = (b @ a).T if config.get("fan_in_fan_out") else b @ a
    np.testing.assert_allclose(found["h.0.c_proj.weight"], base + change, atol=1e-5)
    np.testing.assert_allclose(found["h.0.conv.weight"][..., 0], conv[1][..., 0] @ conv[0][..., 0], atol=1e-5)


def test_a_broken_pattern_is_refused(pair):
    arrays = {"fc.lora_A.weight": pair[0], "fc.lora_B.weight": pair[1]}
    adapter = replace(read_checkpoint(arrays), adapter_config={"alpha_pattern": {"fc(": 2}})
    with pytest.raises(CheckpointError, match=r"'fc\(': 2.*expected two numbers, and regular expressions"):
        lora_products(adapter)


@pytest.mark.parametrize("inside", ["", "modules_to_save.", "modules_to_save.default."])
def test_layers_that_were_trained_whole_replace_those_of_the_base(rng, pair, inside):
    a, b = pair
    base = {"model.fc.weight": rng.normal(size=(20, 30)), "score.weight": np.ones((2, 20))}
    own = rng.normal(size=(2, 20))
    arrays = {"model.model.fc.lora_A.weight": a, "model.model.fc.lora_B.weight": b, f"model.score.{inside}weight": own}
    arrays[f"model.extra.{inside}weight"] = np.eye(3)
    adapter = read_checkpoint({f"base_model.{name}": values for name, values in arrays.items()})
    found = used(read_checkpoint(base), adapter=adapter)
    assert [*found] == ["model.fc.weight", "score.weight", "extra.weight"]
    np.testing.assert_array_equal(found["score.weight"], own)
    np.testing.assert_array_equal(found["extra.weight"], np.eye(3))
    np.testing.assert_allclose(found["model.fc.weight"], base["model.fc.weight"] + b @ a, atol=1e-5)
    changes = used(adapter, read_checkpoint(base))
    np.testing.assert_array_equal(changes["score.weight"], own - 1)
    np.testing.assert_allclose(changes["model.fc.weight"], b @ a, rtol=1e-4, atol=1e-5)


def test_a_network_saved_with_its_adapter_beside_it_is_refused(rng, pair):
    """As PEFT names both. The scale is not among the weights, and the sum is not guessed."""
    a, b = pair
    prefix = "base_model.model.fc"
    arrays = {f"{prefix}.base_layer.weight": rng.normal(size=(20, 30)), f"{prefix}.lora_A.default.weight": a}
    with pytest.raises(CheckpointError, match=r"without their scale.*merge_and_unload"):
        used(read_checkpoint({**arrays, f"{prefix}.lora_B.default.weight": b}))


PLAIN = ["embed.weight", "layers.0.fc.weight", "layers.0.fc.bias"]


def renamed(*names):
    return unwrapped(read_checkpoint({name: np.full((2, 2), float(i)) for i, name in enumerate(names)}))


@pytest.mark.parametrize(
    "names",
    [
        PLAIN,
        [f"module.{name}" for name in PLAIN],
        [f"model.{name}" for name in PLAIN],
        [f"_orig_mod.{name}" for name in PLAIN],
        [f"state_dict.module._orig_mod.{name}" for name in PLAIN],
        [f"_orig_mod.module.{name}" for name in PLAIN],
        ["embed.weight", "layers.0._orig_mod.fc.weight", "layers.0._orig_mod.fc.bias"],
        ["embed.weight", *(f"layers.0._checkpoint_wrapped_module.fc.{end}" for end in ("weight", "bias"))],
    ],
)
def test_every_wrapping_gives_the_plain_names(names):
    found = renamed(*names)
    assert [*found] == [tensor.name for tensor in found.tensors.values()] == PLAIN
    assert [found[name][0, 0] for name in PLAIN] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "names",
    [
        ["module.fc.weight", "head.weight"],  # a part that is called so
        ["model.embed_tokens.weight", "model.layers.0.fc.weight"],  # as language models have it
        ["my_orig_mod.fc.weight"],
        ["module."],
        ["a._orig_mod.w", "a.w"],  # would become equal
    ],
)
def test_names_of_layers_stay(names):
    assert [*renamed(*names)] == names


def test_what_shares_its_memory_still_does():
    table = np.ones((3, 3))
    found = unwrapped(read_checkpoint({"module.wte.weight": table, "module.head.weight": table}))
    assert [layer.name for layer in find_layers(found).layers] == ["wte.weight"]
