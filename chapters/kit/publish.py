"""Results in the prose of a notebook: sentences and captions that a cell prints, and numbers for other pages.

What a cell says is Markdown in its output, so that it reads the same in the book, in JupyterLab, on GitHub and in a
copy that was run with other parameters.
"""

GLUE_PREFIX = "application/papermill.record/"  # of an output that no page shows, and that MyST-NB's glue role finds


def say(*sentences: str) -> None:
    """Show text with results as Markdown: ``say(f"Two channels hold {share:.1f} of {total} units.")``.

    Several arguments are joined by a space. Outside a notebook nothing happens.
    """
    _show(" ".join(sentences), {})


def folded(title: str, table: str) -> str:
    """Markdown of an HTML table behind its title. On a narrow page the table scrolls in a box (``scrolling.js``)."""
    box = f'<div class="pst-scrollable-table-container">{table}</div>'
    return f"<details><summary>{title}</summary>\n\n{box}\n\n</details>"


def caption(*sentences: str) -> None:
    """Show the cell's figures, and below them their caption; the book makes it the figure's own (``notebook_text``)."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    if "inline" in mpl.get_backend():
        from IPython.display import publish_display_data

        from chapters.kit.pictures import picture

        for number in plt.get_fignums():
            publish_display_data(*picture(plt.figure(number)))
        plt.close("all")
    _show(" ".join(sentences), {"capcore": {"caption": True}})


def _show(text: str, metadata: dict[str, object]) -> None:
    from IPython.core.getipython import get_ipython

    if get_ipython() is not None:
        from IPython.display import publish_display_data

        publish_display_data({"text/markdown": text}, metadata)


def publish(**values: object) -> None:
    """Glue every value under its name, unseen; floats to nine digits, lists as "1, 2, 3", empty ones as "none".

    The output is the one of ``myst_nb.glue(name, value, display=False)``, without its second of imports. Outside a
    notebook there is no page to cite the values, and nothing happens.
    """
    from IPython.core.getipython import get_ipython

    if get_ipython() is None:
        return
    from IPython.core.formatters import format_display_data
    from IPython.display import publish_display_data

    for name, value in values.items():
        shown, metadata = format_display_data(_text(value))
        metadata["scrapbook"] = {"name": name, "mime_prefix": GLUE_PREFIX}
        publish_display_data({GLUE_PREFIX + kind: text for kind, text in shown.items()}, metadata)


def _text(value: object) -> object:
    """``value`` as it should stand in a sentence.

    >>> _text([1, 2]), _text([]), _text("x"), _text(3), _text(0.1 + 0.2)
    ('1, 2', 'none', 'x', 3, 0.3)
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, float):
        return float(f"{value:.9g}")  # processors differ in the last digits of sixteen
    return (", ".join(map(str, value)) or "none") if isinstance(value, list | tuple) else value
