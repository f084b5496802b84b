"""A figure as a phone shows it: its panels one below the other, at the width of the screen, in letters of true size.

``narrow(figure)`` changes a figure that has been drawn for the page. Panels keep their heights and lose width only.
Titles, labels and legends that no longer fit are set in several lines (``kit.fitting``). Where this gives no good
picture, whoever draws the figure says what to change: ``when_narrow(figure, change)``, where ``change`` is called when
the panels have been placed, and before their text is fitted.
"""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import GridSpec

from chapters.kit.fitting import fit_columns, fit_labels, keep_whole, names_rows, place_legend, thin

WIDTH = 3.65  # inches: 350 pixels, the column of text on a phone of 390
BESIDE = 0.8  # inches that labels of a panel take above and below it, until they are measured


def when_narrow(figure: Figure | SubFigure, change: Callable[[], object]) -> None:
    """Have ``change`` called when ``figure`` becomes narrow."""
    vars(figure).setdefault("when_narrow", []).append(change)


def narrow(figure: Figure) -> Figure:
    """Make ``figure`` as narrow as a phone, in place. It has been drawn, and its layout is that of the style.

    >>> import matplotlib.pyplot as plt
    >>> figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.0), layout="constrained")
    >>> figure.draw_without_rendering()
    >>> _ = narrow(figure)
    >>> bool(figure.get_figwidth() < 4 and axes[1].get_position().y1 < axes[0].get_position().y0)
    True
    """
    panels = _in_order([ax for ax in figure.axes if ax.get_subplotspec() is not None and not hasattr(ax, "_colorbar")])
    heights = [_height(ax) for ax in panels]
    for bar in [ax for ax in figure.axes if hasattr(ax, "_colorbar")]:
        _put_below(bar)
    _name_places(panels)
    for ax in panels:
        keep_whole(ax.xaxis)
    _stack(panels, heights)
    figure.set_size_inches(WIDTH, sum(heights) + BESIDE * len(panels))
    for change in vars(figure).get("when_narrow", []):
        change()
    legends = {ax: legend for ax in panels if (legend := ax.get_legend()) is not None}
    for legend in legends.values():
        legend.set_in_layout(False)
    _arrange(figure)
    for ax in panels:
        fit_labels(ax)
    for ax in figure.axes:
        if hasattr(ax, "_colorbar"):
            thin(ax.xaxis)
    for ax, legend in legends.items():
        legend.set_in_layout(True)
        place_legend(legend, ax)
    for legend in figure.legends:
        fit_columns(legend, figure.bbox.width)
    _arrange(figure)
    wanted = [_shape(ax, height) for ax, height in zip(panels, heights, strict=True)]
    figure.set_figheight(figure.get_figheight() + sum(wanted) - sum(map(_height, panels)))
    panels[0].get_gridspec().set_height_ratios(wanted)  # type: ignore[union-attr]
    return figure


def _arrange(figure: Figure) -> None:
    """Do what happens to the layout when the figure is drawn."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def _height(ax: Axes) -> float:
    """In inches, of the place that the panel has."""
    return ax.get_position(original=True).height * ax.figure.get_figheight()  # type: ignore[union-attr]


def _shape(ax: Axes, height: float) -> float:
    """The height that a panel should have: the one it had, or the one that its width allows if its shape is fixed."""
    if ax.get_aspect() != "auto" and names_rows(ax):
        ax.set_aspect("auto")  # rows that have names keep their height
    if ax.get_aspect() == "auto":
        return height
    width = ax.get_position(original=True).width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    return min(height, width * ax.get_data_ratio() * float(ax.get_aspect()))


def _in_order(panels: list[Axes]) -> list[Axes]:
    """From the first to the last: by rows, or by columns where the panels of a column share what stands below them."""
    place = {ax: ax.get_subplotspec() for ax in panels}
    by_columns = any(
        one is not other and one.get_shared_x_axes().joined(one, other) and place[one].colspan == place[other].colspan  # type: ignore[union-attr]
        for one in panels
        for other in panels
    )
    return sorted(panels, key=lambda ax: (place[ax].colspan.start * by_columns, place[ax].num1))  # type: ignore[union-attr]


def _name_places(panels: list[Axes]) -> None:
    """Say on each panel where it stands on the page, as the text speaks of it."""
    rows, columns = panels[0].get_gridspec().get_geometry()  # type: ignore[union-attr]
    across = {2: ("left", "right"), 3: ("left", "middle", "right")}.get(columns)
    down = {1: ("",), 2: ("upper ", "lower ")}.get(rows)
    if across is None or down is None or len(panels) != rows * columns:
        return
    for ax in panels:
        place = ax.get_subplotspec()
        name = f"{down[place.rowspan.start]}{across[place.colspan.start]}"  # type: ignore[union-attr]
        ax.set_title(name, loc="right", color="0.45", fontsize=8, style="italic")


def _stack(panels: list[Axes], heights: list[float]) -> None:
    """One below the other, each with the labels that it had from those at its left in its row."""
    rows = {ax: ax.get_subplotspec().rowspan for ax in panels}  # type: ignore[union-attr]
    for place, ax in enumerate(panels):
        row = [other for other in panels[: place + 1] if rows[other] == rows[ax]]
        _label_as(row[:-1], ax)
    figure = panels[0].get_figure(root=True)
    grid = GridSpec(len(panels), 1, figure=figure, height_ratios=heights)
    for place, ax in enumerate(panels):
        ax.set_subplotspec(grid[place])


def _label_as(others: list[Axes], ax: Axes) -> None:
    """Give a panel what its vertical axis lacks: the names of its row, and the label of the nearest of ``others``."""
    if not others or not ax.axison:
        return
    first = others[0]
    ax.yaxis.set_tick_params(which="both", labelleft=first.yaxis.get_tick_params().get("labelleft", True))
    ax.yaxis.offsetText.set_visible(True)
    names = [text.get_text() for text in first.get_yticklabels()]
    if names_rows(first) and not names_rows(ax) and ax.get_ylim() == first.get_ylim():
        ax.set_yticks(first.get_yticks(), names)
    if not ax.get_ylabel() and len(ax.get_yticks()):
        labels = [other.get_ylabel() for other in others if other.get_ylabel()]
        ax.set_ylabel(labels[-1] if labels else "")


def _put_below(ax: Axes) -> None:
    """Turn a colour bar from the right of its panels to below the last of them."""
    bar = ax._colorbar  # type: ignore[attr-defined]
    info = ax._colorbar_info  # type: ignore[attr-defined]
    if info["location"] != "right":
        return
    label, ticks, parents = ax.get_ylabel(), bar.get_ticks(), info["parents"]
    bar.remove()
    ax.figure.colorbar(bar.mappable, ax=parents[-1], location="bottom", label=label, ticks=ticks, aspect=30)
