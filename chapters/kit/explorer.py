"""Figures that the reader operates: a picture everywhere, and live on a page of the book.

The output of a cell holds the picture, as of any other figure, and as JSON the kind of explorer with its data.
JupyterLab, GitHub, papermill and print show the picture; ``book/_ext/explorer.py`` brings the data onto the page, and
``book/_static/explorer/<kind>.js`` draws them there. The contract of such a file heads ``shell.js`` in that folder.
"""

from collections.abc import Sequence
from typing import Any

from chapters.kit.stored import stored

MIME = "application/vnd.capcore.explorer+json"


def explorer(kind: str, data: str | dict[str, Any], figure: Any = None, controls: Sequence[str] = ()) -> None:
    """Show a figure as a picture that becomes an explorer in the book. :func:`chapters.kit.publish.caption` follows.

    Outside a notebook nothing happens. Raises ``FileNotFoundError`` as ``stored`` does.

    Parameters
    ----------
    kind : str
        The script in ``book/_static/explorer`` that draws it.
    data : str or dict
        Name of a stored result, whose values the page will hold; or values of plain types, rounded so that
        processors agree, which are kept in the notebook.
    figure : Figure, optional
        The picture; by default the current figure.
    controls : sequence of str
        Names of the controls that the page shows, for readers who have not read the chapter: the others keep their
        defaults, and the explorer draws and says only what needs no more words. By default all are shown.
    """
    from IPython.core.getipython import get_ipython

    if isinstance(data, str):
        stored(data)  # refuses one that was edited by hand
    content: dict[str, Any] = {"kind": kind, "stored" if isinstance(data, str) else "data": data}
    content |= {"controls": list(controls)} if controls else {}
    if get_ipython() is None:
        return
    import matplotlib.pyplot as plt
    from IPython.display import publish_display_data

    from chapters.kit.pictures import picture

    figure = plt.gcf() if figure is None else figure
    shown, metadata = picture(figure)
    plt.close(figure)
    publish_display_data({**shown, MIME: content}, metadata)
