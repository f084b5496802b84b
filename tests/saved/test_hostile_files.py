"""Files of results that are hostile or damaged: one clear error each, and nothing executed."""

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy

import capcore as cc
from capcore.checkpoints import headed
from capcore.checkpoints.tensors import CheckpointError
from tests.saved.conftest import same
from tests.strategies import all_of


def rewritten(file, change):
    """The file with its header changed, and the other members as they are."""
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "header"}
        header = json.loads(archive["header"].tobytes())
    change(header)
    headed.write_headed(file, header, arrays)


def put(*path, to):
    def change(header):
        for name in path[:-1]:
            header = header[name]
        header[path[-1]] = to

    return change


FIELDS = ("result", "fields")
CHANGES = {
    "a later version": put("version", to=2),
    "no version": put("version", to=None),
    "another format": put("format", to="other"),
    "another kind": put("kind", to="Popen"),
    "a kind that is not the result's": put("kind", to="Fit"),
    "a record out of the list": put(*FIELDS, "details", to={"record": "Popen", "fields": {"args": "true"}}),
    "a record by its path": put(*FIELDS, "details", to={"record": "os.system", "fields": {}}),
    "a model out of the list": put(*FIELDS, "arch", to={"model": "Function", "arguments": {"function": "print"}}),
    "a model with other arguments": put(*FIELDS, "arch", "arguments", to={"channels": 2}),
    "a model that cannot be": put(*FIELDS, "arch", "arguments", "channels", to=-1),
    "a model of any size": put(*FIELDS, "arch", "arguments", "channels", to=10**18),
    "another model": put(*FIELDS, "arch", "arguments", "dilations", to=[1, 2, 4, 16]),
    "no model": put(*FIELDS, "arch", to="Hierarchical"),
    "a field too many": put(*FIELDS, "more", to=1),
    "a field of another type": put(*FIELDS, "total", to="16"),
    "a truth for a number": put(*FIELDS, "total", to=True),
    "a number for an array": put(*FIELDS, "per_octave", to=1.0),
    "an array that is not there": put(*FIELDS, "per_octave", to={"array": "absent"}),
    "another array": put(*FIELDS, "per_octave", to={"array": "allocation.edges"}),
    "an array named by a list": put(*FIELDS, "per_octave", to={"array": ["header"]}),
    "an entry of another form": put(*FIELDS, "method", to={"eval": "print(1)"}),
    "a form with more": put(*FIELDS, "method", to={"tuple": [], "eval": 1}),
    "a mapping of numbers": put(*FIELDS, "method", to={"mapping": [[1, 2]]}),
    "a mapping of threes": put(*FIELDS, "method", to={"mapping": [["a", 1, 2]]}),
    "a slice of texts": put(*FIELDS, "method", to={"slice": ["a", "b", None]}),
    "no such number": put(*FIELDS, "error", to={"number": "__import__('os')"}),
    "a result that is a list": put("result", to=[]),
    "a record within records": put("result", to={"record": "Allocation", "fields": []}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_header_that_was_tampered_with_is_refused(change, file):
    rewritten(file, lambda header: None)
    cc.load(file)
    rewritten(file, CHANGES[change])
    with pytest.raises(CheckpointError, match=all_of([str(file), "found", "."])) as refusal:
        cc.load(file)
    assert len(str(refusal.value)) < 1000


def member(values):
    buffer = io.BytesIO()
    npy.write_array(buffer, np.asarray(values), allow_pickle=True)
    return buffer.getvalue()


def stated(shape, dtype="<f8"):
    """A member that states a shape and has no values."""
    buffer = io.BytesIO()
    npy.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


class Trap:
    def __reduce__(self):
        return os.system, ("touch executed",)


def nested(depth):
    return np.frombuffer(('{"format": ' + "[" * depth + "]" * depth + "}").encode(), np.uint8)


HOSTILE = {
    "other arrays": lambda: {"a.npy": member(np.ones(3))},
    "a pickled header": lambda: {"header.npy": member(np.array([Trap()], object))},
    "a header of floats": lambda: {"header.npy": member(np.ones(3))},
    "a header that is a table": lambda: {"header.npy": member(np.ones((3, 3), np.uint8))},
    "a header that is no JSON": lambda: {"header.npy": member(np.frombuffer(b"{'a': 1}", np.uint8))},
    "a header that is a list": lambda: {"header.npy": member(np.frombuffer(b"[]", np.uint8))},
    "a header with NaN": lambda: {"header.npy": member(np.frombuffer(b'{"format": NaN}', np.uint8))},
    "a header nested deeply": lambda: {"header.npy": member(nested(100_000))},
    "a header of any length": lambda: {"header.npy": stated((2**50,), "|u1")},
    "a header of no file's length": lambda: {"header.npy": stated((2**62, 2**62), "|u1")},
    "a header stored as text": lambda: {"header": b"{}"},
    "no members": dict,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in HOSTILE[name]().items():
            archive.writestr(each, content)
    with pytest.raises(CheckpointError, match=all_of(["x.npz", "found"])):
        cc.load("x.npz")
    assert os.listdir() == ["x.npz"]


def test_pickled_arrays_and_shapes_that_no_file_has_are_refused(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    with zipfile.ZipFile(file) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for bad in (member(np.array([Trap()], object)), stated((2**40,)), stated((2**62, 2**62)), b"\x93NUMPY\x09\x00"):
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in {**members, "allocation.per_octave.npy": bad}.items():
                archive.writestr(name, content)
        with pytest.raises(CheckpointError, match=r"result\.npz"):
            cc.load(file)
    assert os.listdir() == ["result.npz"]


def test_an_archive_that_expands_to_far_more_than_its_size_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", stated((2**29,), "|u1") + bytes(2**29))
    with pytest.raises(CheckpointError, match="expands to"):
        cc.load(tmp_path / "bomb.npz")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty"), (b"PK", "zip"), (pickle.dumps(Trap()), "zip"), (b"\x93NUMPY", "zip"), (None, "no such file")],
)
def test_what_is_no_archive_is_refused(content, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match=said):
        cc.load(path)
    with pytest.raises(CheckpointError, match="not a file"):
        cc.load(tmp_path)
    assert not (tmp_path / "executed").exists()


def test_truncated_files_are_refused(file):
    content = file.read_bytes()
    for end in range(1, len(content), 61):
        file.write_bytes(content[:end])
        with pytest.raises(CheckpointError):
            cc.load(file)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_changed_bytes_are_refused_or_change_nothing(data):
    content = bytearray(CONTENT)
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path = DRAFTS / "changed.npz"
    path.write_bytes(content)
    try:
        loaded = cc.load(path)
    except CheckpointError:
        return
    assert same(loaded, REFERENCE)  # a date, a comment, or what else no reader looks at


@pytest.fixture(scope="module", autouse=True)
def _reference(results, tmp_path_factory):
    global CONTENT, REFERENCE, DRAFTS
    DRAFTS = tmp_path_factory.mktemp("changed")
    REFERENCE = results["allocation by octaves"]
    REFERENCE.save(DRAFTS / "one.npz")
    CONTENT = (DRAFTS / "one.npz").read_bytes()


def test_loading_among_hostile_modules_executes_none(results, tmp_path):
    """Nor does it load what the numbers do not need."""
    for name in ("numpy", "capcore", "pandas", "matplotlib", "zipfile", "json", "Popen", "Fit", "header"):
        (tmp_path / f"{name}.py").write_text(f"open('executed by {name}', 'w')\n", "utf8")
    results["network"].save(tmp_path / "network.npz")
    results["fit by gauss-newton"].save(tmp_path / "fit.npz")
    program = (
        "import sys, capcore; print(capcore.load('fit.npz').method, capcore.load('network.npz').method, "
        "*{'jax', 'pandas', 'matplotlib'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["gauss-newton", "dense"]
    assert not [name for name in os.listdir(tmp_path) if name.startswith("executed")]
