"""Kernels that are reached through files, so that many can start at once.

Jupyter looks for free ports, lets go of them, and starts a kernel that takes them a second later; whatever takes one
of them in between stops the kernel with "Address already in use". A file in a folder of one's own is taken by nobody.
Used where kernels start side by side: by ``parallel_execution`` and by the tests of the notebooks. What they run live
is so short that JAX takes longer to compile it than to do it, so that there it compiles with less care.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

from jupyter_client.manager import AsyncKernelManager, KernelManager
from traitlets import default

from chapters.sweeps.forking import Forked, fork

IMPORTED = (
    *("ipykernel.kernelapp", "matplotlib.pyplot", "pandas", "scipy.optimize", "scipy.stats", "seaborn"),
    *("sklearn.datasets", "book._ext.local_kernels"),
)
"""Not JAX: it reads the environment when it is imported, and starts threads, which do not survive a fork."""
LAUNCHER = "ipykernel_launcher"


def fork_kernel(command: list[str], env: dict[str, str], cwd: str | None, quiet: bool) -> Forked | None:
    """A kernel as ``command`` would start it, or None where it has to be started so."""
    if command[0] != sys.executable or LAUNCHER not in command:
        return None
    arguments, folder = {"argv": command[command.index(LAUNCHER) :]}, str(cwd or os.getcwd())
    return fork("book._ext.local_kernels:kernel", IMPORTED, arguments=arguments, env=env, cwd=folder, quiet=quiet)


def kernel(argv: list[str]) -> None:
    """What ``python -m ipykernel_launcher …`` does."""
    sys.argv = argv
    del sys.path[0]  # the repository
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # whose end is the kernel's; read when it was imported
    import_module("ipykernel.kernelapp").launch_new_instance(argv=[*argv[1:], parent])


class _ThroughFiles(KernelManager):
    """Sockets of the operating system in place of ports; on Windows, which has none for ZeroMQ, ports as ever."""

    variables: ClassVar = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
    """Of these kernels; the environment's own come first."""

    def start_kernel(self, **options: Any) -> Any:
        """Start it with ``variables``."""
        environment = options.pop("env", None) or os.environ
        return super().start_kernel(**options, env={**self.variables, **environment})

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        """Fork the kernel where that can be done, otherwise start it."""
        quiet = options.get("stderr") is not None
        process = fork_kernel(kernel_cmd, options["env"], options.get("cwd"), quiet)
        if process is None:
            await super()._async_launch_kernel(kernel_cmd, **options)
            return
        provisioner: Any = self.provisioner
        provisioner.process, provisioner.pid, provisioner.pgid = process, process.pid, process.pid
        self._reconcile_connection_info(provisioner.connection_info)

    @default("transport")
    def _transport(self) -> str:
        return "ipc" if os.name == "posix" else "tcp"

    @default("connection_file")
    def _connection_file(self) -> str:
        # A short name: the path of a socket has room for some hundred characters.
        return str(Path(tempfile.gettempdir()) / f"kernel-{uuid4().hex[:12]}.json")


class LocalKernelManager(_ThroughFiles):
    """For :mod:`nbval`."""


class AsyncLocalKernelManager(_ThroughFiles, AsyncKernelManager):
    """For nbclient, and with it papermill and jupyter-cache."""
