"""Results as tidy tables of pandas, and capacities as labelled arrays of xarray.

Names of indices are those of the book: ``lag`` (0 is the most recent input), or what the inputs of a covariance matrix
are called, ``component``, ``octave``, ``layer``, ``eigenvector``, ``frequency``; ``example``, ``output``, ``subspace``
and ``group`` of networks. Units are in ``attrs``: of the frame as a mapping from columns, of each variable of a Dataset
as ``units``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.checks.arguments import library, one_of

if TYPE_CHECKING:
    import pandas
    import xarray

CAPACITY = "dimensions of the constraint space"
RESPONSE = "effective parameters"
BY = ("octave", "layer", "eigenvector", "frequency")
"""What may have a row each in the table of an allocation, beside its inputs."""
VIEWS = ("independent", "forward", "backward", "marginal")
UNITS = {
    **dict.fromkeys(("coefficient", "target"), "output per input"),
    "first": "inputs before the most recent one",
    "end": "inputs before the most recent one, not included",
    "eigenvalue": "variance",
    **dict.fromkeys(("training_loss", "loss_left_out"), "loss of one example"),
    "leverage": RESPONSE,
    "missed": "share of a small event",
    "distance": "squared lengths of the confidence region",
    "trusted": "share",
    **dict.fromkeys(("capacity", *VIEWS), CAPACITY),
}


def fit_frame(found: Any) -> pandas.DataFrame:
    """One row for each coefficient of a fit, by ``lag`` and ``component``; ``target`` where the method keeps it."""
    columns = {"coefficient": found.coefficients}
    if hasattr(found, "target"):
        columns["target"] = found.target
    lags, d = np.arange(found.arch.n_inputs), found.arch.input_dim
    index = {found.inputs: np.repeat(lags, d), **({"component": np.tile(np.arange(d), lags.size)} if d > 1 else {})}
    return _frame(columns, index, _about(found, "loss", "variance", "converged", "n_iterations"))


def allocation_frame(found: Any, by: str | None) -> pandas.DataFrame:
    """Capacity ``by`` input (such as "lag") or one of :data:`BY`: one row for each, tidy."""
    by = (found.inputs if hasattr(found, "per_input") else "octave") if by is None else by
    one_of(by, "by", (found.inputs, *BY))
    about = _about(found, "total", "generic_total", "error")
    if by == "octave":
        columns = {"first": found.edges[:-1], "end": found.edges[1:], "capacity": found.per_octave}
        return _frame(columns, {"octave": np.arange(len(found.per_octave))}, about)
    if by == "layer":
        n, layers = found.n_inputs, found.layers
        columns = {view: np.concatenate([getattr(layer, view) for layer in layers.values()]) for view in VIEWS}
        index = {"layer": np.repeat(list(layers), n), found.inputs: np.tile(np.arange(n), len(layers))}
        return _frame(columns, index, about)
    if by == "eigenvector":
        columns = {"eigenvalue": found.eigenvalues, "capacity": found.per_eigenvector}
        return _frame(columns, {"eigenvector": np.arange(len(found.eigenvalues))}, about)
    if by == "frequency":
        return _frame({"capacity": found.per_frequency}, {"frequency": found.frequencies}, about)
    columns = {"capacity": found.per_input, "missed": found.missed}
    return _frame(columns, {found.inputs: np.arange(found.n_inputs)}, about)


def network_frame(found: Any, by: str) -> pandas.DataFrame:
    """Capacity of a network ``by`` "example", "output", "subspace" or "layer"."""
    one_of(by, "by", ("example", "output", "subspace", "layer"))
    names = ("method", "loss", "total", "gauss_newton_total", "loss_value", "gradient_norm", "is_optimum", "error")
    about = {name: getattr(found, name) for name in names}
    if by == "layer":
        layers = found.layers
        columns = {view: [layer.totals[view] for layer in layers.values()] for view in VIEWS}
        return _frame(columns, {"layer": list(layers)}, about, RESPONSE)
    if by == "subspace":
        sizes = {name: np.size(values) for name, values in found.per_subspace.items()}
        index = {
            "subspace": [name for name, size in sizes.items() for _ in range(size)],
            "group": [i for size in sizes.values() for i in range(size)],
        }
        capacity = [value for values in found.per_subspace.values() for value in np.ravel(values)]
        return _frame({"capacity": capacity}, index, about, RESPONSE)
    capacity = getattr(found, f"per_{by}")
    return _frame({"capacity": capacity}, {by: np.arange(len(capacity))}, about, RESPONSE)


def left_out_frame(found: Any) -> pandas.DataFrame:
    """One row for each example of a leave-one-out: losses, leverage, distance, and whether it can be trusted."""
    columns = {
        "training_loss": found.training_losses,
        "loss_left_out": found.losses,
        "leverage": found.leverage,
        "distance": found.distance,
        "trusted": found.trusted,
    }
    names = ("loss", "mean_loss", "standard_error", "training_loss", "total", "optimum_distance")
    return _frame(columns, {"example": np.arange(len(found.losses))}, {name: getattr(found, name) for name in names})


def dataset(frames: Mapping[str, pandas.DataFrame]) -> xarray.Dataset:
    """Tables, by what has a row in each, as one Dataset with a dimension for each index.

    Capacities are named ``per_…``; those of layers have the names of their versions. Attributes are what a netCDF file
    can hold: no None, and truth as 0 or 1.
    """
    xr = library("xarray")
    parts = []
    for by, frame in frames.items():
        part = xr.Dataset.from_dataframe(frame)
        for name, unit in frame.attrs["units"].items():
            part[name].attrs["units"] = unit
        names = {"capacity": f"per_{by}", "error": f"per_{by}_error"}
        parts.append(part.rename({name: new for name, new in names.items() if name in part}))
    about = {name: value for name, value in frame.attrs.items() if name != "units" and value is not None}
    return xr.merge(parts).assign_attrs({k: int(v) if isinstance(v, bool) else v for k, v in about.items()})


def _about(found: Any, *names: str) -> dict[str, Any]:
    own = {name: getattr(found, name) for name in names if hasattr(found, name)}
    return {"kind": type(found).__name__, "model": repr(found.arch), "method": found.method, **own}


def _frame(
    columns: Mapping[str, Any], index: Mapping[str, Any], about: Mapping[str, Any], unit: str = ""
) -> pandas.DataFrame:
    frame = library("pandas").DataFrame({**index, **columns}).set_index([*index])
    frame.attrs.update({**about, "units": {name: unit or UNITS[name] for name in columns}})
    return frame
