"""Which method suits a model, a process and a size, and which arguments no method can use."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical
from capcore.available_memory import allocation_bytes, fits
from capcore.large.exponentials import exponential_sequence
from capcore.large.octave_predictor import ExponentialSequence
from capcore.optimum import OPTIONS, Problem
from capcore.processes import Process
from capcore.results import DENSE

TRAIN_SIZE = 256
"""Inputs of a tensor train up to which "auto" fits by Gauss–Newton: the same optimum, at n³ instead of n log n."""
DENSE_SIZE = 2048
"""Coefficients up to which "auto" allocates by n × n matrices, which also give layers and frequencies."""
LISTED_INPUTS = 2**22
"""Inputs beyond which "auto" lists octaves of lag only."""
LARGE_OPTIONS = {"riemannian-newton": ("max_iterations", "tolerance", "floor"), "octaves": ("max_iterations",)}
FIT_METHODS = ("auto", *OPTIONS, *LARGE_OPTIONS)
ALLOCATION_METHODS = ("auto", DENSE, "fft", "streamed", "octaves", "sketch")


def fit_method(arch: Architecture, process: object, start: str | np.ndarray) -> str:
    """The method of a fit; "auto" means the dense one that suits the model."""
    if isinstance(process, ExponentialSequence):
        return "octaves"
    if not is_train(arch) or arch.n_inputs <= TRAIN_SIZE or not isinstance(process, Process):
        return "auto"
    listed = arch.n_inputs <= LISTED_INPUTS or not isinstance(start, str) or start != "auto"
    return "riemannian-newton" if listed or not has_sequence(process) else "octaves"


def allocation_method(arch: Any, process: object) -> str:
    """The method of an allocation; "auto" means streamed or stored products."""
    if isinstance(process, ExponentialSequence):
        return "octaves"
    if arch.n_inputs * arch.input_dim <= DENSE_SIZE and fits(allocation_bytes(arch)):
        return DENSE
    if not (isinstance(arch, Hierarchical) and arch.has_disjoint_supports) or isinstance(process, Problem):
        return "sketch"
    octaves = arch.n_inputs > LISTED_INPUTS and arch.input_dim == 1 and has_sequence(process)
    return "octaves" if octaves else "auto"  # allocate_large's own choice


def has_sequence(process: object) -> bool:
    """Whether the autocovariance is known as exponentials at any length."""
    try:
        return bool(sequence_of(process, LISTED_INPUTS))
    except ValueError:
        return False


def check_kinds(arch: object, process: object) -> None:
    """Raise ``TypeError`` unless the arguments are an architecture and a process."""
    if isinstance(arch, type) or not (hasattr(arch, "n_inputs") and hasattr(arch, "input_dim")):
        raise TypeError(
            f"arch: found {arch!r}, expected an architecture, such as capcore.Hierarchical(channels=4, n_layers=6). "
            "Wrap a function of your own as capcore.Function(function, n_params=…)."
        )
    if not isinstance(process, Process | Problem | ExponentialSequence):
        raise TypeError(f"process: found {type(process).__name__}, expected a Process, such as PowerLaw(0.5).")


def same_shapes(first: Any, second: Any) -> bool:
    """Whether the two architectures have the same parameters."""
    return (type(first), first.n_inputs, first.n_params) == (type(second), second.n_inputs, second.n_params)


def is_train(arch: object) -> TypeGuard[Hierarchical]:
    """Whether the model is a tensor train of one component."""
    return isinstance(arch, Hierarchical) and arch.has_disjoint_supports and arch.input_dim == 1


def sequence_of(process: object, n_inputs: int) -> ExponentialSequence:
    """The autocovariance as exponentials."""
    if isinstance(process, ExponentialSequence):
        return process
    if not isinstance(process, Process):
        raise ValueError(f"process: found {type(process).__name__}, expected a Process for method 'octaves'.")
    return exponential_sequence(process, n_inputs)


def tensor_train(arch: object, verb: str) -> Hierarchical:
    """The model, if the method of octaves can use it. Raises ``ValueError`` otherwise."""
    if not is_train(arch):
        raise ValueError(
            f"arch: found {arch!r}, expected a Hierarchical model with disjoint supports and one component for "
            f"{verb}(…, method='octaves'). Use 'auto'."
        )
    return arch
