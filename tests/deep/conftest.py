"""Compiling takes most of the time of these tests, as their networks are small and trained for a few steps."""

from importlib.util import find_spec

import pytest


@pytest.fixture(scope="module", autouse=True)
def quick_compilation():
    """JAX leaves out optimisations that pay in long runs only, while the tests of a module run."""
    if find_spec("jax") is None:  # its tests skip themselves
        yield
        return
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
