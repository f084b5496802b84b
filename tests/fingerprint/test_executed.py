"""Every experiment profiled at small settings: what it executes is reached by name, and is what the breaks say."""

from __future__ import annotations

import sys
from functools import wraps

import numpy as np
import pytest

from capcore.checks import gate
from chapters.fingerprint import reach
from chapters.fingerprint.__main__ import entries
from chapters.fingerprint.refusals import GATE
from tests.fingerprint.breaks import BREAKS
from tests.fingerprint.profiling import executed, named
from tests.fingerprint.quick import quick_run


def watch_the_gate(patch):
    """A list that receives what the gate turns into something else, or refuses."""
    turned = []

    def watched(original):
        @wraps(original)
        def call(value, *name):
            turned.append(value)
            found = original(value, *name)
            if (
                found is None
                or found is value
                or (isinstance(found, np.ndarray) and np.array_equal(found, np.asarray(value)))
            ):
                turned.pop()
            return found

        return call

    for name in sorted(GATE):
        original = getattr(gate, name)
        for module in [module for key, module in sys.modules.items() if key.startswith(("capcore", "chapters"))]:
            if vars(module).get(name) is original:
                patch.setattr(module, name, watched(original))
    return turned


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(entries()))
def test_everything_that_is_executed_is_reached_by_name(name, monkeypatch, tmp_path):
    pytest.importorskip("jax")
    entry = entries()[name][0]
    run = quick_run(name, monkeypatch, tmp_path)
    if run is None:
        pytest.skip("needs ../shared/data/published, which is absent")
    turned = watch_the_gate(monkeypatch)
    found = executed(run)
    assert turned == [], "the gate decides numbers of stored results: is_gate leaves it out of their fingerprints"
    assert len(found) > 5
    assert found <= named(reach(entry))
    broken = {each for each, results in BREAKS.items() if name in results}
    assert {each for each in BREAKS if tuple(each.split(":")) in found} == broken
