"""The results of the two verbs: one ``Fit`` and one ``Allocation``, whatever the method and the size.

Each keeps the record of its method (``details``) and passes on what only that method provides, such as ``layers`` of a
dense allocation. If a method does not provide an attribute, the error names a method that does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from capcore.checks.arguments import counted, one_of, positive_integer
from capcore.checks.names import meant
from capcore.results.notebook import bars, table
from capcore.results.tables import BY

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

    from capcore.capacity.allocation import LayerAllocation

Floats = NDArray[np.float64]
DENSE = "dense"
FOR_ALL = (DENSE, "gauss-newton", "sketch")
FITS_THAT_GIVE = {
    **dict.fromkeys(("coefficients", "variance", "gradient_norm", "history", "stationarity"), "riemannian-newton"),
    **dict.fromkeys(("resolution", "is_singular"), "riemannian-newton"),
    **dict.fromkeys(("relative_offset", "losses"), "gauss-newton"),
    "kernels": "octaves",
}
ALLOCATIONS_THAT_GIVE = dict.fromkeys(
    ("space", "layers", "per_eigenvector", "eigenvalues", "per_frequency", "frequencies", "capacity", "covariance"),
    DENSE,
) | {"per_input": "streamed", "missed": "streamed", "condition": "streamed", "singular_values": "sketch"}
LISTED = 2**11
"""Number of inputs up to which a picture shows each input; beyond, it shows octaves of lag."""


class _WithDetails:
    """A result that passes on the attributes of ``details``, the record of its method."""

    _verb: ClassVar[str]
    _that_give: ClassVar[dict[str, str]]

    def __getattr__(self, name: str) -> Any:
        own = vars(self)
        if name.startswith("__") or "details" not in own:
            raise AttributeError(name)
        if hasattr(own["details"], name):
            return getattr(own["details"], name)
        if name in self._that_give:
            method = self._that_give[name]
            raise AttributeError(
                f"{name}: found a result of method {own['method']!r}, which does not give it. "
                f"Use {self._verb}(…, method={method!r}){'' if method in FOR_ALL else ', for tensor trains'}."
            )
        known = [attribute for attribute in dir(self) if attribute[0] != "_"]
        raise AttributeError(
            f"{name}: found no such attribute, expected one of {', '.join(known)}.{meant(name, known)}"
        )

    def __dir__(self) -> list[str]:
        own = [attribute for attribute in dir(self.details) if attribute[0] != "_"]
        return sorted({*super().__dir__(), *own})


class _OfFit(_WithDetails):
    """What most records of fits have, for type checkers."""

    coefficients: Floats
    variance: float
    gradient_norm: float
    history: list[float]


class _OfAllocation(_WithDetails):
    """What most records of allocations have, for type checkers."""

    per_input: Floats
    missed: Floats
    layers: dict[str, LayerAllocation]


@dataclass(frozen=True, eq=False)
class Fit(_OfFit):
    """An optimum, with measures of its quality.

    Attributes
    ----------
    params : (n_params,) array
        Parameters of the optimum.
    loss : float
        Excess variance (A − A*)ᵀΣ(A − A*) (paper 1, Eq. 14).
    method : str
        The minimiser used.
    converged : bool
        Whether it converged.
    message : str
        Why it stopped.
    n_iterations : int
        Iterations of the run that was kept.
    coefficients : (n · d,) array
        Coefficients Â of the model. "octaves" does not provide these and the next three.
    variance : float
        v* + loss, the variance of the prediction error.
    gradient_norm : float
        ‖∂L/∂W‖ at the end.
    history : (n_iterations + 1,) array
        Loss at the start and after each iteration.
    inputs : str
        What the table calls an input, as in an :class:`Allocation`.
    details : object
        The record of the method; its other attributes, such as ``relative_offset`` or ``stationarity``, are attributes
        of this result as well.

    Raises
    ------
    AttributeError
        For what the method does not give, with the name of one that does.
    """

    _verb, _that_give = "fit", FITS_THAT_GIVE
    arch: Any = field(repr=False)
    params: Floats = field(repr=False)
    loss: float
    method: str
    converged: bool
    message: str
    n_iterations: int
    details: Any = field(repr=False)
    inputs: str = field(default="lag", repr=False)

    def unravel(self) -> Any:
        """The parameters as the model takes them: the pytree of a function, the state of a module, or ``params``."""
        back = getattr(self.arch, "unravel", None)
        return self.params if back is None else back(self.params)

    def plot(self, ax: Axes | None = None, label: str | None = None, **style: Any) -> Axes:
        """Loss after each iteration; for "octaves" the decrease that each step promised. Needs matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; those of another fit, to compare the two.
        label : str, optional
            Name in the legend.
        **style : object
            For the line.
        """
        from capcore.plotting import axes_for, show_legend

        axis = axes_for(ax)
        listed = hasattr(self, "history")
        values = np.asarray(self.history if listed else self.details.decreases)
        axis.plot(np.arange(len(values)), values, label=label, **{"marker": "o", "markersize": 3, **style})
        if (values > 0).all():
            axis.set_yscale("log")
        title = self.method if len(axis.lines) == 1 and label is None else ""
        axis.set(xlabel="iteration", ylabel="loss" if listed else "promised decrease of the loss", title=title)
        return show_legend(axis, label)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row for each coefficient, by ``lag`` (and ``component``), and the ``target`` if it is kept. Needs pandas.

        >>> from capcore import Hierarchical, PowerLaw, fit
        >>> fit(Hierarchical(channels=1, n_layers=2), PowerLaw()).to_dataframe().round(3)["coefficient"].tolist()
        [0.575, 0.103, 0.088, 0.016]
        """
        from capcore.results.tables import fit_frame

        return fit_frame(self)

    def _repr_html_(self) -> str:
        rows = {
            "model": repr(self.arch),
            "loss": f"{self.loss:.6g}",
            "method": f"{self.method}, {counted(self.n_iterations, 'iteration')}",
            "converged": f"{'yes' if self.converged else 'no'}: {self.message}",
        }
        return table("Fit", rows)


