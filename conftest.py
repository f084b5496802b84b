"""What continuous integration promises must run does run, and nbval's kernels do not compete for ports."""

import os
from typing import ClassVar

import nbval.kernel
import pytest

from book._ext.local_kernels import LocalKernelManager
from tests import quick_xla


class WithoutPictures(LocalKernelManager):
    """Figures are made and not rendered: nbval compares no pictures, and the book renders them all."""

    variables: ClassVar = {**LocalKernelManager.variables, "CAPCORE_FIGURES": "off"}


nbval.kernel.KernelManager = WithoutPictures


def pytest_configure(config):
    """Before anything imports JAX."""
    quick_xla.prepare(config)


REQUIRED = {
    "CAPCORE_REQUIRE_SHARED": ("needs ../shared",),  # reference material beside the repository
    "CAPCORE_REQUIRE_SITE": ("site is not built",),
    "CAPCORE_REQUIRE_BROWSER": ("no browser",),
}
"""Environment variable → words in the reason of a skip that it turns into a failure."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn a skip into a failure where the environment promises what the test needs."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = str(report.longrepr[2])
        for variable, words in REQUIRED.items():
            if os.environ.get(variable) and any(word in reason for word in words):
                report.outcome = "failed"
                report.longrepr = f"{reason}: but {variable} is set, so this test must run"
    return report
