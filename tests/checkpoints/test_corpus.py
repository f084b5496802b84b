"""Every file of the corpus ends in an answer or a message, in bounded time and memory, and nothing is executed."""

import os
import threading
import time
import tracemalloc

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, lora_products, read_checkpoint
from capcore.spectra import SpectraOptions, analyse_spectra
from tests.checkpoints.corpus import CANARY, CASES, SLOW

SECONDS = 30.0  # of CPU time, of which most take a hundredth: room for a machine that does other work
MEMORY = 2**28  # bytes
MEMORY_OF_SLOW = 3 * 2**30  # a header may be 100 MB, and JSON of a million names takes twenty times as much


LYING = ("a cut ", "a length ", "a header ", "a entry ", "a name ", "a part ", "a overlap", "a hole", "a trailing")
LYING += ("d npy ", "d npz ", "c ")
"""Kinds of files that are refused, but for those that are valid all the same."""
TRUE = {
    "a length 176", "a header empty", "a header metadata list", "a header metadata number", "a name 7",
    "d npy unicode", "d npy void", "d npy date", "d npy record", "d npz good", "d npz text", "d npz other", "c right",
    "a entry floats", "d npy axes", "d npz traversal",
}  # fmt: skip


def answer(path):
    """What is found, or the message."""
    try:
        checkpoint = read_checkpoint(path, non_finite="keep")
        if sum(tensor.size for tensor in checkpoint.tensors.values()) > 2**24:
            return checkpoint
        report = analyse_spectra(checkpoint, SpectraOptions(alternatives=()))
        named = {row.layer for row in report.spectra} | {part.name for part in (*report.skipped, *report.not_layers)}
        assert {*checkpoint} <= named | {name.rsplit("[", 1)[0] for name in named}
        if any("lora_" in name for name in checkpoint):
            lora_products(checkpoint)["v.weight"]
        return report
    except CheckpointError as error:
        return error


def test_there_are_as_many_as_were_tried_by_hand():
    assert len(CASES) >= 247


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES])
def test_an_answer_or_a_message(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = CASES[name](tmp_path)
    there = sorted(os.listdir(tmp_path))
    begin = time.process_time()
    tracemalloc.start()
    try:
        found = answer(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if isinstance(found, CheckpointError):
        assert str(found).isprintable() and "found" in str(found)
    else:
        assert not name.startswith(LYING) or name in TRUE
    assert time.process_time() - begin < (10 if name in SLOW else 1) * SECONDS
    assert peak < (MEMORY_OF_SLOW if name in SLOW else MEMORY)
    assert sorted(os.listdir(tmp_path)) == there and not (tmp_path / CANARY).exists()


@pytest.mark.parametrize("end", [0, 100, 40_000])
def test_a_file_that_shrinks_while_it_is_read(tmp_path, end):
    """Cut short between the header and the values: a message, and the process lives on."""
    path = tmp_path / "w.npy"
    np.save(path, np.ones((300, 400)))
    checkpoint = read_checkpoint(path)
    os.truncate(path, end)
    with pytest.raises(CheckpointError, match="changed while it was read"):
        checkpoint["w"]
    with pytest.raises(CheckpointError):  # its hash cannot be told either
        analyse_spectra(checkpoint)


def test_a_file_that_is_written_while_it_is_read(tmp_path):
    """As beside a training that goes on: what is read is one state of the file, or a message."""
    path = tmp_path / "w.npy"
    arrays = [np.full((200, 300), float(i)) for i in range(3)]
    stop = threading.Event()

    def write():
        i = 0
        while not stop.is_set():
            np.save(path, arrays[i % 3])
            i += 1

    np.save(path, arrays[0])
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            try:
                values = read_checkpoint(path)["w"]
            except CheckpointError:
                continue
            assert values.shape == (200, 300)
    finally:
        stop.set()
        writer.join()
