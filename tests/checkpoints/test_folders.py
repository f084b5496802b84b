"""Folders as model hubs and training scripts leave them: one network, by its name, and nothing twice."""

import json

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, read_checkpoint, read_folder
from capcore.spectra import find_layers
from tests.checkpoints.crafted import packed
from tests.strategies import all_of

RNG = np.random.default_rng(0)
WEIGHTS = {f"layers.{i}.weight": RNG.normal(size=(12, 16)).astype("f4") for i in range(4)}
BESIDE = ("training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth", "rng_state_3.pth", "scaler.pt")


@pytest.fixture
def hub(tmp_path):
    """A folder with two shards, their index, and what stands beside them after training."""
    folder = tmp_path / "my-model"
    folder.mkdir()
    names = [*WEIGHTS]
    halves = {"model-00001-of-00002.safetensors": names[:2], "model-00002-of-00002.safetensors": names[2:]}
    for file, part in halves.items():
        (folder / file).write_bytes(packed({name: WEIGHTS[name] for name in part}))
    weight_map = {name: file for file, part in halves.items() for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    for name in BESIDE:
        (folder / name).write_bytes(b"never looked at")
    for name in ("config.json", "tokenizer.json", "tokenizer.model", "README.md", "events.out.tfevents.1"):
        (folder / name).write_text("{}")
    return folder


def test_a_folder_of_a_hub_is_one_network_under_its_name(hub):
    found = read_folder(hub)
    assert [each.name for each in found.checkpoints] == ["my-model"] and not found.refused
    again = read_checkpoint(hub)
    assert {*again} == {*WEIGHTS} and again.name == "my-model" and len(again.parts) == 2
    assert again.sha256 == found.checkpoints[0].sha256 == read_checkpoint(hub / "model.safetensors.index.json").sha256
    for name, weights in WEIGHTS.items():
        np.testing.assert_array_equal(again[name], weights)


SHARDS = ("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin", "pytorch_model.bin.index.json")


@pytest.mark.parametrize("twin", [("pytorch_model.bin",), ("consolidated.00.pth",), SHARDS])
def test_the_same_weights_in_pytorchs_format_are_left_alone(hub, twin):
    for name in twin:
        (hub / name).write_text(json.dumps({"weight_map": {"a": twin[0], "b": twin[1]}}) if "json" in name else "x")
    assert [each.name for each in read_folder(hub).checkpoints] == ["my-model"]


def test_parts_without_their_index_are_joined(hub):
    (hub / "model.safetensors.index.json").unlink()
    assert {*read_checkpoint(hub)} == {*WEIGHTS}
    (hub / "model-00002-of-00002.safetensors").unlink()
    (refusal,) = read_folder(hub).refused.values()
    assert "found no model-00002-of-00002.safetensors" in refusal


def test_shards_of_pytorchs(tmp_path):
    torch = pytest.importorskip("torch")
    names = [*WEIGHTS]
    parts = {"pytorch_model-00001-of-00002.bin": names[:1], "pytorch_model-00002-of-00002.bin": names[1:]}
    for file, part in parts.items():
        torch.save({name: torch.tensor(WEIGHTS[name]) for name in part}, tmp_path / file)
    weight_map = {name: file for file, part in parts.items() for name in part}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": weight_map}))
    torch.save({"state": {0: {"exp_avg": torch.ones(9, 9)}}, "param_groups": []}, tmp_path / "adam.pt")
    torch.save({"step": 3}, tmp_path / "trainer_state.pt")
    found = read_folder(tmp_path)
    assert not found.refused
    (checkpoint,) = found.checkpoints
    assert checkpoint.name == tmp_path.name and len(checkpoint.parts) == 2 and {*checkpoint} == {*WEIGHTS}
    assert {*read_checkpoint(tmp_path / "pytorch_model.bin.index.json")} == {*WEIGHTS}


def test_a_folder_that_holds_no_network(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save({"step": 3}, tmp_path / "state.pt")
    with pytest.raises(CheckpointError, match="no file of weights among 1"):
        read_folder(tmp_path)


def test_an_embedding_that_is_stored_twice_is_one(tmp_path):
    table = RNG.normal(size=(200, 12)).astype("f4")
    tied = {"model.embed_tokens.weight": table, "lm_head.weight": table}
    for arrays, expected in ((tied, 1), ({**tied, "lm_head.weight": table + np.eye(200, 12, dtype="f4")}, 2)):
        path = tmp_path / "model.safetensors"
        path.write_bytes(packed(arrays))
        found = find_layers(read_checkpoint(path))
        assert len(found.layers) == expected
        assert all("stored twice" in skipped.reason and not skipped.weights for skipped in found.skipped)


@pytest.mark.parametrize("text", ["{", "[]", "1", '{"quantization_config": 3}'])
def test_a_configuration_that_lies(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    np.savez(tmp_path / "model.npz", w=np.ones((3, 3), np.int8))
    if text == "{":
        with pytest.raises(CheckpointError, match=r"config\.json"):
            read_checkpoint(tmp_path / "model.npz")
    else:
        assert len(read_checkpoint(tmp_path / "model.npz")) == 1


def test_a_path_that_is_no_file(tmp_path):
    with pytest.raises(CheckpointError, match=all_of(["no such file or folder", "model hub"])):
        read_checkpoint("meta-llama/Llama-3.1-8B")
    (tmp_path / "a.zip").write_bytes(b"x")
    with pytest.raises(CheckpointError, match=r"found the suffix '\.zip'.*numpy\.savez"):
        read_checkpoint(tmp_path / "a.zip")


FOREIGN = {
    (".metadata", "__0_0.distcp"): ["distributed checkpoint of PyTorch", "dcp_to_torch"],
    ("zero_to_fp32.py", "latest"): ["DeepSpeed", "zero_to_fp32.py"],
    ("global_step10/mp_rank_00_model_states.pt",): ["DeepSpeed"],
    ("_METADATA", "_sharding", "ocdbt.process_0/d/x"): ["Orbax", "numpy.savez"],
    ("manifest.ocdbt",): ["Orbax"],
    ("1/_CHECKPOINT_METADATA", "2/_CHECKPOINT_METADATA"): ["Orbax"],
    ("models--a--b/snapshots/1234/model.safetensors",): ["cache of a model hub", "models--a--b/snapshots/1234."],
    (".zarray", "0.0"): ["Zarr"],
    ("zarr.json", "c/0/0"): ["Zarr"],
    ("blobs/abc", "refs/main", "snapshots/1234/model.safetensors"): ["cache of a model hub", "snapshots/1234."],
}


@pytest.mark.parametrize("names", FOREIGN)
@pytest.mark.parametrize("read", [read_checkpoint, read_folder])
def test_folders_of_other_forms_are_refused_by_name(tmp_path, names, read):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=all_of(FOREIGN[names])):
        read(tmp_path)


@pytest.mark.parametrize(("name", "part"), [("a.pt2", "torch.export.load"), ("__0_0.distcp", "dcp_to_torch")])
def test_files_of_other_forms_are_refused_by_name(tmp_path, name, part):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(CheckpointError, match=part):
        read_checkpoint(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "method", "form"),
    [
        ("fc.weight", "", "MLX"),
        ("fc.q_perm", "", "EXL2"),
        ("fc.W_q", "", "HQQ"),
        ("fc.weight._data", "", "Quanto"),
        ("fc.weight:qdata", "", "torchao"),
        *(("fc.weight", method, method) for method in ("exl2", "hqq", "quanto", "torchao")),
    ],
)
def test_quantised_forms_are_refused_by_name(tmp_path, name, method, form):
    """Their scales are matrices of numbers, which would be taken for layers."""
    kind = np.uint32 if form == "MLX" else np.uint8
    parts = {"fc.scales": np.ones((12, 12)), "fc.biases": np.ones((12, 12))}
    np.savez(tmp_path / "model.npz", **{name: np.ones((12, 12), kind)}, **parts)
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {"quant_method": method}}))
    with pytest.raises(CheckpointError, match=rf"(?i)weights quantised by {form}.*dequantised"):
        read_checkpoint(tmp_path)


def test_names_of_other_forms_do_not_count_for_plain_numbers():
    """Hand-written attention has a W_q, too."""
    found = read_checkpoint({"attn.W_q": np.ones((12, 12)), "step": np.zeros(3, np.int32)})
    assert [layer.name for layer in find_layers(found).layers] == ["attn.W_q"]
