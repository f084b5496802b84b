"""Files are written whole or not at all; pipes, devices and links stay what they are."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from capcore.commands.outcome import write_whole


def test_a_pipe_is_written_into(tmp_path):
    pipe, found = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"text")
    reader.join(10)
    assert found == [b"text"] and pipe.is_fifo() and os.listdir(tmp_path) == ["pipe.csv"]


def test_a_device_stays_one():
    write_whole(Path(os.devnull), b"text")
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize("mode", ["pipe", "file"])
def test_standard_output(tmp_path, mode):
    code = "from pathlib import Path; from capcore.commands.outcome import write_whole"
    code = f"print('before', flush=True); {code}; write_whole(Path('/dev/stdout'), b'text')"
    with open(tmp_path / "out", "a") as file:
        where = subprocess.PIPE if mode == "pipe" else file
        done = subprocess.run([sys.executable, "-P", "-c", code], stdout=where, check=True, timeout=60)
    assert (done.stdout or (tmp_path / "out").read_bytes()).endswith(b"text")


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.csv", tmp_path / "link.csv"
    for before in (None, b"before"):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        if before:
            target.write_bytes(before)
        write_whole(link, b"text")
        assert link.is_symlink() and target.read_bytes() == b"text" and os.listdir(target.parent) == ["target.csv"]


def test_an_error_names_the_path_that_was_given(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "out.csv", tmp_path / "no" / "out.csv", tmp_path / ("x" * 300)):
        with pytest.raises(ValueError, match="cannot be written") as error:
            write_whole(path, b"text")
        assert str(error.value).startswith(f"{path}: cannot be written (") and ".capcore" not in str(error.value)
    assert os.listdir(tmp_path) == ["file"]


def test_a_writer_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_bytes(b"before")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(ValueError, match=r"out\.csv: cannot be written \(No space left\)"):
        write_whole(path, b"text")
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["out.csv"]
