"""An experiment run again: by the entry point that its stored result names, and saved in place of that result.

What an experiment's module may hold beside its ``run(settings, progress)``, all of it optional:

``SETTINGS`` : what ``run`` is given, and what is written down. ``WITNESS`` : its pieces (``chapters.kit.witness``).
``QUICK`` : what differs in a run of seconds, for seeing that all of it runs. ``PACKAGES`` : whose versions are written
down beside those of capcore, NumPy and SciPy. ``THREADS`` : of linear algebra; one by default, None for as many as
there are. ``main(arguments)`` : takes over, with the arguments after the name, and gives an exit status; for runs that
need a file.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NamedTuple, Self

from threadpoolctl import threadpool_limits

from chapters.kit import stored


class RunError(ValueError):
    """What was asked for cannot be run."""


class Experiment(NamedTuple):
    """The experiment behind a stored result.

    Attributes
    ----------
    name : str
        Of the result.
    path : Path
        Where it lies.
    function : callable
        Its entry point.
    module : ModuleType
        That holds it.
    """

    name: str
    path: Path
    function: Callable[..., Any]
    module: ModuleType

    @classmethod
    def of(cls, path: Path) -> Self:
        """The experiment of a file. Raises :class:`RunError` where no code made it, or where that code is not there."""
        content = json.loads(path.read_text("utf8"))
        if content["entry"] is None:
            raise RunError(f"{path.stem}: found timings, expected what an entry point makes. Run {content['command']}")
        place, _, name = content["entry"].partition(":")
        try:
            module = import_module(place)
            return cls(path.stem, path, getattr(module, name), module)
        except (ImportError, AttributeError) as error:
            raise RunError(
                f"{path.stem}: its entry {content['entry']} cannot be imported ({error}). "
                f"If it was moved, write its new place into {path.name}."
            ) from error

    @property
    def settings(self) -> dict[str, Any]:
        """``SETTINGS`` of its module."""
        return dict(self.module.SETTINGS)

    @property
    def quick_settings(self) -> dict[str, Any]:
        """``SETTINGS | QUICK``. Raises :class:`RunError` without a ``QUICK``."""
        if not hasattr(self.module, "QUICK"):
            raise RunError(f"{self.name}: {self.module.__name__} has no QUICK, the settings of a run of seconds.")
        return self.settings | self.module.QUICK

    @property
    def main(self) -> Callable[[Sequence[str]], int] | None:
        """What takes over with the remaining arguments, if the module has it."""
        return getattr(self.module, "main", None)

    def values(self, settings: dict[str, Any], **options: Any) -> Any:
        """What the experiment gives with these settings.

        options : ``progress``, ``workers`` and ``sweep``, for a run that takes them: a bar and all processors by
        default; a function such as :func:`chapters.sweeps.engine.sweep`, which is to be given.
        """
        known = signature(self.function).parameters
        options = {"progress": True, "workers": os.cpu_count() or 1, **options}
        with threadpool_limits(getattr(self.module, "THREADS", 1)), kept_programs():
            return self.function(settings, **{key: options[key] for key in options if key in known})

    def save(self, **options: Any) -> None:
        """Run it and write the result; the file that is there stays as it is if the run does not come to its end.

        options : of :meth:`values`.
        """
        command = f"python -m chapters run {self.name}"
        values = self.values(self.settings, **options)
        stored.save(self.path, command, self.function, self.settings, values, getattr(self.module, "PACKAGES", ()))


def sweep_here(target: str, settings: Sequence[Mapping[str, Any]], *_: object, **options: object) -> Any:
    """The frame of :func:`chapters.sweeps.engine.sweep`, of a function that is called in this process."""
    import pandas as pd

    place, name = target.split(":")
    function = getattr(import_module(place), name)
    return pd.DataFrame([{**setting, **function(**setting), "error": ""} for setting in settings])


@contextmanager
def kept_programs() -> Iterator[None]:
    """Keep what JAX compiles in a temporary folder meanwhile: networks that differ in a number alone are compiled once.

    Does nothing where JAX is not imported.
    """
    if "jax" not in sys.modules:
        yield
        return
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    with TemporaryDirectory() as folder:
        wanted = {"jax_compilation_cache_dir": folder, "jax_persistent_cache_min_compile_time_secs": 0.0}
        before = {name: getattr(jax.config, name) for name in wanted}
        try:
            for name, value in wanted.items():
                jax.config.update(name, value)
            compilation_cache.reset_cache()
            yield
        finally:
            for name, value in before.items():
                jax.config.update(name, value)
            compilation_cache.reset_cache()
