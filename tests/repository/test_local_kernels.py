"""Kernels of the tests and of the book are reached through files: no port that another program could take first."""

import json
import os
import socket
import sys
import tempfile
from functools import cache

import nbclient
import nbformat
import nbval.kernel
import pytest
from jupyter_client.manager import AsyncKernelManager, KernelManager
from jupyter_client.provisioning.local_provisioner import LocalPortCache
from nbclient.exceptions import DeadKernelError

from book._ext.local_kernels import AsyncLocalKernelManager, LocalKernelManager
from chapters.sweeps import forking

pytestmark = pytest.mark.ci

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


SETTINGS = """
import json, os, signal, sys
import matplotlib.pyplot as plt, pandas as pd
from pandas._config.config import _global_config
print(json.dumps({
    "argv": sys.argv[3:], "path": sys.path, "folder": os.getcwd(),
    "signals": [str(signal.getsignal(n)) for n in (2, 17)],
    "environment": {k: v for k, v in os.environ.items() if not k.startswith(("JPY_", "JUPYTER_DEFAULT"))},
    "pandas": str(_global_config).lower(), "matplotlib": {k: str(v) for k, v in plt.rcParams.items()}, "names": dir(),
    "group": os.getpgid(0) == os.getpid(), "parent": os.getppid(),
}))
"""


def settings(manager, **options):
    """What a notebook finds, its parent apart."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SETTINGS)])
    nbclient.execute(notebook, kernel_name="python3", kernel_manager_class=manager, **options)
    found = json.loads("".join(output.text for output in notebook.cells[0].outputs))
    return found, found.pop("parent")


def test_a_forked_kernel_finds_what_a_started_one_does(monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("CAPCORE_SEEN", "here")
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    monkeypatch.setattr(forking, "_mother", cache(forking._mother.__wrapped__))  # what it prints is seen
    started, parent = settings(AsyncKernelManager, cwd=tmp_path)
    forked, mother = settings(AsyncLocalKernelManager, cwd=tmp_path)
    assert forked == started and forked["environment"]["CAPCORE_SEEN"] == "here"
    assert parent == os.getpid() and (mother != parent or sys.platform != "linux")
    assert "To connect another client" not in "".join(capfd.readouterr())  # as a kernel without a parent tells


def test_it_is_started_where_it_cannot_be_forked(monkeypatch):
    monkeypatch.setattr(forking, "LINUX", False)
    assert settings(AsyncLocalKernelManager)[1] == os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_a_forked_kernel_that_dies_is_noticed():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import os; os.kill(os.getpid(), 9)")])
    with pytest.raises(DeadKernelError):
        nbclient.execute(notebook, kernel_name="python3", kernel_manager_class=AsyncLocalKernelManager)
