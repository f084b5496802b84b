"""Results as files: ``result.save(path)`` and ``capcore.load(path)``.

A file is an ``.npz`` archive: arrays beside a JSON header (:mod:`capcore.checkpoints.headed`). NumPy alone reads it, so
a colleague without this package reads the numbers as well; safetensors would need one more package, and gives no array
that ``.npz`` does not. The header is::

    {"format": "capcore result", "version": 1, "capcore": "0.2.0", "kind": "Fit", "result": …}

``result`` is a tree of plain values. What JSON lacks is an object with one of these keys:

========================== ============================================================================
``array``                  the name of a member of the archive; ``"frozen": true`` where it was read-only
``number``                 ``nan``, ``inf`` or ``-inf``
``tuple``, ``slice``       a list of the entries; start, stop and step
``mapping``                a list of pairs of a name and a value
``record``, ``fields``     a result of the package, by the name of its class, and its attributes
``model``, ``arguments``   an architecture of the package, and the arguments of its class
``function``               the name of a function, which itself is not saved
========================== ============================================================================

Names of classes come from two closed lists, ``RECORDS`` and ``MODELS`` of :mod:`capcore.results.packing`: no other is imported,
and nothing is executed. A later version is refused, with the advice to upgrade; fields that were added since a file was
written get their defaults.

What is not saved: functions of your own (the result says so where it needs one), processes, training inputs, and what
would take more than 256 MB to keep what only it gives: the bases of a dense allocation, whose listed capacities are
then computed and kept, and the Hessian of a network.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from capcore.checkpoints.files import Guarded
from capcore.checkpoints.headed import read_headed, write_headed
from capcore.checkpoints.tensors import CheckpointError, brief
from capcore.checks.gate import of_kind
from capcore.results.packing import Packing, Unpacking, class_of

FORMAT, VERSION = "capcore result", 1
KINDS = ("Fit", "Allocation", "NetworkAllocation", "SpectraReport")


def save(result: Any, path: str | Path) -> None:
    """Write a result to a file, which :func:`load` reads; also as ``result.save(path)``.

    Parameters
    ----------
    result : Fit, Allocation, NetworkAllocation or SpectraReport
    path : str or Path
        Taken as it is; ``.npz`` is the usual ending. A file that exists is replaced once the new one is complete.

    Raises
    ------
    TypeError
        If it is another result, or holds something that no file can.
    FileNotFoundError
        If the folder does not exist.
    """
    of_kind(path, "path", str | Path)
    kind = type(result).__name__
    if kind not in KINDS or class_of(kind) is not type(result):
        raise TypeError(f"result: found {kind}, expected one of {', '.join(KINDS)}.")
    pack = Packing()
    header = {"format": FORMAT, "version": VERSION, "capcore": version("capcore"), "kind": kind}
    write_headed(path, {**header, "result": pack(result, kind.lower())}, pack.arrays)


def load(path: str | Path) -> Any:
    """The result that ``save(path)`` wrote. Nothing in the file is executed, and nothing that it names is imported.

    The numbers are the same to the last bit. Functions of your own, processes and training inputs are not in the file:
    what needs them says so, and takes the model anew, ``capcore.allocate(model, loaded, process)``. The format is
    described at :mod:`capcore.results.saved`.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Fit, Allocation, NetworkAllocation or SpectraReport

    Raises
    ------
    CheckpointError
        A ``ValueError``: if the file is missing, damaged, of a later version, or not one of a result.

    Examples
    --------
    >>> import tempfile
    >>> from capcore import Hierarchical, PowerLaw, fit
    >>> found = fit(Hierarchical(channels=2, n_layers=4), PowerLaw())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found.save(f"{folder}/found.npz")
    ...     again = load(f"{folder}/found.npz")
    >>> again.loss == found.loss, again.arch.n_inputs, again.method
    (True, 16, 'gauss-newton')
    """
    of_kind(path, "path", str | Path)
    header, arrays = read_headed(path)
    with Guarded(str(path)):
        if header.get("format") != FORMAT:
            raise CheckpointError(f"{path}: found the format {brief(header.get('format'))}, expected {FORMAT!r}.")
        if header.get("version") != VERSION:
            raise CheckpointError(
                f"{path}: found version {brief(header.get('version'))} of the format, expected {VERSION}. A later "
                "capcore wrote it: upgrade, pip install -U capcore."
            )
        kind, stated = header.get("kind"), header.get("result")
        if kind not in KINDS or not isinstance(stated, dict) or stated.get("record") != kind:
            raise CheckpointError(f"{path}: found a result of kind {brief(kind)}, expected one of {', '.join(KINDS)}.")
        result = Unpacking(arrays)(stated)
        _agree(result)
    return result


def _agree(result: Any) -> None:
    """Raise ``ValueError`` unless the parts of a loaded result belong together."""
    kind = type(result).__name__
    if kind in ("Fit", "Allocation") and not all(hasattr(result.arch, each) for each in ("n_params", "n_inputs")):
        raise ValueError(f"arch of type {type(result.arch).__name__}, expected an architecture")
    if kind == "Fit" and result.params.shape != (result.arch.n_params,):
        raise ValueError(f"params of shape {result.params.shape}, expected ({result.arch.n_params},)")
    if kind == "Allocation":
        steps = result.edges.shape == (len(result.per_octave) + 1,) and all(np.diff(result.edges) > 0)
        if not steps or result.edges[-1] != result.arch.n_inputs:
            raise ValueError("edges that do not fit per_octave and the model, expected 0 to n_inputs in steps")
