"""Capacity allocation analysis of neural networks.

    import capcore as cc

    process = cc.PowerLaw(exponent=0.5)
    arch = cc.Hierarchical(channels=4, n_layers=6)
    fit = cc.fit(arch, process)
    alloc = cc.allocate(arch, fit, process)

Every name is imported on first use, so that ``import capcore`` itself loads nothing heavy.
"""

import sys

# ``python -m capcore`` puts the working folder first, and imports this package before any of its modules.
if sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)].removeprefix("-m").split(".")[0] == __name__:
    from capcore.commands.working_folder import off_the_path

    off_the_path()

from importlib import import_module
from typing import Any

import lazy_loader

from capcore.moved import keep_earlier_paths

keep_earlier_paths(__name__)
keep_earlier_paths("capcore.large")
_current, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_EARLIER = {
    "fit_large": ("large.fit", "fit"),
    "fit_octaves": ("large.octaves.fit", "fit(…, method='octaves')"),
    "allocate_large": ("large.allocation", "allocate"),
    "octave_capacities": ("large.octaves.capacity", "allocate(…, method='octaves')"),
    "estimate_capacity": ("large.sketch", "allocate(…, method='sketch')"),
    "allocate_function": ("verbs", "allocate"),
    "FitResult": ("optimum", "Fit"),
    "LargeFit": ("large.fit", "Fit"),
    "CapacityAllocation": ("allocation", "Allocation"),
    "LargeAllocation": ("large.allocation", "Allocation"),
    "CapacityEstimate": ("large.sketch", "Allocation"),
}
"""Names of the first edition, for one release: name → where it is, and what takes its place."""


def __getattr__(name: str) -> Any:
    if name == "__version__":  # pyproject.toml has it, and the installed package's metadata repeat it
        from importlib.metadata import version

        return version(__name__)
    if name not in _EARLIER:
        return _current(name)
    import warnings

    home, instead = _EARLIER[name]
    warnings.warn(f"capcore.{name}: use capcore.{instead}.", DeprecationWarning, stacklevel=2)
    return getattr(import_module(f"capcore.{home}"), "allocate" if home == "verbs" else name)
