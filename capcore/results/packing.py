"""Results as plain values and arrays, and back: what :mod:`capcore.results.saved` writes and reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np

from capcore.architectures.remembered import Remembered
from capcore.checkpoints.tensors import Checkpoint, brief
from capcore.results.left_out import LeftOut, kept

RECORDS = {
    **dict.fromkeys(("Fit", "Allocation"), "capcore.results.fit_and_allocation"),
    **dict.fromkeys(("LeftOut", "Listed"), "capcore.results.left_out"),
    **dict.fromkeys(("CapacityAllocation", "LayerAllocation"), "capcore.capacity.allocation"),
    "ConstraintSpace": "capcore.capacity.constraints",
    "FitResult": "capcore.fitting.optimum",
    "LargeFit": "capcore.large.fit",
    "LargeAllocation": "capcore.large.allocation",
    "CapacityEstimate": "capcore.large.sketch",
    "OctaveFit": "capcore.large.octaves.fit",
    "OctaveAllocation": "capcore.large.octaves.capacity",
    "Remembered": "capcore.architectures.remembered",
    "NetworkAllocation": "capcore.networks.results",
    **dict.fromkeys(("Capacities", "NetworkLayer"), "capcore.networks.capacities"),
    "NetworkProblem": "capcore.networks.problem",
    **dict.fromkeys(("Response", "CholeskyResponse", "DenseModel"), "capcore.networks.response"),
    "RememberedDerivatives": "capcore.networks.remembered",
    **dict.fromkeys(("SpectraReport", "Source"), "capcore.spectra.results"),
    **dict.fromkeys(("SpectraOptions", "DensityOptions"), "capcore.spectra.options"),
    "ModelMetrics": "capcore.spectra.models",
    "SpectrumMetrics": "capcore.spectra.metrics",
    "Skipped": "capcore.spectra.layers",
    "Density": "capcore.spectra.densities",
}
"""Class of a record → its module."""
_TRAIN = {"channels": "channels", "n_layers": "n_layers", "kernel_size": "kernel_sizes", "dilations": "dilations"}
_TAPS = {"n_inputs": "n_inputs", "input_dim": "input_dim"}
MODELS = {
    "Hierarchical": ("capcore.architectures.hierarchical", {**_TRAIN, "input_dim": "input_dim"}),
    "Recurrent": ("capcore.architectures.recurrent", {"n_inputs": "n_inputs", "channels": "channels"}),
    "Linear": ("capcore.architectures.linear", {"basis": "basis", "input_dim": "input_dim"}),
    "Frozen": ("capcore.architectures.frozen", {"arch": "arch", "values": "values", "free": "free"}),
    "AutoRegressiveTaps": ("capcore.architectures.taps", {**_TAPS, "taps": "taps"}),
    "LogTaps": ("capcore.architectures.taps", {**_TAPS, "taps": "taps"}),
    "NearAndPools": ("capcore.architectures.taps", {**_TAPS, "near": "near", "pools": "pools"}),
    "Sum": ("capcore.architectures.sum", {"one": "one", "other": "other"}),
}
"""Architecture → its module, and argument → attribute."""
TYPES = {"int": Integral, "float": Real, "str": str, "bool": bool, "np.ndarray": np.ndarray}
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Packing:
    """Turns a value into plain values for JSON, and collects its arrays: each once, however often it occurs."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}

    def __call__(self, value: Any, where: str) -> Any:
        """Plain values; ``where`` names the arrays, and the place in an error."""
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"number": str(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, list | tuple):
            entries = [self(each, f"{where}.{i}") for i, each in enumerate(value)]
            return {"tuple": entries} if isinstance(value, tuple) else entries
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        if isinstance(value, Mapping):
            pairs = [[key, self(each, f"{where}.{i}")] for i, (key, each) in enumerate(value.items())]
            if not all(isinstance(key, str) for key, _ in pairs):
                raise TypeError(f"{where}: found names of other types than text, expected text.")
            return {"mapping": pairs}
        return self._object(value, where)

    def _array(self, value: np.ndarray, where: str) -> dict[str, Any]:
        if value.dtype.kind not in "fiub":
            raise TypeError(f"{where}: found an array of type {value.dtype}, expected real numbers.")
        name = self._names.setdefault(id(value), where)
        self.arrays[name] = value
        return {"array": name} if value.flags.writeable else {"array": name, "frozen": True}

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        name, value = type(value).__name__, kept(value)
        if name == "Derivatives":
            value = class_of("RememberedDerivatives")(value.params, value.outputs(value.params), dict(value.layers))
        if name in MODELS and _named(name, MODELS[name][0]) is type(value):
            arguments = {key: self(getattr(value, own), f"{where}.{key}") for key, own in MODELS[name][1].items()}
            return {"model": name, "arguments": arguments}
        name = type(value).__name__
        if is_dataclass(value) and name in RECORDS and class_of(name) is type(value):
            entries = {each.name: self(vars(value)[each.name], f"{where}.{each.name}") for each in fields(value)}
            return {"record": name, "fields": entries}
        if hasattr(value, "n_params") and hasattr(value, "n_inputs"):
            own = {key: getattr(value, key) for key in ("n_inputs", "input_dim", "n_params")}
            return self(Remembered(name, repr(value), **own, layers=dict(getattr(value, "layers", {}))), where)
        if callable(value):
            return {"function": getattr(value, "__name__", name)}
        raise TypeError(f"{where}: found {name}, which no file can hold; expected numbers, text and results.")


