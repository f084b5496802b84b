"""Which function of the package takes a model: kinds of objects that readers hand over, and the door for each.

Kinds are told by where their classes come from, so that no library is imported for a model that is none of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

OTHERS = (
    "an architecture, such as capcore.Hierarchical(channels=4, n_layers=6); a function params → coefficients; or, "
    "with inputs=…, a torch.nn.Module or a JAX function (params, inputs) → one number"
)
"""What the verbs take."""


def is_module(model: object) -> bool:
    """Whether a model is a PyTorch module.

    >>> is_module(3)
    False
    """
    return _of(model, "torch", "Module")


def _of(model: object, package: str, *names: str) -> bool:
    """Whether the model's class, or one that it derives from, comes from a package and has one of these names."""
    classes = [each for each in type(model).__mro__ if each.__module__.split(".")[0] == package]
    return any(not names or each.__name__ in names for each in classes)


def _holds_arrays(model: object) -> bool:
    values = model.values() if isinstance(model, Mapping) else model
    return isinstance(model, list | tuple | Mapping) and all(
        hasattr(each, "__array__") or _holds_arrays(each)
        for each in values  # type: ignore[attr-defined]
    )


def _flax_nnx(model: object) -> bool:
    return any(each.__module__.startswith("flax.nnx") for each in type(model).__mro__)


def _result(model: object) -> bool:
    return hasattr(model, "details") and hasattr(model, "arch")


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "the class {name}": (lambda m: isinstance(m, type), "an instance. Make one: {name}(…)"),
    "a process ({name})": (
        lambda m: hasattr(m, "autocovariance") or (hasattr(m, "covariance") and hasattr(m, "target")),
        "the model first and the process after it: fit(arch, process), allocate(arch, params, process)",
    ),
    "a result ({name})": (_result, "the model that it belongs to: allocate(fit.arch, fit, process)"),
    "a Keras model ({name})": (
        lambda m: _of(m, "keras") or _of(m, "tf_keras"),
        "a function that JAX can trace. With Keras's JAX backend: linearised(lambda w, x: model.stateless_call(w, "
        "fixed, x)[0].sum(), weights, inputs); the spectra of its weights: analyse_spectra",
    ),
    "a TensorFlow object ({name})": (
        lambda m: _of(m, "tensorflow"),
        "a torch.nn.Module or a JAX function, for linearised; the spectra of its weights: analyse_spectra",
    ),
    "a scikit-learn estimator ({name})": (
        lambda m: _of(m, "sklearn"),
        "its formula as a JAX function (params, inputs) → outputs, which allocate_network takes with the data",
    ),
    "a Flax module ({name})": (
        lambda m: _of(m, "flax", "Module") and not _flax_nnx(m),
        "its function and its variables: linearised(lambda w, x: module.apply(w, x)[-1, 0], variables, inputs)",
    ),
    "a Flax NNX module ({name})": (
        _flax_nnx,
        "its function and its state: graph, state = nnx.split(module), then linearised(lambda w, x: nnx.merge(graph, w)"
        "(x)[-1, 0], state, inputs)",
    ),
    "an Equinox module ({name})": (
        lambda m: _of(m, "equinox"),
        "its function and its arrays: w, rest = equinox.partition(module, equinox.is_inexact_array), then "
        "linearised(lambda w, x: equinox.combine(w, rest)(x)[-1, 0], w, inputs)",
    ),
    "a Haiku function ({name})": (
        lambda m: _of(m, "haiku"),
        "its apply: linearised(lambda w, x: model.apply(w, None, x)[-1, 0], params, inputs)",
    ),
    "weights without their function ({name})": (
        _holds_arrays,
        "the model that they belong to: a torch.nn.Module that has loaded them, or Function(function, n_params=…); "
        "their spectra: analyse_spectra",
    ),
    "an array ({name})": (
        lambda m: hasattr(m, "__array__") and hasattr(m, "shape"),
        "a model. One whose coefficients are free is Linear(numpy.eye(n)); parameters come second",
    ),
    "the text {model!r:.60}": (
        lambda m: isinstance(m, str | bytes | PathLike),
        "a model. Load a file of weights into its module first; the spectra of the weights: analyse_spectra(path)",
    ),
}
"""What was found, how it is told, and what is expected instead, with the door's name."""


def refuse_model(model: object, name: str) -> None:
    """Raise ``TypeError`` for a model of a kind that the verbs do not take, with the function that does.

    >>> refuse_model([[0.5]], "arch")
    >>> refuse_model("weights.pt", "arch")
    Traceback (most recent call last):
    ...
    TypeError: arch: found the text 'weights.pt', expected a model. Load a file of weights into its module first; ...
    """
    for found, (told, expected) in KINDS.items():
        if told(model):
            words = {"name": model.__name__ if isinstance(model, type) else type(model).__name__, "model": model}
            raise TypeError(f"{name}: found {found.format(**words)}, expected {expected.format(**words)}.")
