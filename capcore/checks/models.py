"""What to say to a model that the verbs do not take: each kind of object that readers hand over, and what takes it.

Kinds are told by where their classes come from, so that no library is imported for a model that is none of its own.
"""

from collections.abc import Mapping
from os import PathLike

OTHERS = (
    "an architecture, such as capcore.Hierarchical(channels=4, n_layers=6); a function params → coefficients; a module "
    "of PyTorch, Flax, Equinox or Keras, or a JAX function (params, inputs) → outputs"
)
"""What the verbs take."""


def is_of_library(model: object, package: str, *names: str) -> bool:
    """Whether the model's class, or one that it derives from, comes from a package and has one of these names.

    >>> is_of_library(3, "torch", "Module")
    False
    """
    classes = [kind for kind in type(model).__mro__ if kind.__module__.split(".")[0] == package]
    return any(not names or kind.__name__ in names for kind in classes)


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
            words = {"name": model.__name__ if isinstance(model, type) else type(model).__name__, "model": model}
            raise TypeError(f"{name}: found {kind.format(**words)}, expected {expected.format(**words)}.")
