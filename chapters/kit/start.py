"""What every notebook does first: check its parameters, cap the BLAS threads, apply the figure style.

Papermill reports an unknown parameter only as a warning and enforces no types, so a notebook checks them itself against
its chapter's declaration, and shows a reader who mistypes one a single line instead of a traceback.

Setting the text of figures takes half of a short run. With ``CAPCORE_FIGURES=off`` in the environment the figures of a
notebook are made and not rendered: ``CAPCORE_FIGURES=off papermill …`` for whoever wants the numbers alone; with
``book``, as the book's build has it, they are rendered for the page and for a phone, too (``chapters.kit.pictures``).
``CAPCORE_THREADS=2`` gives notebooks two BLAS threads.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from threadpoolctl import threadpool_limits

from chapters.kit.parameters import Declaration, note_changes, validated


class ParameterError(ValueError):
    """A notebook parameter that cannot be used. Shown in a notebook as one line, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"ParameterError: {self}"]


def start(namespace: dict, declaration: type[Declaration] = Declaration, threads: int | None = None) -> None:
    """Begin a notebook: refuse unusable parameters, cap the BLAS threads, apply the figure style.

    Parameters
    ----------
    namespace : dict
        The notebook's ``globals()``, before it has set anything but its parameters, which become what their types say:
        4 is 4.0 where a number is asked for.
    declaration : Declaration
        The class ``Parameters`` of ``chapters.<chapter>.parameters``; by default the notebook has none.
    threads : int, optional
        Most BLAS threads to use. By default the environment's ``CAPCORE_THREADS``, or one: the matrices of this
        book are small, so that a second thread gains little, and on a busy machine threads that wait for each other
        take 10 to 100 times longer.

    Raises
    ------
    ParameterError
        For values that the declaration refuses, sizes that could not fit into memory among them, before anything is
        allocated; and for any other variable: it was injected, and would silently do nothing.

    Examples
    --------
    >>> from chapters.idea.parameters import Parameters
    >>> start({"chanels": 4}, Parameters)
    Traceback (most recent call last):
    ...
    chapters.kit.start.ParameterError: chanels: not a parameter of this notebook. ... Did you mean 'channels'?
    """
    shell = ("In", "Out", "exit", "quit", "get_ipython", "open")
    given = {
        name: value
        for name, value in namespace.items()
        if not (name.startswith("_") or name in shell or isinstance(value, ModuleType | type) or callable(value))
    }
    with checked_parameters():
        values = validated(declaration, given)
        most = os.environ.get("CAPCORE_THREADS", "1")
        if threads is None and not most.isdecimal():
            raise ValueError(f"CAPCORE_THREADS: found {most!r} in the environment, expected a whole number.")
    note_changes(declaration, values)
    namespace.update(values)
    threadpool_limits(int(most) if threads is None else threads)
    from capcore.plotting import use_style

    use_style()
    _draw_figures_once()


def _draw_figures_once() -> None:
    """Where figures go inline: no drawing before the one that is shown, which is that of ``chapters.kit.pictures``.

    After a cell Matplotlib would draw its figures as for a window, which nothing shows; then IPython draws them again.
    A cell that readers copy shows its figure without ``caption``, and its picture must follow page and theme, too.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None or "inline" not in mpl.get_backend():
        return
    from matplotlib.figure import Figure
    from matplotlib_inline.config import InlineBackend

    from chapters.kit.pictures import picture

    plt.switch_backend(mpl.get_backend())  # loaded at the first figure, it would connect the hook again
    plt.uninstall_repl_displayhook()
    InlineBackend.instance(parent=shell).figure_formats = set()
    shell.display_formatter.mimebundle_formatter.for_type(Figure, picture)


@contextmanager
def checked_parameters() -> Iterator[None]:
    """Show what is wrong with a parameter as one line: wraps the cell that builds things from them.

    >>> with checked_parameters():
    ...     raise ValueError("n_layers: found 0, expected a whole number of at least 1.")
    Traceback (most recent call last):
    ...
    chapters.kit.start.ParameterError: n_layers: found 0, expected a whole number of at least 1.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ParameterError(str(error)) from None
