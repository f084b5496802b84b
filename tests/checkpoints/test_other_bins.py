"""``.bin`` files of other programs are refused for what they are, in one line, with PyTorch or without."""

import json
import struct

import numpy as np
import pytest

from capcore.checkpoints.other_bins import written_elsewhere
from capcore.spectra import CheckpointError, read_checkpoint, read_folder


def ctranslate2(version=6, name=b"TransformerSpec\0"):
    """The head of a model as CTranslate2 writes it: version, length and name of the specification, its revision."""
    return struct.pack("<IH", version, len(name)) + name + struct.pack("<II", 7, 3) + bytes(200)


def test_a_model_of_ctranslate2(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(ctranslate2())
    with pytest.raises(CheckpointError, match=r"found a model of CTranslate2, .* converted from\.$") as said:
        read_checkpoint(path)
    assert len(str(said.value).splitlines()) == 1 and "execute code" not in str(said.value)


def test_weights_of_tensorflow_js(tmp_path):
    """One refusal for all parts: only the first is looked at."""
    for i in (1, 2, 3):
        (tmp_path / f"group1-shard{i}of3.bin").write_bytes(np.ones(50, "f4").tobytes())
    (tmp_path / "model.json").write_text(json.dumps({"weightsManifest": []}))
    found = read_folder(tmp_path)
    assert [*found.refused] == ["group1-shard1of3.bin"]
    with pytest.raises(CheckpointError, match=r"TensorFlow\.js"):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02}q\x00.",
        b"PK\x03\x04" + bytes(60),
        b"x",
        ctranslate2(0),
        ctranslate2(6, b"a b\0"),
        ctranslate2(6, b""),
    ],
)
def test_other_files_are_not_taken_for_these(tmp_path, content):
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(content)
    assert written_elsewhere(path) == ""
