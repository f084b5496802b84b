"""What every notebook does first: check its parameters, cap the BLAS threads, apply the figure style.

Papermill reports an unknown parameter only as a warning and enforces no types, so a notebook checks them itself,
and shows a reader who mistypes one a single line instead of a traceback.

Setting the text of figures takes half of a short run. With ``CAPCORE_FIGURES=off`` in the environment the figures of a
notebook are made and not rendered: ``CAPCORE_FIGURES=off papermill …`` for whoever wants the numbers alone; with
``book``, as the book's build has it, they are rendered for the page and for a phone, too (``chapters.pictures``).
``CAPCORE_THREADS=2`` gives notebooks two BLAS threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from types import ModuleType

from threadpoolctl import threadpool_limits

from chapters.parameters import note_changes
from chapters.sizes import check_sizes


class ParameterError(ValueError):
    """A notebook parameter that cannot be used. Shown in a notebook as one line, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"ParameterError: {self}"]


def start(namespace: dict, *parameters: str, threads: int | None = None) -> None:
    """Begin a notebook: refuse unknown parameters, cap the BLAS threads, apply the figure style.

    Parameters
    ----------
    namespace : dict
        The notebook's ``globals()``, right after its parameters cell.
    *parameters : str
        The names that cell defines.
    threads : int, optional
        Most BLAS threads to use. By default the environment's ``CAPCORE_THREADS``, or one: the matrices of this
        book are small, so that a second thread gains little, and on a busy machine threads that wait for each other
        take 10 to 100 times longer.

    Raises
    ------
    ParameterError
        For any other variable: it was injected, and would silently do nothing; and for sizes that could not fit into
        memory (``sizes``), before anything is allocated.

    Examples
    --------
    >>> start({"chanels": 4}, "channels")
    Traceback (most recent call last):
    ...
    chapters.start.ParameterError: chanels: not a parameter of this notebook. ... Did you mean 'channels'?
    """
    for name, value in namespace.items():
        if name.startswith("_") or name in ("In", "Out", "exit", "quit", "get_ipython", "open") or name in parameters:
            continue
        if isinstance(value, ModuleType | type) or callable(value):
            continue
        close = get_close_matches(name, parameters, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ParameterError(f"{name}: not a parameter of this notebook. Expected {', '.join(parameters)}.{hint}")
    note_changes(namespace, parameters)
    with checked_parameters():
        check_sizes({name: namespace[name] for name in parameters if name in namespace})
    with checked_parameters():
        given = os.environ.get("CAPCORE_THREADS", "1")
        if threads is None and not given.isdecimal():
            raise ValueError(f"CAPCORE_THREADS: found {given!r} in the environment, expected a whole number.")
    threadpool_limits(int(given) if threads is None else threads)
    from capcore.plotting import use_style

    use_style()
    _draw_figures_once()


def _draw_figures_once() -> None:
    """Where figures go inline: no drawing before the one that is shown, and none at all where they are off.

    After a cell Matplotlib would draw its figures as for a window, which nothing shows; then IPython draws them again.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None or "inline" not in mpl.get_backend():
        return
    from matplotlib_inline.config import InlineBackend

    plt.switch_backend(mpl.get_backend())  # loaded at the first figure, it would connect the hook again
    plt.uninstall_repl_displayhook()
    if os.environ.get("CAPCORE_FIGURES") == "off":
        InlineBackend.instance(parent=shell).figure_formats = set()


@contextmanager
def checked_parameters() -> Iterator[None]:
    """Show what is wrong with a parameter as one line: wraps the cell that builds things from them.

    >>> with checked_parameters():
    ...     raise ValueError("n_layers: found 0, expected a whole number of at least 1.")
    Traceback (most recent call last):
    ...
    chapters.start.ParameterError: n_layers: found 0, expected a whole number of at least 1.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ParameterError(str(error)) from None
