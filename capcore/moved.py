"""What has moved or changed its form: earlier paths and calls warn for one release, and give what has moved."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

MOVED = {
    "capcore.architectures.scales": ("capcore.architectures.balance",),
    "capcore.cli": ("capcore.commands.cli",),
    "capcore.memory": ("capcore.available_memory",),
    "capcore.large.octave_blocks": ("capcore.large.octaves.blocks",),
    "capcore.large.octave_capacity": ("capcore.large.octaves.capacity",),
    "capcore.large.octave_fit": ("capcore.large.octaves.fit",),
    "capcore.large.octave_forms": ("capcore.large.octaves.forms",),
    "capcore.large.octave_predictor": ("capcore.large.octaves.predictor",),
    "capcore.methods": ("capcore.verbs",),
    "capcore.problem": ("capcore.optimum",),
    "capcore.working_folder": ("capcore.commands.working_folder",),
    "capcore.spectra.adapters": ("capcore.checkpoints.adapters",),
    "capcore.spectra.archives": ("capcore.checkpoints.files", "capcore.checkpoints.archives"),
    "capcore.spectra.arguments": ("capcore.commands.arguments",),
    "capcore.spectra.checkpoints": ("capcore.checkpoints.opening",),
    "capcore.spectra.command": ("capcore.commands.spectra",),
    "capcore.spectra.drawing": ("capcore.spectra.figure",),
    "capcore.spectra.folders": ("capcore.checkpoints.parametrised", "capcore.checkpoints.opening"),
    "capcore.spectra.foreign": ("capcore.checkpoints.onnx", "capcore.checkpoints.gguf"),
    "capcore.spectra.memory": ("capcore.checkpoints.number_types", "capcore.checkpoints.arrays"),
    "capcore.spectra.onnx_graph": ("capcore.checkpoints.onnx_graph",),
    "capcore.spectra.packed": ("capcore.checkpoints.packed",),
    "capcore.spectra.parametrised": ("capcore.checkpoints.parametrised",),
    "capcore.spectra.quantised": ("capcore.checkpoints.quantised",),
    "capcore.spectra.rendering": ("capcore.spectra.text", "capcore.commands.rendering"),
    "capcore.spectra.report": ("capcore.spectra.results",),
    "capcore.spectra.safetensors": ("capcore.checkpoints.safetensors",),
    "capcore.spectra.scan": ("capcore.spectra.power_law",),
    "capcore.spectra.tables": ("capcore.spectra.text", "capcore.commands.tables"),
    "capcore.spectra.tail_models": ("capcore.spectra.alternatives",),
    "capcore.spectra.tensors": ("capcore.checkpoints.tensors",),
    "capcore.spectra.torch_files": ("capcore.checkpoints.torch_files",),
}
"""Earlier path → where its names are now, the first that has a name first. A path that is still there has lost some."""
TAKEN = ("capcore.spectra.report",)
"""Earlier paths that are names of functions now: ``from`` such a path names are imported, but the package has the
function."""


class Called(dict[str, Any]):
    """A mapping that may still be called, as when a method gave it; that warns."""

    def __call__(self) -> dict[str, Any]:
        """The mapping itself."""
        import warnings

        told = "totals(): found a call, expected totals, which is an attribute. Leave the brackets out."
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return dict(self)


class once_called(property):  # noqa: N801 - a decorator, like property
    """An attribute with a mapping that was a method before: calling it still works, with a warning."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        found = super().__get__(instance, owner)
        return found if instance is None else Called(found)


class Moved(ModuleType):
    """A module at its earlier path: each of its names warns, and is looked up where it is now."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):  # those that Python and tools ask of every module load nothing
            for home in MOVED[self.__name__]:
                if hasattr(module := import_module(home), name):
                    import warnings

                    told = f"{self.__name__}.{name}: found at an earlier path, expected {home}.{name}. Import it there."
                    warnings.warn(told, DeprecationWarning, stacklevel=2)
                    return getattr(module, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def keep_earlier_paths(package: str) -> None:
    """Let the paths of ``MOVED`` directly within ``package`` be imported, without loading anything."""
    for name, homes in MOVED.items():
        home, _, short = name.rpartition(".")
        if home == package:
            module = sys.modules.setdefault(name, Moved(name, f"Moved: see {', '.join(homes)}."))
            if home in sys.modules and name not in TAKEN:
                setattr(sys.modules[home], short, module)
