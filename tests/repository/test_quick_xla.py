"""How the tests let XLA compile: in the environment, before JAX is imported, and kept where one has chosen."""

import os
from pathlib import Path

import pytest

from tests import quick_xla


class Config:
    """As much of pytest's as is asked for."""

    cache = None

    def __init__(self):
        self.ends = []

    def add_cleanup(self, end):
        self.ends.append(end)


@pytest.fixture
def environment(monkeypatch):
    """What a run finds that has chosen nothing; put back at the end."""
    names = ("PYTEST_XDIST_WORKER", "CAPCORE_XLA", "XLA_FLAGS", "JAX_DISABLE_MOST_OPTIMIZATIONS")
    for name in (*names, "JAX_COMPILATION_CACHE_DIR", *quick_xla.CACHE):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(quick_xla, "known_flags", lambda: ["--known"])
    return monkeypatch


def test_what_is_compiled_is_kept_for_the_run(environment):
    pytest.importorskip("jaxlib")
    config = Config()
    quick_xla.prepare(config)
    assert os.environ["XLA_FLAGS"] == "--known" and os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "1"
    folder = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
    assert folder.is_dir() and os.environ.items() >= quick_xla.CACHE.items()
    for end in config.ends:
        end()
    assert not folder.exists()


@pytest.mark.parametrize("chosen", [{"CAPCORE_XLA": "full"}, {"PYTEST_XDIST_WORKER": "gw0"}], ids=str)
def test_nothing_is_set_for_full_care_and_in_workers(environment, chosen):
    for name, value in chosen.items():
        environment.setenv(name, value)
    before = dict(os.environ)
    quick_xla.prepare(Config())
    assert dict(os.environ) == before


def test_settings_of_one_s_own_are_kept(environment):
    pytest.importorskip("jaxlib")
    own = {"XLA_FLAGS": "--mine", "JAX_DISABLE_MOST_OPTIMIZATIONS": "0", "JAX_COMPILATION_CACHE_DIR": "mine"}
    for name, value in own.items():
        environment.setenv(name, value)
    quick_xla.prepare(Config())
    assert os.environ.items() >= own.items()


def test_flags_that_xla_does_not_know_are_left_out(monkeypatch):
    """At one that it does not know, the process stops."""
    pytest.importorskip("jaxlib")
    monkeypatch.setattr(quick_xla, "FLAGS", ("--xla_of_another_version=true",))
    assert quick_xla.known_flags() == []
