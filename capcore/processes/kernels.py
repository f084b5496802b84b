"""Processes given by a covariance function, or by an object of another library, which is taken by what it offers."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np

from capcore.checks.arguments import finite_array, of_kind, positive_number
from capcore.processes.base import Process

STATIONARY = 1e-5  # share of c_0 by which a kernel may change from one origin to another: single precision passes
COMPARED = 8  # lags at which two origins are compared
BRIEF = 90  # characters of a description
SHIFT = 0.7310585786  # of the second origin, in samples: no period of a kernel has it


class FromKernel(Process):
    """A process given by a stationary covariance function, c_τ = k(spacing · τ).

    Parameters
    ----------
    kernel : callable or object
        A function of the lag, of an array (n,) of them or of one at a time. Or a kernel of scikit-learn, tinygp or
        GPyTorch; those are also taken wherever a process is expected, with a spacing of 1.
    spacing : float, default 1.0
        Distance of two samples in the kernel's units, positive.

    Raises
    ------
    TypeError
        If the kernel is not callable, or a class instead of an instance.
    ValueError
        If it is not stationary, cannot be evaluated at lags, or gives no finite number for each; and, once a length is
        known, if the sequence is not positive definite.

    Examples
    --------
    >>> FromKernel(lambda lag: np.exp(-lag / 2), spacing=0.5).autocovariance(3).round(4).tolist()
    [1.0, 0.7788, 0.6065]
    """

    def __init__(self, kernel: Callable[[Any], Any] | Any, spacing: float = 1.0) -> None:
        self.spacing = positive_number(spacing, "spacing")
        if isinstance(kernel, type) or not callable(kernel):
            what = f"the class {kernel.__name__}" if isinstance(kernel, type) else type(kernel).__name__
            raise TypeError(f"kernel: found {what}, expected a function of the lag, such as lambda lag: np.exp(-lag).")
        self.kernel = kernel
        self._between = next((between for known, between in LIBRARIES if known(kernel)), None)
        first = self._sequence(COMPARED)
        if self._between is not None:
            moved = self._evaluated(COMPARED, SHIFT)
            if not np.abs(moved - first).max() <= STATIONARY * np.abs(first).max():
                raise ValueError(
                    f"kernel: found {_brief(kernel)}, which depends on the place, expected a stationary one. Its "
                    "matrix goes in as cc.FromCovariance(sigma, cross=…)."
                )

    def __repr__(self) -> str:
        return f"FromKernel({_brief(self.kernel)}, spacing={self.spacing:g})"

    def _sequence(self, n: int) -> np.ndarray:
        return finite_array(self._evaluated(n, 0.0), "kernel", 1)

    def _evaluated(self, n: int, origin: float) -> np.ndarray:
        """(n,) k at lags 0 … n−1, for library kernels between a point at the origin (in samples) and those after."""
        lags = self.spacing * np.arange(n)
        try:
            if self._between is None:
                return _of_lags(self.kernel, lags)
            points = lags + self.spacing * origin
            values = np.asarray(self._between(self.kernel, points[:1].repeat(n), points), dtype=float)
        except Exception as error:  # whatever a reader's function does with lags
            raise ValueError(
                f"kernel: found {type(error).__name__} ({error}) at lags 0 … {lags[-1]:g}, expected a number for each: "
                "give a function of one argument, the lag."
            ) from None
        if values.shape != (n,):
            raise ValueError(f"kernel: found values of shape {values.shape} at {n} lags, expected one for each.")
        return values


def _of_lags(kernel: Callable[[Any], Any], lags: np.ndarray) -> np.ndarray:
    """(n,) values of a function of the lag: of all lags at once, or else of one after the other."""
    with suppress(TypeError, ValueError):  # a function of numbers, such as those of math, or one with an if
        values = np.asarray(kernel(lags.copy()))
        if values.shape == lags.shape:
            return values
    return np.asarray([kernel(float(lag)) for lag in lags])


def _from_acovf(model: Any) -> FromKernel:
    """The process of an object with ``acovf(nobs)``, such as an ``ArmaProcess`` of statsmodels."""
    if not getattr(model, "isstationary", True):
        raise ValueError(f"process: found {_brief(model)}, expected a stationary process. Difference it.")
    return FromKernel(lambda lags: model.acovf(nobs=lags.size)[: lags.size])


def _brief(value: Any) -> str:
    """A function's name, or an object's description in one line, without its place in memory."""
    text = getattr(value, "__name__", None) or " ".join(re.sub(r" at 0x\w+", "", repr(value)).split())
    return text if len(text) <= BRIEF else f"{text[: BRIEF - 2]} …"


def _offers(*names: str) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in names)


def _of_sklearn(kernel: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The row of the first point; what a kernel adds on the diagonal alone, white noise, is in ``diag``."""
    row = kernel(a[:1, None], b[:, None])[0]
    return np.concatenate([kernel.diag(a[:1, None]), row[1:]])


