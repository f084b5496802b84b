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

from typing import Any

from capcore.checks.names import lazily

_from_stub, __dir__, __all__ = lazily(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":  # pyproject.toml has it, and the installed package's metadata repeat it
        from importlib.metadata import version

        return version(__name__)
    if name not in __all__ and name[0] != "_":  # perhaps a family of processes, which registers itself
        from capcore.processes.families import REGISTRY

        if name in REGISTRY:
            return REGISTRY[name]
    return _from_stub(name)
