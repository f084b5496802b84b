"""Original files: found, fetched from a server on this machine, checked, and never executed."""

import hashlib
import pickle
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, read_checkpoint
from chapters.shared import resnets
from chapters.shared.resnets import HOST, SOURCES, NetworkSource
from chapters.spectra_resnets import experiment, files
from chapters.spectra_resnets.files import PLACEHOLDERS


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that a server on this machine serves in place of the original one."""
    pytest.importorskip("pooch")
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(resnets, "HOST", f"http://127.0.0.1:{server.server_address[1]}")
    yield folder
    server.shutdown()
    server.server_close()


def source_of(content, weights="", **changes):
    digest = hashlib.sha256(content).hexdigest()
    made = NetworkSource(
        "toy", "series", "some/one", "a" * 40, "nets/toy.npz", "MIT", "LICENSE", digest, 3, weights, 9.0
    )
    return replace(made, **changes)


def place(folder, source, content):
    path = folder / source.repository / source.commit / source.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_a_file_is_fetched_once_and_checked(folder, tmp_path):
    source = source_of(b"abc")
    place(folder, source, b"abc")
    path = files.fetch_file(source, tmp_path / "cache")
    assert path.read_bytes() == b"abc" and path.name == "toy.npz"
    place(folder, source, b"other")  # what lies in the cache and is right is not fetched again
    assert files.fetch_file(source, tmp_path / "cache") == path


def test_another_file_is_refused_and_not_kept(folder, tmp_path):
    source = source_of(b"abc")
    place(folder, source, b"abd")
    with pytest.raises(CheckpointError, match=r"does not match the known hash.* Nothing of it was kept"):
        files.fetch_file(source, tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("there", [True, False])
def test_a_server_that_does_not_answer(folder, tmp_path, there, monkeypatch):
    if not there:
        monkeypatch.setattr(resnets, "HOST", "http://127.0.0.1:9")  # a port that nobody listens on
    with pytest.raises(CheckpointError, match=r"could not be fetched .* use --folder"):
        files.fetch_file(source_of(b"abc"), tmp_path)


def test_files_are_found_below_a_folder(tmp_path):
    source = replace(SOURCES["dense"], path="a/net.pth.tar")
    with pytest.raises(CheckpointError, match=r"neither net\.pth\.tar nor net\.safetensors"):
        files.find_file(source, tmp_path)
    below = tmp_path / "below"
    below.mkdir()
    for name in ("net_finetuned.safetensors", "net.pth.tar"):
        (below / name).touch()
    assert files.find_file(source, tmp_path).name == "net.pth.tar"
    (below / "net.safetensors").touch()
    assert files.find_file(source, tmp_path).name == "net.safetensors"


def test_a_conversion_must_hold_the_same_weights(tmp_path):
    path = tmp_path / "toy.npz"
    np.savez(path, **{"module.fc": np.eye(3)})
    right = source_of(b"", files.weights_hash(read_checkpoint({"fc": np.eye(3, dtype="f4")})))
    assert [*files.read_network(right, path)] == ["module.fc"]
    with pytest.raises(CheckpointError, match=r"found weights with SHA-256 .* expected 000000000000…"):
        files.read_network(replace(right, weights_sha256="0" * 64), path)


def test_names_shapes_and_values_decide_the_hash_of_weights():
    base = {"a": np.eye(2), "b": np.ones((2, 3)), "a.bias": np.ones(2)}
    result = files.weights_hash(read_checkpoint(base))
    assert result == files.weights_hash(read_checkpoint({"b": base["b"], "module.a": base["a"]}))
    for changed in ({"a": 2 * np.eye(2)}, {"b": np.ones((3, 2))}, {"c": np.eye(2)}):
        assert result != files.weights_hash(read_checkpoint({**base, **changed}))


class Trap:
    def __reduce__(self):
        return (exec, ("raise SystemExit('executed')",))


def test_an_original_with_another_hash_is_not_opened(tmp_path):
    path = tmp_path / "net.pth.tar"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(CheckpointError, match="It was not opened"):
        files.read_network(replace(SOURCES["dense"], path="net.pth.tar"), path)


def test_placeholders_stand_for_two_classes_and_no_others(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: an optional extra")

    def saved(module, name):
        kind = type(name, (), {"__module__": module, "__reduce__": lambda self: (kind, (), {"lr": 1})})
        with pytest.MonkeyPatch.context() as patch:
            parts = module.split(".")
            for i in range(len(parts)):
                patch.setitem(__import__("sys").modules, ".".join(parts[: i + 1]), type("m", (), {name: kind})())
            torch.save({"state_dict": {"fc": torch.eye(2)}, "more": kind()}, path)

    path = tmp_path / "net.pth"
    for known in PLACEHOLDERS:
        module, name = known.rsplit(".", 1)
        if module.startswith("distiller"):
            saved(module, name)
            with pytest.raises(CheckpointError, match=known):
                read_checkpoint(path)
            with files.placeholders():
                assert [*read_checkpoint(path)] == ["fc"]
    saved("distiller.thinning", "SomethingElse")
    with files.placeholders(), pytest.raises(CheckpointError, match="SomethingElse"):
        read_checkpoint(path)
    torch.save({"state_dict": {"fc": torch.eye(2)}, "more": Trap()}, path)
    with files.placeholders(), pytest.raises(CheckpointError, match="exec"):
        read_checkpoint(path)


def test_every_source_is_pinned():
    assert len(SOURCES) == 11
    for key, source in SOURCES.items():
        assert key == source.key and len(source.commit) == 40
        assert len(source.sha256) == len(source.weights_sha256) == 64
        assert source.address() == f"{HOST}/{source.repository}/{source.commit}/{source.path}"
    assert len({source.sha256 for source in SOURCES.values()}) == 11


def test_the_command_shows_licences_before_it_asks(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("builtins.input", lambda prompt: "n")
    monkeypatch.setattr(experiment, "fetch_file", lambda *_, **__: pytest.fail("fetched without being asked to"))
    assert experiment.main(["--cache", str(tmp_path)]) == 1
    result = capsys.readouterr()
    assert "Apache-2.0" in result.out and "BSD-2-Clause" in result.out and "Nothing was fetched" in result.err


def test_the_command_says_in_one_message_what_is_missing(capsys, tmp_path):
    assert experiment.main(["--folder", str(tmp_path)]) == 1
    result = " ".join(capsys.readouterr().err.split())  # long paths move the line breaks
    assert "found neither resnet20-12fca82f.th nor" in result
