"""A run's kernel: reached through files in the run's own folder, within its memory, and ended with the run.

A kernel has a session of its own, so that no signal to a group reaches it, and one that is busy in compiled code does
not look whether its parent is there. So the system itself is told to kill it when its parent ends.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from traitlets import default

from chapters.sweeps.forked_kernels import LAUNCHER, Forked, become
from chapters.sweeps.limits import LINUX, end_with, limit_memory


class Seed:
    """A process forked before there are threads, which becomes a kernel once it is told which."""

    def __init__(self, memory_mb: float | None) -> None:
        parent, (read, self.write) = os.getpid(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            end_with(parent)
            os.close(self.write)
            with os.fdopen(read) as file:
                text = file.read()
            if not text:
                os._exit(0)
            limit_memory(memory_mb)
            become(json.loads(text))
            os._exit(0)
        os.close(read)

    def grow(self, request: dict[str, Any]) -> Grown:
        """Tell it."""
        with os.fdopen(self.write, "w") as file:
            json.dump(request, file)
        return Grown(self.pid)


class Grown(Forked):
    """A forked kernel that is a child of this process."""

    def poll(self) -> int | None:
        """None while it runs."""
        try:
            return 0 if os.waitpid(self.pid, os.WNOHANG)[0] else None
        except ChildProcessError:
            return 0


class RunKernelManager(AsyncKernelManager):
    """The kernel of this process's one run; :attr:`folder`, :attr:`memory_mb` and :attr:`seed` are set before."""

    folder: str = ""
    memory_mb: float | None = None
    seed: Seed | None = None

    @default("transport")
    def _transport(self) -> str:
        return "ipc" if os.name == "posix" else "tcp"

    @default("connection_file")
    def _connection_file(self) -> str:
        return str(Path(self.folder) / "kernel.json")

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        if self.seed is None or LAUNCHER not in kernel_cmd:
            parent = os.getpid()

            def prepare() -> None:
                end_with(parent)
                limit_memory(self.memory_mb)

            await super()._async_launch_kernel(kernel_cmd, **options, **({"preexec_fn": prepare} if LINUX else {}))
            return
        argv, folder = kernel_cmd[kernel_cmd.index(LAUNCHER) :], str(options.get("cwd") or os.getcwd())
        process = self.seed.grow({"argv": argv, "env": options["env"], "cwd": folder, "quiet": True})
        provisioner: Any = self.provisioner
        provisioner.process, provisioner.pid, provisioner.pgid = process, process.pid, process.pid
        self._reconcile_connection_info(provisioner.connection_info)