@dataclass(frozen=True, eq=False)
class Allocation(_OfAllocation):
    """Where a model at given parameters spends its capacity.

    Attributes
    ----------
    total : int
        κ, the dimension of the constraint space 𝒦 = column space of ΣJ (paper 1, Eq. 16).
    generic_total : int or None
        Exact rank of the Jacobian at almost all parameters, if it is known.
    method : str
        "dense", "streamed", "octaves" or "sketch".
    error : float
        First-order estimate of the error of a capacity due to rounding and the approximation of far lags.
    edges : (k + 1,) array
        0, 1, 2, 4, … n: octave i contains the lags edges[i] … edges[i + 1] − 1. For the method "octaves" they are
        the products of kernel sizes, which are the same for two taps.
    per_octave : (k,) array
        Capacity of every octave; sums to ``total``.
    per_input : (n_inputs,) array
        Capacity of every position, lag 0 first, each between 0 and ``input_dim`` (Eq. 18). Not listed by "octaves".
    missed : (n_inputs,) array
        Share of a small event at each position that the best model nearby still misses, see
        :attr:`CapacityAllocation.missed <capcore.capacity.allocation.CapacityAllocation.missed>`. As ``per_input``.
    inputs : str
        What tables and pictures call an input: "lag", or for a covariance matrix as it says, such as "pixel".
    details : object
        The record of the method. A dense one also gives ``layers``, ``per_frequency``, ``per_eigenvector``, ``space``
        and ``capacity(S)``, see :class:`~capcore.capacity.allocation.CapacityAllocation`.

    Raises
    ------
    AttributeError
        For what the method does not give, with the name of one that does.
    """

    _verb, _that_give = "allocate", ALLOCATIONS_THAT_GIVE
    arch: Any = field(repr=False)
    total: int
    generic_total: int | None
    method: str
    error: float
    edges: NDArray[np.integer] = field(repr=False)
    per_octave: Floats = field(repr=False)
    details: Any = field(repr=False)
    inputs: str = field(default="lag", repr=False)

    @property
    def n_inputs(self) -> int:
        """Number of input positions."""
        return int(self.edges[-1])

    def plot(
        self,
        ax: Axes | None = None,
        label: str | None = None,
        shape: tuple[int, int] | None = None,
        *,
        by: str | None = None,
        **style: Any,
    ) -> Axes:
        """Capacity per input, or per octave of lag beyond 2,048 inputs. Needs matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; those of another model, to compare the two.
        label : str, optional
            Name in the legend; of an image, its title.
        shape : (int, int), optional
            Rows and columns, where inputs are pixels: an image, which has no past and no future.
        by : str, optional
            As in :meth:`to_dataframe`. The areas of layers are their forward capacities, which sum to that of an input.
        **style : object
            For the line, or the image, such as ``color`` or ``cmap``.

        Raises
        ------
        ValueError
            If the inputs do not fill the shape, or there is no such ``by``.

        Examples
        --------
        >>> from capcore import Hierarchical, PowerLaw, allocate, fit
        >>> arch, axes = Hierarchical(channels=1, n_layers=4), None
        >>> for process in (PowerLaw(0.5), PowerLaw(2.0)):
        ...     axes = allocate(arch, fit(arch, process), process).plot(axes, label=repr(process))
        >>> [text.get_text() for text in axes.get_legend().get_texts()]
        ['PowerLaw(exponent=0.5)', 'PowerLaw(exponent=2.0)']
        """
        from capcore.plotting import axes_for, plot_image, plot_layers, plot_octaves, plot_profile

        axis, ceiling = axes_for(ax), self.arch.input_dim
        listed = self.n_inputs <= LISTED and hasattr(self, "per_input")
        by = one_of(by or (self.inputs if listed else "octave"), "by", (self.inputs, *BY))
        if shape is not None:
            return plot_image(self.per_input, shape, axis, label, **style)
        if by == "layer":
            return plot_layers({name: layer.forward for name, layer in self.layers.items()}, axis, self.inputs, **style)
        if by == "octave":
            return plot_octaves(self.per_octave, self.edges, axis, label, self.inputs, **style)
        if by == "frequency":
            name = "frequency, in cycles per input"
            return plot_profile(self.per_frequency, axis, label, 2 * ceiling, name, self.frequencies, **style)
        values = self.per_input if by == self.inputs else self.per_eigenvector
        return plot_profile(values, axis, label, ceiling if by == self.inputs else 1, by, **style)

    def to_dataframe(self, by: str | None = None) -> pandas.DataFrame:
        """Capacities as a tidy table. Needs pandas.

        Parameters
        ----------
        by : str, optional
            "lag", "octave", "layer", "eigenvector" or "frequency": what has a row each. The last three are of method
            "dense". By default "lag", which other ``inputs`` replace, and "octave" where they are not listed.

        Examples
        --------
        >>> from capcore import Hierarchical, PowerLaw, allocate, fit
        >>> arch = Hierarchical(channels=1, n_layers=3)
        >>> allocate(arch, fit(arch, PowerLaw()), PowerLaw()).to_dataframe(by="octave")["capacity"].round(3).tolist()
        [0.998, 0.985, 1.041, 0.976]
        """
        from capcore.results.tables import allocation_frame

        return allocation_frame(self, by)

    def to_xarray(self) -> xarray.Dataset:
        """All capacities, each with its own dimension, as :mod:`capcore.results.tables` names them. Needs xarray."""
        from capcore.results.tables import dataset

        own = {"octave": "per_octave", self.inputs: "per_input", "layer": "layers"}
        own |= {"eigenvector": "per_eigenvector", "frequency": "per_frequency"}
        return dataset({by: self.to_dataframe(by) for by, name in own.items() if hasattr(self, name)})

    def _repr_html_(self) -> str:
        generic = "not known" if self.generic_total is None else f"{self.generic_total:,}"
        rows = {
            "model": repr(self.arch),
            "capacity": f"{self.total:,} (generic {generic})",
            "inputs": f"{self.n_inputs:,}",
            "method": f"{self.method}, error about {self.error:.0e}",
        }
        return table("Capacity allocation", rows) + bars(self.per_octave, f"capacity by octave of {self.inputs}")


def octave_edges(n_inputs: int) -> np.ndarray:
    """Edges of the octaves of lag: 0, 1, 2, 4, 8, … and ``n_inputs``.

    >>> octave_edges(6).tolist()
    [0, 1, 2, 4, 6]
    """
    n = positive_integer(n_inputs, "n_inputs")
    return np.array([0, *(2**k for k in range((n - 1).bit_length())), n])


def octaves_of(per_input: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the octaves of lag, and the capacity of each.

    >>> octaves_of(np.array([1.0, 0.5, 0.25, 0.25]))
    (array([0, 1, 2, 4]), array([1. , 0.5, 0.5]))
    """
    edges = octave_edges(per_input.size)
    return edges, np.add.reduceat(per_input, edges[:-1])
