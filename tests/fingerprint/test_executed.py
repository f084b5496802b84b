"""Every experiment profiled at small settings: what it executes is reached by name, and is what the breaks say."""

from __future__ import annotations

import pytest

from chapters.fingerprint import reach
from chapters.fingerprint.__main__ import entries
from tests.fingerprint.breaks import BREAKS
from tests.fingerprint.profiling import executed, named
from tests.fingerprint.quick import quick_run


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(entries()))
def test_everything_that_is_executed_is_reached_by_name(name, monkeypatch, tmp_path):
    pytest.importorskip("jax")
    entry = entries()[name][0]
    run = quick_run(name, monkeypatch, tmp_path)
    if run is None:
        pytest.skip("needs ../shared/data/published, which is absent")
    found = executed(run)
    assert len(found) > 5
    assert found <= named(reach(entry))
    broken = {each for each, results in BREAKS.items() if name in results}
    assert {each for each in BREAKS if tuple(each.split(":")) in found} == broken