class Unpacking:
    """The inverse, with every name looked up in a closed list."""

    def __init__(self, arrays: Mapping[str, np.ndarray] | Checkpoint) -> None:
        self._arrays = arrays
        self._read: dict[str, np.ndarray] = {}
        self._forms: dict[frozenset[str], Callable[[dict[str, Any]], Any]] = {
            frozenset(["array"]): self._array,
            frozenset(["array", "frozen"]): self._array,
            frozenset(["number"]): lambda entry: SPECIAL[entry["number"]],
            frozenset(["tuple"]): lambda entry: tuple(map(self, entry["tuple"])),
            frozenset(["slice"]): lambda entry: slice(*map(_whole, entry["slice"])),
            frozenset(["mapping"]): lambda entry: {_text(key): self(value) for key, value in entry["mapping"]},
            frozenset(["record", "fields"]): lambda entry: self._record(**entry),
            frozenset(["model", "arguments"]): lambda entry: self._model(**entry),
            frozenset(["function"]): lambda entry: LeftOut(f"the function {brief(entry['function'])}."),
        }

    def __call__(self, value: Any) -> Any:
        """The value that was packed. Raises ``ValueError`` for what is not of the format."""
        if isinstance(value, list):
            return [self(each) for each in value]
        if not isinstance(value, dict):
            return value
        if frozenset(value) not in self._forms:
            raise ValueError(f"an entry with the names {brief(sorted(value))}, expected those of the format")
        return self._forms[frozenset(value)](value)

    def _array(self, entry: dict[str, Any]) -> np.ndarray:
        name = entry["array"]
        if name not in self._read:
            self._read[name] = self._arrays[name].copy(order="K")
            self._read[name].setflags(write="frozen" not in entry)
        return self._read[name]

    def _record(self, record: str, fields: dict[str, Any]) -> Any:
        if record not in RECORDS:
            raise ValueError(f"a record {brief(record)}, expected one of {', '.join(sorted(RECORDS))}")
        return _made(class_of(record), {name: self(value) for name, value in fields.items()})

    def _model(self, model: str, arguments: dict[str, Any]) -> Any:
        if model not in MODELS:
            raise ValueError(f"a model {brief(model)}, expected one of {', '.join(sorted(MODELS))}")
        home, known = MODELS[model]
        if set(arguments) != set(known):
            raise ValueError(f"{model} with {brief(sorted(arguments))}, expected {', '.join(known)}")
        return _named(model, home)(**{name: self(value) for name, value in arguments.items()})


def class_of(name: str) -> Any:
    """The class of a record."""
    return _named(name, RECORDS[name])


def _named(name: str, home: str) -> Any:
    return getattr(import_module(home), name)


def _whole(value: Any) -> Any:
    if value is not None and type(value) is not int:
        raise ValueError(f"{brief(value)}, expected a whole number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a name {brief(value)}, expected text")
    return value


def _made(kind: Any, values: dict[str, Any]) -> Any:
    """An instance of a dataclass, if the values have the names and types of its fields."""
    known = {each.name: each for each in fields(kind)}
    needed = {name for name, each in known.items() if each.default is MISSING and each.default_factory is MISSING}
    if not needed <= set(values) <= set(known):
        raise ValueError(f"{kind.__name__} with {brief(sorted(values))}, expected {', '.join(known)}")
    for name, value in values.items():
        type_ = TYPES.get(str(known[name].type))
        wrong = type_ and (not isinstance(value, type_) or (isinstance(value, bool) and type_ is not bool))
        if wrong:
            raise ValueError(f"{kind.__name__}.{name} of type {type(value).__name__}, expected {known[name].type}")
    return kind(**values)