def _of_gpytorch(kernel: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """In double precision: rounded to single, the covariance of many samples is rarely positive definite."""
    torch = sys.modules["torch"]  # without it there is no such kernel
    with torch.no_grad():
        points = [torch.as_tensor(place, dtype=torch.float64)[:, None] for place in (a, b)]
        return deepcopy(kernel).cpu().double()(*points, diag=True).numpy()


def _of_tinygp(kernel: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """In double precision, as above. a[:1] with itself comes first, where white noise belongs."""
    with sys.modules["jax"].enable_x64(True):
        return np.concatenate([np.asarray(kernel(a[:1])).ravel(), np.asarray(kernel(a[:1], b))[0, 1:]])


LIBRARIES = (
    (_offers("diag", "is_stationary", "get_params"), _of_sklearn),
    (_offers("covar_dist", "double"), _of_gpytorch),
    (_offers("evaluate", "evaluate_diag"), _of_tinygp),
)
"""What a kernel of a library offers, and its covariance (n,) between points a and b, all a alike and b[0] = a[0]."""


def as_task(value: Any, name: str = "task") -> Any:
    """``value``, if it is a process or a problem, or else the process that an object of another library stands for.

    Raises ``TypeError`` if it stands for none.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import Matern
    >>> as_task(Matern(length_scale=2.0, nu=0.5)).autocovariance(3).round(4).tolist()
    [1.0, 0.6065, 0.3679]
    """
    if any(hasattr(value, name) for name in ("autocovariance", "covariance")) and not isinstance(value, type):
        return value
    if _offers("acovf")(value):
        return _from_acovf(value)
    if any(known(value) for known, _ in LIBRARIES):
        return FromKernel(value)
    raise no_process(value, name)


def check_process(value: Any, input_dim: int, model: str = "the model") -> Process:
    """The process that a value is or stands for; raises unless it has the components per position of a model."""
    process = as_task(value)
    of_kind(process, "task", Process, "a Process, such as PowerLaw(0.5)")
    if (d := process.input_dim) != input_dim:
        raise ValueError(f"task: found {d} component(s) per position, expected {input_dim} as in {model}.")
    return process


def no_process(value: Any, name: str) -> TypeError:
    """What to raise for something that is no process: it names the door through which that comes in.

    >>> print(no_process(np.eye(3), "task"))
    task: found an array of shape (3, 3), expected a Process, such as PowerLaw(0.5). A covariance matrix goes in as \
cc.FromCovariance(sigma, cross=…), or without cross for allocate alone.
    """
    what, door, shape = type(value).__name__, "", ()
    if hasattr(value, "shape") or isinstance(value, list | tuple):
        with suppress(TypeError, ValueError):  # ragged
            shape = tuple(np.shape(value))
    if isinstance(value, type):
        what, door = f"the class {value.__name__}", f"Make an instance: {value.__name__}(…)."
    elif isinstance(value, str):
        door = "One of a name is cc.make_process(name); a file is read by pandas.read_csv or numpy.load."
    elif hasattr(value, "n_inputs") or hasattr(value, "arch"):
        door = "The order is fit(arch, process) and allocate(arch, params, process)."
    elif shape:
        what = f"{'an array' if isinstance(value, np.ndarray) else what} of shape {shape}"
        door = (
            "A covariance matrix goes in as cc.FromCovariance(sigma, cross=…), or without cross for allocate alone."
            if len(shape) == 2
            else "A measured series goes in as cc.estimate_process(series, n_inputs), an autocovariance as "
            "cc.FromAutocovariance(values)."
        )
    elif callable(value):
        door = "A covariance function of the lag goes in as cc.FromKernel(function)."
    return TypeError(f"{name}: found {what}, expected a Process, such as PowerLaw(0.5). {door}".rstrip())
