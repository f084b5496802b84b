"""What to say to something that is no process: through which door it comes in."""

from __future__ import annotations

from typing import Any

import numpy as np


def no_process(value: object, name: str = "process") -> TypeError:
    """What to raise for something that is no process: it names the door through which that comes in.

    >>> print(no_process(np.eye(3)))
    process: found an array of shape (3, 3), expected a Process, such as PowerLaw(0.5). A covariance matrix goes in as \
cc.FromCovariance(sigma, cross=…), or without cross for allocate alone.
    """
    what, door = type(value).__name__, ""
    shape = _shape(value)
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


def _shape(value: Any) -> tuple[int, ...]:
    """Of an array or a table, or of a list that could be one; () of anything else."""
    if not (hasattr(value, "shape") or isinstance(value, list | tuple)):
        return ()
    try:
        return tuple(np.shape(value))
    except (TypeError, ValueError):  # ragged
        return ()
