"""Results as tidy tables of pandas, and as labelled arrays of xarray: what ``to_dataframe()`` and ``to_xarray()`` give.

Names of dimensions are those of the book: ``lag`` (0 is the most recent input), ``component``, ``octave``, ``layer``,
``eigenvector``, ``frequency``; ``example``, ``output`` and ``group`` of networks; ``spectrum`` of weights. Units are in
``attrs``: of the frame as a mapping from columns, of each variable of a Dataset as ``units``.
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
LOSS = "loss of one example"
UNITS = {
    "lag": "inputs before the most recent one",
    "component": "index",
    "coefficient": "output per input",
    "target": "output per input",
    "first_lag": "inputs before the most recent one",
    "end": "inputs before the most recent one, not included",
    "frequency": "cycles per input",
    "eigenvalue": "variance",
    "loss": "variance",
    **dict.fromkeys(("training_loss", "loss_left_out"), LOSS),
    "leverage": RESPONSE,
    "distance": "squared lengths of the confidence region",
    "trusted": "share",
    **dict.fromkeys(("capacity", "independent", "forward", "backward", "marginal"), CAPACITY),
}
VIEWS = ("independent", "forward", "backward", "marginal")


def fit_frame(found: Any) -> pandas.DataFrame:
    """One row for each coefficient of a fit, by ``lag`` and ``component``; ``target`` where the method keeps it."""
    columns = {"coefficient": found.coefficients}
    if hasattr(found, "target"):
        columns["target"] = found.target
    return _frame(columns, _positions(found.arch), _about(found, "loss", "variance", "converged", "n_iterations"))


def fit_dataset(found: Any) -> xarray.Dataset:
    """Parameters, and where the method keeps them coefficients, target, losses by iteration and losses by start."""
    d = found.arch.input_dim
    dims, shape = (("lag", "component"), (-1, d)) if d > 1 else (("lag",), (-1,))
    variables: dict[str, Any] = {"params": (("parameter",), found.params, "")}
    for name, own in (("coefficient", "coefficients"), ("target", "target")):
        if hasattr(found, own):
            variables[name] = (dims, getattr(found, own).reshape(shape), UNITS[name])
    for name, own, dim in (("loss_after", "history", "iteration"), ("loss_of_start", "losses", "start")):
        if hasattr(found, own):
            variables[name] = ((dim,), getattr(found, own), UNITS["loss"])
    about = _about(found, "loss", "variance", "gradient_norm", "converged", "message", "n_iterations")
    return _dataset(variables, {}, about)


def allocation_frame(found: Any, by: str | None) -> pandas.DataFrame:
    """Capacity ``by`` "lag", "octave", "layer", "eigenvector" or "frequency": one row for each, tidy."""
    by = ("lag" if hasattr(found, "per_input") else "octave") if by is None else by
    one_of(by, "by", ("lag", "octave", "layer", "eigenvector", "frequency"))
    about = _about(found, "total", "generic_total", "error")
    if by == "octave":
        columns = {"first_lag": found.edges[:-1], "end": found.edges[1:], "capacity": found.per_octave}
        return _frame(columns, {"octave": np.arange(len(found.per_octave))}, about)
    if by == "layer":
        n, layers = found.n_inputs, found.layers
        columns = {view: np.concatenate([getattr(layer, view) for layer in layers.values()]) for view in VIEWS}
        return _frame(columns, {"layer": np.repeat(list(layers), n), "lag": np.tile(np.arange(n), len(layers))}, about)
    if by == "eigenvector":
        columns = {"eigenvalue": found.eigenvalues, "capacity": found.per_eigenvector}
        return _frame(columns, {"eigenvector": np.arange(len(found.eigenvalues))}, about)
    if by == "frequency":
        return _frame({"capacity": found.per_frequency}, {"frequency": found.frequencies}, about)
    return _frame({"capacity": found.per_input}, {"lag": np.arange(found.n_inputs)}, about)


def allocation_dataset(found: Any, layers: bool) -> xarray.Dataset:
    """All capacities that the method gives, each with its own dimension."""
    variables: dict[str, Any] = {"per_octave": (("octave",), found.per_octave, CAPACITY)}
    coordinates = {"first_lag": (("octave",), found.edges[:-1]), "end": (("octave",), found.edges[1:])}
    if hasattr(found, "per_input"):
        variables["per_input"] = (("lag",), found.per_input, CAPACITY)
    if hasattr(found, "per_eigenvector"):
        variables["per_eigenvector"] = (("eigenvector",), found.per_eigenvector, CAPACITY)
        variables["per_frequency"] = (("frequency",), found.per_frequency, CAPACITY)
        coordinates["eigenvalue"] = (("eigenvector",), found.eigenvalues)
        coordinates["frequency"] = (("frequency",), found.frequencies)
    if layers and hasattr(found, "layers"):
        coordinates["layer"] = (("layer",), np.array(list(found.layers)))
        for view in VIEWS:
            values = np.stack([getattr(layer, view) for layer in found.layers.values()])
            variables[view] = (("layer", "lag"), values, CAPACITY)
    return _dataset(variables, coordinates, _about(found, "total", "generic_total", "error"))


def network_frame(found: Any, by: str) -> pandas.DataFrame:
    """Capacity of a network ``by`` "example", "output", "subspace" or "layer"; with ``error`` for sketches."""
    one_of(by, "by", ("example", "output", "subspace", "layer"))
    about = {name: getattr(found, name) for name in _NETWORK}
    if by == "layer":
        totals = {name: layer.totals for name, layer in found.layers.items()}
        columns = {view: np.array([total[view] for total in totals.values()]) for view in VIEWS}
        return _frame(columns, {"layer": np.array(list(totals))}, about, RESPONSE)
    parts = [("capacity", found), *([("error", found.errors)] if found.errors is not None else [])]
    if by == "subspace":
        groups = {name: np.atleast_1d(values).shape for name, values in found.per_subspace.items()}
        names = np.repeat(list(groups), [int(np.prod(shape)) for shape in groups.values()])
        index = {
            "subspace": names,
            "group": np.concatenate([np.empty(0, int), *(np.arange(np.prod(shape)) for shape in groups.values())]),
        }
        columns = {name: _flat(part.per_subspace) for name, part in parts}
        return _frame(columns, index, about, RESPONSE)
    columns = {name: getattr(part, f"per_{by}") for name, part in parts}
    return _frame(columns, {by: np.arange(len(columns["capacity"]))}, about, RESPONSE)


def network_dataset(found: Any) -> xarray.Dataset:
    """Capacities by example, output and subspace, and errors of a sketch under ``…_error``."""
    variables: dict[str, Any] = {}
    for end, part in (("", found), *((("_error", found.errors),) if found.errors is not None else ())):
        variables[f"per_example{end}"] = (("example",), part.per_example, RESPONSE)
        variables[f"per_output{end}"] = (("output",), part.per_output, RESPONSE)
        for name, values in part.per_subspace.items():
            array = np.asarray(values)
            dims = tuple(f"{name}_{i}" if array.ndim > 1 else name for i in range(array.ndim))
            variables[f"capacity_of_{name}{end}"] = (dims, array, RESPONSE)
    return _dataset(variables, {}, {name: getattr(found, name) for name in _NETWORK})


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


def spectra_dataset(report: Any) -> xarray.Dataset:
    """Metrics by ``spectrum``; all eigenvalues one after another, with the position of their spectrum."""
    frame = report.to_dataframe().iloc[: len(report.spectra)]
    variables = {
        name: (("spectrum",), frame[name].to_numpy(float, na_value=np.nan), "")
        for name in frame.columns
        if name not in ("name", "tap") and frame[name].dtype.kind in "fi"
    }
    coordinates = {"spectrum": (("spectrum",), frame["name"].to_numpy(str))}
    if report.densities:
        sizes = [len(density.eigenvalues) for density in report.densities]
        variables["eigenvalue"] = (
            ("entry",),
            np.concatenate([density.eigenvalues for density in report.densities]),
            "",
        )
        coordinates["spectrum_of"] = (("entry",), np.repeat(np.arange(len(sizes)), sizes))
    about = {"kind": "SpectraReport", "model": report.source.name, "sha256": report.source.sha256}
    return _dataset(variables, coordinates, {**about, **vars(report.model)})


_NETWORK = ("method", "loss", "total", "gauss_newton_total", "loss_value", "gradient_norm", "is_optimum", "error")


def _flat(values: Mapping[str, Any]) -> np.ndarray:
    return np.concatenate([np.ravel(value) for value in values.values()] or [np.empty(0)])


def _positions(arch: Any) -> dict[str, np.ndarray]:
    lags, d = np.arange(arch.n_inputs), arch.input_dim
    return {"lag": np.repeat(lags, d), "component": np.tile(np.arange(d), lags.size)} if d > 1 else {"lag": lags}


def _about(found: Any, *names: str) -> dict[str, Any]:
    own = {name: getattr(found, name) for name in names if hasattr(found, name)}
    return {"kind": type(found).__name__, "model": repr(found.arch), "method": found.method, **own}


def _frame(
    columns: Mapping[str, np.ndarray], index: Mapping[str, np.ndarray], about: Mapping[str, Any], unit: str = ""
) -> pandas.DataFrame:
    pd = library("pandas")
    names = list(index)
    rows = (
        pd.Index(index[names[0]], name=names[0])
        if len(names) == 1
        else pd.MultiIndex.from_arrays(list(index.values()), names=names)
    )
    frame = pd.DataFrame({name: np.asarray(values) for name, values in columns.items()}, index=rows)
    units = {name: unit or UNITS.get(name, "") for name in (*columns, *(name for name in names if name in UNITS))}
    frame.attrs.update({**about, "units": units})
    return frame


def _dataset(
    variables: Mapping[str, tuple[tuple[str, ...], np.ndarray, str]],
    coordinates: Mapping[str, tuple[tuple[str, ...], np.ndarray]],
    about: Mapping[str, Any],
) -> xarray.Dataset:
    """A Dataset whose attributes a netCDF file can hold: no None, and truth as 0 or 1."""
    xr = library("xarray")
    lags = [values.shape[dims.index("lag")] for dims, values, _ in variables.values() if "lag" in dims]
    counted = {"lag": (("lag",), np.arange(lags[0]))} if lags else {}
    return xr.Dataset(
        {name: (dims, values, {"units": unit} if unit else {}) for name, (dims, values, unit) in variables.items()},
        {
            name: (dims, values, {"units": UNITS[name]} if name in UNITS else {})
            for name, (dims, values) in {**counted, **coordinates}.items()
        },
        {name: int(value) if isinstance(value, bool) else value for name, value in about.items() if value is not None},
    )
