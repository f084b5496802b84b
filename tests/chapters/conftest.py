"""Networks of these tests are small and trained for a few steps, so that compiling would take most of the time."""

import os
import sys

import pytest


@pytest.fixture(scope="module", autouse=True)
def quick_compilation(tmp_path_factory):
    """JAX leaves out optimisations that pay in long runs only, and reads what was compiled before, also elsewhere.

    While the tests of a module run that uses it. The folder is that of ``tests/notebooks``: one for all processes.
    """
    if "jax" not in sys.modules:
        yield
        return
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    settings = {
        "jax_disable_most_optimizations": True,
        "jax_compilation_cache_dir": str(shared / "compiled"),
        "jax_persistent_cache_min_compile_time_secs": 0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: jax.config.values[name] for name in settings}
    for values in (settings, before):
        for name, value in values.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()  # it keeps the folder it began with
        if values is settings:
            yield
