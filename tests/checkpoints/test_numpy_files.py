"""NumPy's files: no pickles, no sizes taken on trust, and nothing but a CheckpointError on what is damaged."""

import hashlib
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from capcore.checkpoints import CheckpointError, files, of_arrays
from capcore.checkpoints.files import ALWAYS, File
from capcore.checkpoints.opening import read_file
from tests.checkpoints import corpus
from tests.strategies import all_of


def claiming(shape, values=bytes(8)):
    """An npy file that claims a shape."""
    return corpus.claiming(corpus.SAY % shape, values)


def archive(path, members, **options):
    path.write_bytes(corpus.zipped(members, **options))
    return path


numbers = st.sampled_from([np.float64, np.float32, np.float16, np.int32, np.bool_])


@given(array=numbers.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=0, min_side=0))), fortran=st.booleans())
def test_what_was_written_is_read(array, fortran, tmp_path_factory):
    folder = tmp_path_factory.mktemp("read")
    array = np.asfortranarray(array) if fortran else array
    np.save(folder / "weights.npy", array)
    np.savez(folder / "a.npz", weights=array)
    np.savez_compressed(folder / "b.npz", weights=array)
    for found in (read_file(folder / "weights.npy"), read_file(folder / "a.npz"), read_file(folder / "b.npz")):
        assert found.tensors["weights"].shape == array.shape
        assert found["weights"].dtype == array.dtype
        np.testing.assert_array_equal(found["weights"], array)


def test_an_archive_is_read_array_by_array(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"w{i}": np.ones(2**17) for i in range(20)})
    tracemalloc.start()
    found = read_file(tmp_path / "a.npz")
    for name in found:
        found[name].sum()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20  # an array is one MiB


def test_a_bomb_is_refused_before_it_goes_off(tmp_path):
    """Sixteen megabytes of zeros, written once, and named by twenty entries of the directory: 320 MB out of 16 kB."""
    path = tmp_path / "a.npz"
    data = claiming("(2097152,)", bytes(2**24))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("w.npy", data)
        first = file.infolist()[0]
        for i in range(20):
            again = zipfile.ZipInfo(f"w{i}.npy")
            for field in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(again, field, getattr(first, field))
            file.filelist.append(again)
    tracemalloc.start()
    with pytest.raises(CheckpointError, match=all_of(["expand to", f"at most {ALWAYS}", "without compression"])):
        read_file(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_what_expands_as_weights_do_is_read_however_large(tmp_path, monkeypatch):
    """Beyond what every archive may have, a share of the file's size decides: noise does not shrink, zeros do."""
    monkeypatch.setattr(files, "ALWAYS", 1000)
    noise = np.random.default_rng(0).normal(size=1000)
    path = archive(tmp_path / "a.npz", [("w.npy", corpus.npy(noise))], compression=zipfile.ZIP_DEFLATED)
    np.testing.assert_array_equal(read_file(path)["w"], noise)
    archive(path, [("w.npy", corpus.npy(np.zeros(10**6)))], compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(CheckpointError, match=f"at most {files.EXPANSION * path.stat().st_size}"):
        read_file(path)


def test_a_member_that_is_longer_than_it_says(tmp_path):
    """The directory states 24 bytes of values, the stream holds a million: no more than stated is taken out."""
    path = archive(tmp_path / "a.npz", [("w.npy", claiming("(3,)", bytes(10**6)))], compression=zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02") + 24
    stated = struct.unpack("<I", data[at : at + 4])[0]
    data[at : at + 4] = struct.pack("<I", stated - 10**6 + 24)
    path.write_bytes(data)
    with pytest.raises(CheckpointError):
        read_file(path)["w"]


def test_two_arrays_of_a_name(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = archive(tmp_path / "a.npz", [("w.npy", claiming("(1,)"))] * 2)
    with pytest.raises(CheckpointError, match="two tensors 'w'"):
        read_file(path)


def test_what_is_no_number_is_listed(tmp_path):
    np.savez(tmp_path / "a.npz", names=np.array(["a", "b"]), z=np.ones(2, complex), w=np.ones(2))
    archive(tmp_path / "b.npz", [("readme.txt", "hello"), ("w.npy", claiming("(1,)"))])
    found = read_file(tmp_path / "a.npz")
    assert [tensor.name for tensor in found.tensors.values() if tensor.is_real] == ["w"]
    for name, reason in (("names", "Not real numbers"), ("z", "Complex numbers: save the real")):
        with pytest.raises(CheckpointError, match=reason):
            found[name]
    assert not read_file(tmp_path / "b.npz").tensors["readme.txt"].is_real


@pytest.mark.parametrize("order", ["C", "F"])
def test_two_bytes_of_no_type_are_bfloat16(tmp_path, order):
    """As ``numpy.savez`` stores bfloat16 of JAX."""
    words = np.array([[0x3FC0, 0xC000, 0], [0x4000, 0x7F80, 0x3F80]], np.uint16, order=order)
    np.savez(tmp_path / "a.npz", w=words.view("V2"))
    np.save(tmp_path / "b.npy", words.view("V2"))
    expected = [[1.5, -2.0, 0.0], [2.0, np.inf, 1.0]]
    for found in (read_file(tmp_path / "a.npz").tensors["w"], read_file(tmp_path / "b.npy").tensors["b"]):
        assert (found.dtype, found.is_real, found.read().tolist()) == ("bfloat16", True, expected)
    assert of_arrays({"w": words.view("V2")})["w"].tolist() == expected
    np.savez(tmp_path / "c.npz", w=np.zeros((3, 3), "V1"))
    assert read_file(tmp_path / "c.npz").tensors["w"].unread


def test_bfloat16_of_jax(tmp_path):
    jax = pytest.importorskip("jax")
    values = jax.numpy.arange(-8, 8, dtype="bfloat16").reshape(4, 4) / 4
    np.savez(tmp_path / "a.npz", w=values)
    np.testing.assert_array_equal(read_file(tmp_path / "a.npz")["w"], values.astype("float32"))


@pytest.mark.parametrize("how", ["deleted", "longer", "replaced", "touched"])
def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch, how):
    """Once its bytes are there and before they are handed on: what they say may be of no file that ever was."""
    path, other = tmp_path / "a.npy", tmp_path / "other"
    np.save(path, np.ones(3))
    file, read = File(path), np.fromfile
    changes = {
        "deleted": path.unlink,
        "longer": lambda: path.write_bytes(path.read_bytes() + b"x"),
        "replaced": lambda: other.replace(path),
        "touched": lambda: os.utime(path, ns=(file.state[1] + 1, file.state[1] + 1)),
    }
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(file.state[1], file.state[1]))

    def changing(*arguments, **options):
        found = read(*arguments, **options)
        changes[how]()
        return found

    monkeypatch.setattr("capcore.checkpoints.files.np.fromfile", changing)
    with pytest.raises(CheckpointError, match="cannot be read" if how == "deleted" else "changed while it was read"):
        file.read(0, 8)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 20])
def test_the_hash_is_of_all_bytes(tmp_path, size):
    (tmp_path / "a").write_bytes(bytes(range(1, size + 1)))
    assert File(tmp_path / "a").digest() == {"a": hashlib.sha256(bytes(range(1, size + 1))).hexdigest()}
