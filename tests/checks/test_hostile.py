"""Every public function with some thirty arguments that mean something else: a finite answer, or a clear refusal.

``hostile_rows`` has a row for every public name, with arguments that work. Each in turn is replaced by what a reader
may hand over by mistake. An answer is then finite and of the usual type; all else is a refusal that says what was found
and what was expected. Never NaN, never an error from deep inside, and never numbers read out of dates, text or masked
values.
"""

import dataclasses
import re
import signal
import warnings
from functools import partial
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import capcore as cc
from capcore import architectures, checkpoints, networks, processes, propagation, spectra
from tests.hostile_rows import ELSEWHERE, RETURNED, ROWS, X, Y, linear

PACKAGES = (cc, architectures, checkpoints, processes, networks, propagation, spectra)
REFUSALS = (ValueError, TypeError, FloatingPointError, FileNotFoundError, cc.TooLargeError)
SECONDS = 10  # for one call: a hang, and not a slow machine


def public_names():
    found = {name: getattr(package, name) for package in PACKAGES for name in package.__all__}
    named = {name for name, value in found.items() if callable(value) and not isinstance(value, ModuleType)}
    return named | set(processes.REGISTRY)


def test_every_public_name_has_a_row():
    rows = [name for name in ROWS if " " not in name]
    assert sorted([*rows, "Segment", *RETURNED, *ELSEWHERE]) == sorted(public_names())


