"""What a Dask cluster says of a run, and what a sweep makes of it, without a cluster."""

from types import SimpleNamespace

import pytest

from chapters.sweeps.declared import NotebookError
from chapters.sweeps.workers import Dask, LostError


@pytest.fixture
def dask():
    """One that is connected to a client which listens; its ``reconnected`` counts how often that was sought anew."""
    found = object.__new__(Dask)
    found._client = SimpleNamespace(_handle_report_task=SimpleNamespace(done=lambda: False))
    found.reconnected = 0

    def again():
        found.reconnected += 1

    found._reconnect = again
    return found


def future(status, result=lambda timeout: "{}"):
    return SimpleNamespace(status=status, result=result)


def test_a_run_that_is_under_way_has_no_answer_yet(dask):
    assert dask.answered(future("pending")) is None and dask.reconnected == 0


def test_a_client_that_has_stopped_listening_is_told(dask):
    dask._client._handle_report_task.done = lambda: True
    with pytest.raises(NotebookError, match="cannot be read as data"):
        dask.answered(future("pending"))
    assert dask.answered(future("finished")) == b"{}"  # an answer that has come is no less one


def test_an_answer_is_text_and_anything_else_is_none(dask):
    assert dask.answered(future("finished", lambda timeout: '{"value": "é"}')) == '{"value": "é"}'.encode()
    assert dask.answered(future("finished", lambda timeout: object())) == b""


@pytest.mark.parametrize("run", [None, future("cancelled"), future("lost")], ids=["none", "cancelled", "lost"])
def test_what_is_gone_is_sought_and_submitted_again(dask, run):
    with pytest.raises(LostError):
        dask.answered(run)
    assert dask.reconnected == 1


def test_an_answer_that_cannot_be_fetched_is_submitted_again(dask):
    def gone(timeout):
        raise OSError

    with pytest.raises(LostError):
        dask.answered(future("finished", gone))


def test_a_run_that_dask_gave_up_is_a_failed_run(dask):
    def closed(timeout):
        raise AssertionError("the error is a pickle and stays closed")

    assert "Dask gave the run up" in dask.answered(future("error", closed)).decode()
