"""One call from a network to a table that people read: exponents, how certain they are, and what chance gives.

``capcore spectra`` prints what :func:`report` returns, and both have the same defaults
(:func:`~capcore.spectra.options.usual_options`).
"""

from collections.abc import Sequence
from typing import Any

from capcore.checkpoints.tensors import Checkpoint
from capcore.checks.arguments import of_kind, plain_number
from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.layers import selected
from capcore.spectra.options import NULL, SpectraOptions, usual_options
from capcore.spectra.results import SpectraReport


def report(
    source: Any,
    *,
    layers: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    null: str | None = NULL,
    n_null: int | None = None,
    n_resamples: int | None = None,
    fast: bool = False,
    base: Any = None,
    adapter: Any = None,
    truncated: bool = False,
    options: SpectraOptions | None = None,
    workers: int = 1,
    progress: bool | None = False,
) -> SpectraReport:
    """Analyse the weight spectra of a network as ``capcore spectra`` does, with the same defaults and numbers.

    Each exponent (paper 3, Eq. 1) comes with an interval and with its p-value among exponents of the same weights in
    random order (:mod:`capcore.spectra.nulls`). Weights are taken as the layers use them: quantised weights are
    converted, names of wrappers such as ``torch.compile`` are dropped, and adapters are added.

    Parameters
    ----------
    source : object
        A path; a PyTorch module; a state dict; nested dictionaries, lists or a pytree of arrays; or a Checkpoint, as of
        :func:`~capcore.checkpoints.opening.read_checkpoint`. Layers with NaN or infinity are listed as not analysed.
        Kernels of Keras and Flax in memory need ``options`` with ``layout="channels-last"``.
    layers, skip : str or sequence of str
        Patterns such as ``layer1.*`` of the layers to analyse and to leave out.
    null : str, optional
        What exponents are compared with: ``shuffled`` or ``gaussian`` weights, or None.
    n_null, n_resamples : int, optional
        Draws of the null, and resamples for the interval; by default 100 of each. Above 8,192 eigenvalues there is no
        interval by default.
    fast : bool
        Only the exponents: no null, interval or other laws, unless ``n_null`` or ``n_resamples`` are given.
    base : object, optional
        A network of which the difference is analysed, given like ``source``.
    adapter : object, optional
        A LoRA adapter that is added first, as W + s·B·A.
    truncated : bool
        Also fit the truncated power law.
    options : SpectraOptions, optional
        All choices; ``null``, ``n_null``, ``n_resamples``, ``truncated`` and ``fast`` must then be left out.
    workers : int
        Layers at a time, each on one thread. The numbers are the same for any number.
    progress : bool or None
        Whether to show a progress bar on standard error. None shows it only on a terminal.

    Raises
    ------
    CheckpointError
        If weights cannot be read.
    ValueError
        If a pattern fits no tensor, or if choices contradict each other.

    Examples
    --------
    >>> import capcore as cc, numpy as np
    >>> spectra = cc.spectra.report({"fc.weight": np.random.default_rng(0).normal(size=(64, 96))}, n_resamples=0)
    >>> row = spectra.table().loc["fc.weight"]
    >>> bool(row.null_low < row.alpha < row.null_high), bool(row.null_p_value > 0.05), row.null_drawn
    (True, True, 'by shape')
    """
    of_kind(options, "options", SpectraOptions | None, "SpectraOptions")
    of_kind(fast, "fast", bool)
    of_kind(null, "null", str | None)
    numbers = {"n_null": plain_number(n_null, "n_null"), "n_resamples": plain_number(n_resamples, "n_resamples")}
    changes = {} if null == NULL else {"null": null}
    if options is not None and (fast or truncated or changes or any(n is not None for n in numbers.values())):
        raise ValueError("options: found null, n_null, n_resamples, truncated or fast beside, expected these within.")
    checkpoint, original = _used(source, base, adapter)
    checkpoint = selected(checkpoint, layers, skip)
    options = options or usual_options(fast=fast, truncated=truncated, **numbers, **changes)
    return analyse_spectra(checkpoint, options, base=original, workers=workers, progress=progress)


def _used(source: Any, base: Any, adapter: Any) -> tuple[Checkpoint, Checkpoint | None]:
    """The weights to analyse, and the base that was subtracted from them."""
    from capcore.checkpoints.differences import used
    from capcore.checkpoints.opening import read_checkpoint

    def open_weights(weights: Any) -> Checkpoint | None:
        if weights is None or isinstance(weights, Checkpoint):
            return weights
        return read_checkpoint(weights, non_finite="keep")

    checkpoint, original, added = (open_weights(weights) for weights in (source, base, adapter))
    if checkpoint is None:
        raise ValueError("source: found None, expected a path, a module or arrays by name.")
    original = None if original is None else used(original)
    return used(checkpoint, original, added), original
