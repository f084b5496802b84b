"""Compilation is nine tenths of the work of these tests: each function is compiled once a module, not at every call."""

import pytest

from capcore.networks.derivatives import Derivatives


@pytest.fixture(autouse=True, scope="module")
def compiled_once():
    """Calls with the same function, tree of parameters and precision share what they compile.

    The package compiles for each call, since a user's function may read what has changed since; those here are pure.
    """
    create, made = Derivatives.__init__, {}

    def share(self, apply, params, inputs, single):
        create(self, apply, params, inputs, single)
        self._calls = made.setdefault((apply, repr(self.shapes), single), {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Derivatives, "__init__", share)
        yield
