"""What to say to a model that the verbs do not take: each kind of object that readers hand over, and what takes it.

Kinds are told by where their classes come from, so that no library is imported for a model that is none of its own.
"""

from collections.abc import Mapping
from os import PathLike
from typing import Any

OTHERS = (
    "an architecture, such as capcore.Hierarchical(channels=4, n_layers=6); a function params → coefficients; or, "
    "with inputs=…, a torch.nn.Module or a JAX function (params, inputs) → one number"
)
"""What the verbs take."""

LIBRARIES = ("keras", "tf_keras", "tensorflow", "sklearn", "flax", "equinox", "haiku")
"""Libraries whose models are no functions of their parameters."""


def is_module(model: object) -> bool:
    """Whether a model is a PyTorch module.

    >>> is_module(3)
    False
    """
    return is_of_library(model, "torch", "Module")


def is_of_library(model: object, package: str, *names: str) -> bool:
    """Whether the model's class, or one that it derives from, comes from a package and has one of these names."""
    classes = [kind for kind in type(model).__mro__ if kind.__module__.split(".")[0] == package]
    return any(not names or kind.__name__ in names for kind in classes)


def is_flax_nnx(model: object) -> bool:
    """Whether a model is a module of Flax' newer interface."""
    return any(kind.__module__.startswith("flax.nnx") for kind in type(model).__mro__)


def _library(model: object) -> str:
    """The library that the model's class comes from, directly or by inheritance; empty for others."""
    return next((package for package in LIBRARIES if is_of_library(model, package)), "")


def _holds_arrays(model: object) -> bool:
    if not isinstance(model, list | tuple | Mapping):
        return False
    values = model.values() if isinstance(model, Mapping) else model
    return all(hasattr(value, "__array__") or _holds_arrays(value) for value in values)


KINDS = {
    "the class {name}": (lambda m: isinstance(m, type), "an instance. Make one: {name}(…)"),
    "a process ({name})": (
        lambda m: hasattr(m, "autocovariance") or (hasattr(m, "covariance") and hasattr(m, "target")),
        "the model first and the process after it: fit(arch, process), allocate(arch, params, process)",
    ),
    "a result ({name})": (
        lambda m: hasattr(m, "details") and hasattr(m, "arch"),
        "the model that it belongs to: allocate(fit.arch, fit, process)",
    ),
    "a model of {library} ({name})": (
        lambda m: bool(_library(m)),
        "a JAX function (params, inputs) → one number, with inputs=…: write one that calls the model, and selects an "
        "output; for its spectra, analyse_spectra",
    ),
    "weights without their function ({name})": (
        _holds_arrays,
        "their model: a torch.nn.Module, or Function(function, n_params=…); for their spectra, analyse_spectra",
    ),
    "an array ({name})": (
        lambda m: hasattr(m, "__array__") and hasattr(m, "shape"),
        "a model. One whose coefficients are free is Linear(numpy.eye(n)); parameters come second",
    ),
    "the text {model!r:.60}": (
        lambda m: isinstance(m, str | bytes | PathLike),
        "a model. Load weights into a module first; for their spectra, analyse_spectra(path)",
    ),
}
"""What was found → how it is recognised, and what is expected instead."""


def refuse_model(model: object, name: str) -> None:
    """Raise ``TypeError`` for a model of a kind that the verbs do not take, with the function that does.

    >>> refuse_model([[0.5]], "arch")
    >>> refuse_model("weights.pt", "arch")
    Traceback (most recent call last):
    ...
    TypeError: arch: found the text 'weights.pt', expected a model. Load weights into a module first; ...
    """
    for kind, (is_kind, expected) in KINDS.items():
        if is_kind(model):
            words: dict[str, Any] = {"name": model.__name__ if isinstance(model, type) else type(model).__name__}
            words |= {"library": _library(model), "model": model}
            raise TypeError(f"{name}: found {kind.format(**words)}, expected {expected.format(**words)}.")
