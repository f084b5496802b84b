"""What the tests of the repository share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return Path(__file__).resolve().parents[2]
