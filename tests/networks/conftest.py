"""Where compilation is nine tenths of the work, each function is compiled once a module, and not at every call."""

import os

import pytest

from capcore.networks.derivatives import Derivatives


@pytest.fixture(scope="module")
def compiled_once():
    """Calls with the same function, tree of parameters share what they compile.

    The package compiles for each call, since a user's function may read what has changed since. So do all tests that
    do not ask for this; the functions of those that do are pure.
    """
    create, made = Derivatives.__init__, {}

    def share(self, apply, params, inputs, *options):
        create(self, apply, params, inputs, *options)
        self._calls = made.setdefault((apply, repr({name: leaf.shape for name, leaf in self.leaves.items()})), {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Derivatives, "__init__", share)
        yield


@pytest.fixture(scope="module")
def optimised():
    """XLA optimises as for users: what is asked for here, to 1e-9, depends on the order of sums."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update(
        "jax_disable_most_optimizations", os.environ.get("JAX_DISABLE_MOST_OPTIMIZATIONS", "0") not in ("0", "")
    )
