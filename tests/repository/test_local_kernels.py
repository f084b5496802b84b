"""Kernels of the tests and of the book are reached through files: no port that another program could take first."""

import socket
import tempfile

import nbclient
import nbformat
import nbval.kernel
import pytest
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning.local_provisioner import LocalPortCache

from book._ext.local_kernels import AsyncLocalKernelManager, LocalKernelManager

TRANSPORT = "from ipykernel.connect import get_connection_info\nget_connection_info(unpack=True)['transport']"


@pytest.fixture
def left_behind(monkeypatch, tmp_path_factory):
    """What kernels have left in the folder for temporary files."""
    folder = tmp_path_factory.mktemp("k")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return lambda: sorted(path.name for path in folder.iterdir())


def started():
    """How a kernel that nbval starts is reached; the kernel is stopped again."""
    manager, client = nbval.kernel.start_new_kernel(kernel_name="python3")
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    return manager.transport


def test_a_notebook_is_reached_through_files_and_leaves_none(left_behind):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(TRANSPORT)])
    nbclient.execute(notebook, kernel_name="python3", kernel_manager_class=AsyncLocalKernelManager)
    assert notebook.cells[0].outputs[0].data["text/plain"] == "'ipc'"
    assert left_behind() == []


def test_nbval_uses_them_and_leaves_none(left_behind):
    assert issubclass(nbval.kernel.KernelManager, LocalKernelManager)
    assert started() == "ipc"
    assert left_behind() == []


def test_a_port_taken_before_the_kernel_starts_does_no_harm(monkeypatch, capfd):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(LocalPortCache, "find_available_port", lambda self, ip: port)
        assert started() == "ipc"
        monkeypatch.setattr(nbval.kernel, "KernelManager", KernelManager)
        with pytest.raises(RuntimeError, match="Kernel died"):
            started()
        assert "Address already in use" in capfd.readouterr().err