def objects(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def dated(values, kind):
    return np.round(np.asarray(values)).astype(int).astype(kind)


ANY = {
    "None": lambda _: None,
    "NaN": lambda _: np.nan,
    "infinity": lambda _: np.inf,
    "minus infinity": lambda _: -np.inf,
    "minus one": lambda _: -1,
    "zero": lambda _: 0,
    "a half": lambda _: 0.5,
    "a number of 400 digits": lambda _: 10**400,
    "1e300": lambda _: 1e300,
    "1e-300": lambda _: 1e-300,
    "a million million": lambda _: 10**12,
    "text": lambda _: "text",
    "digits": lambda _: "3",
    "bytes": lambda _: b"3",
    "True": lambda _: True,
    "a complex number": lambda _: 1j,
    "an empty list": lambda _: [],
    "an empty array": lambda _: np.zeros((0, 3)),
    "a ragged list": lambda _: [[1.0], [1.0, 2.0]],
    "a list of None": lambda _: [None, None],
    "objects": lambda _: objects(1.0, object()),
    "a dictionary": lambda _: {"a": 1.0},
    "a set": lambda _: {1.0},
    "a generator": lambda _: (i for i in range(3)),
    "a function": lambda _: len,
    "a class": lambda _: dict,
    "a module": lambda _: np,
    "a date": lambda _: np.datetime64("2026-01-01"),
    "a duration": lambda _: np.timedelta64(3, "s"),
    "a masked number": lambda _: np.ma.masked,
    "NA": lambda _: pd.NA,
    "a table": lambda _: pd.DataFrame({"a": ["x"]}),
}
"""In place of any argument: an answer or a refusal."""
ARRAYS = {
    "one of them NaN": lambda v: np.where(np.arange(v.size).reshape(v.shape) == v.size - 1, np.nan, v),
    "one of them infinite": lambda v: np.where(np.arange(v.size).reshape(v.shape) == 0, np.inf, v),
    "one of them None": lambda v: objects(None, *v.ravel()[1:]).reshape(v.shape),
    "one of them NA": lambda v: objects(pd.NA, *v.ravel()[1:]).reshape(v.shape),
    "one of them masked": lambda v: np.ma.array(v, mask=np.arange(v.size).reshape(v.shape) == 0),
    "dates": lambda v: dated(v, "M8[D]"),
    "durations": lambda v: dated(v, "m8[s]"),
    "records": lambda v: np.asarray(v).astype([("a", float)]),
    "digits as text": lambda v: np.asarray(v).astype(str),
    "digits as objects": lambda v: objects(*map(str, v.ravel())).reshape(v.shape),
    "digits as bytes": lambda v: np.asarray(v).astype("S"),
    "booleans": lambda v: v > np.median(v),
    "complex numbers": lambda v: v + 1j,
    "sparse": lambda v: sparse.coo_array(np.atleast_2d(v.reshape(len(v), -1))),
}
"""In place of an array of numbers: refused."""
SCALED = {"times 1e300": lambda v: v * 1e300, "times 1e-300": lambda v: v * 1e-300, "zeros": np.zeros_like}
SCALED |= {"a dimension more": lambda v: v[None], "no dimension": lambda v: v.ravel()[0]}
"""In place of an array of numbers: an answer or a refusal."""
SAME = {
    "a list": lambda v: v.tolist(),
    "a masked array without a mask": np.ma.array,
    "objects that are numbers": lambda v: v.astype(object),
    "in the other order": np.asfortranarray,
    "unwritable": lambda v: np.frombuffer(np.ascontiguousarray(v).tobytes(), v.dtype).reshape(v.shape),
}
"""In place of an array of numbers: means the same."""
NUMBERS = {
    "an array without dimensions": np.array,
    "an array of one element": lambda v: np.array([v]),
    "a series of one element": lambda v: pd.Series([v]),
    "a NumPy number": lambda v: np.array(v)[()],
}
"""In place of a number: means the same."""
ENORMOUS = ("a number of 400 digits", "a million million")
AMOUNTS_OF_WORK = ("starts", "n_starts", "n_hops", "n_samples", "n_simulations", "n_resamples", "n_null")
AMOUNTS_OF_WORK += ("max_iterations",)
NO_NUMBERS = ("text", "digits", "bytes", "True", "a complex number", "NaN", "a date", "a duration", "a masked number")
FILES = ("lora_products", "read_folder")
"""What they are given is not there: only refusals are seen."""
NAMED = ("arrays of a checkpoint", "weights of analyse_spectra")
"""What is no array of real numbers is not refused: it is listed, with the reason why it is not read."""
UNDEFINED = ("log_alpha_norm", "SpectraOptions")
"""Of a point or a parameter that is not finite they give NaN or an end of the law: reports hold NaN where a fit failed,
and pass it on; a threshold is refused where it is used."""
NOT_FINITE = ("None", "NaN", "infinity", "minus infinity", "1e300", "a list of None", "a number of 400 digits")
NOT_FINITE += ("one of them NaN", "one of them infinite", "one of them None")
GAPS = ("NaN", "None", "NA", "masked")
EXCEPTIONS = {
    ("fit a function params", "a dictionary"): "the function is called with it, and its own error is shown",
    ("MatrixTransport weights", "sparse"): "sparse matrices are what it is for",
    **{
        (row, f"one of them {what}"): "a gap, which it honours"
        for row in ("estimate_process series", "design for a series series")
        for what in GAPS
    },
    ("gram_spectra matrices", "complex numbers"): "the Fourier transform of a kernel is complex",
    ("Hierarchical channels", "an array of one element"): "the channels of one hidden layer",
    ("Hierarchical kernel_size", "an array of one element"): "the taps of one layer",
    ("analyse_spectra source", "objects"): "of no type that could be hashed",
    **{(f"{row} weights", "objects that are numbers"): "of no type that could be hashed" for row in NAMED},
    ("operator_spectra dilation", "a number of 400 digits"): "of no size that NumPy knows",
    **{
        (f"{name} weights", f"one of them {what}"): "it only arranges them anew"
        for name in ("slices", "unfolded")
        for what in ("NaN", "infinite", "None")
    },
}


def finite(found, depth=0):
    """Whether there is no NaN and no infinity in an answer."""
    if isinstance(found, np.ndarray | np.generic | float | complex):
        array = np.asarray(found)
        return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
    if depth > 4:
        return True
    if isinstance(found, spectra.SpectraReport):  # what was not asked for is NaN, as the fields' texts say
        return all(np.isfinite(row.alpha) or row.reason for row in found.spectra)
    if isinstance(found, spectra.PowerLawFit) and not found.ok:
        return bool(found.reason)
    if isinstance(found, dict):
        return all(finite(value, depth + 1) for value in found.values())
    if isinstance(found, list | tuple):
        return all(finite(value, depth + 1) for value in found)
    if dataclasses.is_dataclass(found):
        return all(finite(getattr(found, field.name), depth + 1) for field in dataclasses.fields(found))
    return True


def equal(found, expected):
    if isinstance(expected, dict | list | tuple):
        if len(found) != len(expected):
            return False
        pairs = (
            zip(found.values(), expected.values(), strict=True)
            if isinstance(expected, dict)
            else zip(found, expected, strict=True)
        )
        return all(equal(*pair) for pair in pairs)
    if isinstance(expected, np.ndarray | float | int):
        return bool(np.allclose(found, expected, rtol=1e-6, atol=1e-9, equal_nan=True))
    if dataclasses.is_dataclass(expected):
        names = [field.name for field in dataclasses.fields(expected)]
        return all(equal(getattr(found, name), getattr(expected, name)) for name in names)
    return type(found) is type(expected)


def outcome(function, arguments):
    """What comes of a call: the answer, or the error."""

    def expired(*_):
        raise AssertionError("hangs")

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(SECONDS)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(**arguments)
    except Exception as error:
        return error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def complaint(found, usual, trial=""):
    """What is wrong with an outcome: empty for a clear refusal, or a finite answer of the usual type."""
    if isinstance(found, Exception):
        if (trial in ENORMOUS and isinstance(found, (MemoryError, OverflowError))) or (
            re.search("Maximum allowed|inhomogeneous", str(found))
        ):
            return ""  # Python or NumPy say at once that there is no such size
        said = str(found)
        clear = re.search("[Ff]ound|disagree|not given|cannot", said)
        clear = clear and re.search("[Ee]xpected|[Rr]escale|Scale|Check", said)
        return "" if isinstance(found, REFUSALS) and clear else f"{type(found).__name__}: {said[:150]}"
    if isinstance(usual, np.ndarray) and isinstance(found, np.floating):
        found = np.asarray(found)
    if not isinstance(found, type(usual)) and not isinstance(usual, Exception):
        return f"a {type(found).__name__}"
    return "" if finite(found) else f"not finite: {str(found)[:80]}"


def trials(value):
    """Name, replacement and whether it has to be refused (True), means the same (None), or may be either."""
    array = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    for name, change in ANY.items():
        yield name, change(value), (array or number) and name in NO_NUMBERS
    for table, rule in ((ARRAYS, True), (SCALED, False), (SAME, None)) if array else ():
        yield from ((name, change(value), rule) for name, change in table.items())
    for name, change in NUMBERS.items() if number else ():
        yield name, change(value), None


CONTAINERS = ("arrays of a checkpoint", "weights of analyse_spectra")
"""There a list holds arrays."""


@pytest.mark.parametrize("row", ROWS)
def test_an_answer_or_a_refusal(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, arguments = ROWS[row]
    usual = outcome(function, arguments)
    assert row in FILES or not isinstance(usual, Exception), usual
    wrong = []
    for name, value in arguments.items():
        for trial, replacement, refused in trials(value):
            if (trial in ENORMOUS and name in AMOUNTS_OF_WORK) or (trial in NOT_FINITE and row in UNDEFINED):
                continue
            if trial == "a list" and row in CONTAINERS:
                continue
            found = outcome(function, {**arguments, name: replacement})
            said = complaint(found, usual, trial)
            if (f"{row} {name}", trial) in EXCEPTIONS or (refused and row in NAMED):
                continue
            if refused and not isinstance(found, Exception):
                said = said or f"read as numbers: {str(found)[:60]}"
            elif refused is None and not said and (isinstance(found, Exception) or not equal(found, usual)):
                said = f"not the same: {str(found)[:150]}"
            if said:
                wrong.append(f"{name} = {trial}: {said}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["inputs", "targets", "params", "weight_decay"])
def test_networks(name):
    arguments = {"params": np.linalg.lstsq(X, Y)[0], "inputs": X, "targets": Y, "weight_decay": np.full((3, 2), 0.1)}
    for trial, replacement, refused in trials(arguments[name]):
        if refused or trial == "times 1e300":
            found = outcome(partial(cc.allocate_network, linear), arguments | {name: replacement})
            read = (name, trial) == ("inputs", "booleans")
            assert read or (isinstance(found, Exception) and not complaint(found, None)), f"{trial}: {found!r}"


WRONG_OPTIONS = [{"subspaces": 3}, {"weight_decay": {}}, {"seconds": "soon"}]
WRONG_OPTIONS += [{"weight_decay": ANY[each](None)} for each in ("None", "NaN", "text", "True", "a function", "a set")]
WRONG_OPTIONS += [{"layers": ANY[each](None)} for each in ("zero", "text", "True", "an empty list", "a dictionary")]


@pytest.mark.parametrize("change", WRONG_OPTIONS, ids=str)
def test_options_of_networks(change):
    found = outcome(partial(cc.allocate_network, linear, np.zeros((3, 2)), X, Y), change)
    assert isinstance(found, Exception) and not complaint(found, None), found
