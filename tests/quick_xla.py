"""XLA compiles with less care in the tests, and what one process has compiled the others read.

Compiling takes most of the time of what tests and notebooks compute with JAX, since it is small. So XLA optimises
little, makes one kernel per operation in place of fused ones, and compiles it in one piece. ``CAPCORE_XLA=full``
compiles as for users, as ``make arithmetic`` does. Settings of one's own are kept.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version

FLAGS = ("--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1")
STARTS_XLA = "import jax; jax.devices()"
CACHE = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


def prepare(config):
    """Set the environment for this process and those that it starts; JAX reads it when it is imported."""
    if "PYTEST_XDIST_WORKER" in os.environ or os.environ.get("CAPCORE_XLA") == "full":
        return
    try:
        key = f"xla/{version('jaxlib')}"
    except PackageNotFoundError:
        return
    if "XLA_FLAGS" not in os.environ:
        os.environ["XLA_FLAGS"] = " ".join(remembered(config, key))
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = os.environ["JAX_COMPILATION_CACHE_DIR"] = tempfile.mkdtemp(prefix="compiled-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        for name, value in CACHE.items():
            os.environ.setdefault(name, value)


def remembered(config, key):
    """The flags that are known, looked up once for each version of XLA."""
    cache = getattr(config, "cache", None)
    if cache is None:
        return known_flags()
    if (found := cache.get(key, None)) is None:
        cache.set(key, found := known_flags())
    return found


def known_flags():
    """Those of the flags that the installed XLA knows: at one that it does not know it stops."""

    def starts(*flags):
        environment = {**os.environ, "XLA_FLAGS": " ".join(flags)}
        return not subprocess.run(
            [sys.executable, "-P", "-c", STARTS_XLA], env=environment, capture_output=True
        ).returncode

    return list(FLAGS) if starts(*FLAGS) else [flag for flag in FLAGS if starts(flag)]
