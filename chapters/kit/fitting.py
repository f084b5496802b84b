"""Text that has to fit into a narrow figure: labels in several lines, fewer ticks, legends in fewer columns."""

import itertools
import math

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, FixedLocator
from matplotlib.transforms import ScaledTranslation

INSIDE = (0.62, 0.25)  # most of a panel's width, and of its area, that a legend inside it may take
NAMES = 0.42  # most of the figure's width for the names of rows
LONG = 6  # letters of a name, and not of a number
GAP = 0.06  # inches between a panel's labels, or its ticks, and the legend below
TICK = 0.05  # inches that a tick stands out


def fit_labels(ax: Axes) -> None:
    """Title, labels and names of rows in as many lines as they need, and no ticks that run into each other."""
    box, whole = ax.get_window_extent(), ax.figure.bbox
    _fit_names(ax)
    middle = (box.x0 + box.x1) / 2
    for title, start in ((ax._left_title, box.x0), (ax.title, whole.x0)):  # type: ignore[attr-defined]
        _wrap(title, whole.x1 - start - _length(ax._right_title))  # type: ignore[attr-defined]
    _wrap(ax.xaxis.label, 2 * min(whole.x1 - middle, middle - whole.x0))
    if ax.yaxis.label.get_rotation() == 90:
        _wrap(ax.yaxis.label, 1.15 * box.height)
    thin(ax.xaxis)


def names_rows(ax: Axes) -> bool:
    """Whether words stand at the ticks of the vertical axis."""
    words = (text.get_text() for text in ax.get_yticklabels() if "$" not in text.get_text())
    return isinstance(ax.yaxis.get_major_locator(), FixedLocator) and any(len(word) > LONG for word in words)


def _fit_names(ax: Axes) -> None:
    """Names of rows in two lines where they are long and the rows are far enough apart."""
    if not names_rows(ax):
        return
    shown = [text for text in ax.get_yticklabels() if text.get_text()]
    room = NAMES * ax.figure.bbox.width
    if not shown or max(map(_length, shown)) <= room:
        return
    apart = ax.get_window_extent().height / len(shown)
    said = [text.get_text() for text in ax.get_yticklabels()]
    for text in shown:
        _wrap(text, room)
    if max(text.get_window_extent().height for text in shown) <= apart:
        said = [text.get_text() for text in ax.get_yticklabels()]
    ax.set_yticks(ax.get_yticks(), said)


def thin(axis: Axis) -> None:
    """Take every second label away, until none touches the next."""
    while True:
        shown = [text for text in axis.get_ticklabels() if text.get_text() and text.get_visible()]
        boxes = sorted((text.get_window_extent() for text in shown), key=lambda box: box.x0)
        if all(one.x1 + 2 <= other.x0 for one, other in itertools.pairwise(boxes)) or len(shown) < 3:
            return
        names = [text.get_text() for text in axis.get_ticklabels()][::2]
        given = isinstance(axis.get_major_locator(), FixedLocator)
        axis.set_ticks(axis.get_ticklocs()[::2], names if given else None)


def keep_whole(axis: Axis) -> None:
    """Have whole numbers at the ticks of a narrower axis, too, if there were no others."""
    locator = axis.get_major_locator()
    if isinstance(locator, AutoLocator) and all(place == round(place) for place in axis.get_ticklocs()):
        locator.set_params(integer=True)


def _wrap(text: Text, room: float) -> None:
    """Break the text between words so that no line is longer than ``room`` pixels; formulas stay whole."""
    said = text.get_text()
    if not said or _length(text) <= room:
        return
    lines: list[str] = []
    for word in _words(said):
        text.set_text(f"{lines[-1]} {word}" if lines else word)
        if lines and _length(text) <= room:
            lines[-1] = text.get_text()
        else:
            lines.append(word)
    text.set_text("\n".join(lines))


def _length(text: Text) -> float:
    box = text.get_window_extent()
    return float(box.height if text.get_rotation() == 90 else box.width)


def _words(said: str) -> list[str]:
    """What stands between blanks, but for those in a formula.

    >>> _words("loss at $x = 1$ only")
    ['loss', 'at', '$x = 1$', 'only']
    """
    parts = said.split("$")
    kept = "$".join(part.replace(" ", "\\0") if i % 2 else part for i, part in enumerate(parts))
    return [word.replace("\\0", " ") for word in kept.split()]


def place_legend(legend: Legend, ax: Axes) -> None:
    """Leave a small legend inside its panel; put another below it."""
    box, size, figure = ax.get_window_extent(), legend.get_window_extent(), ax.figure
    inside = box.x0 <= size.x0 + 1 and size.x1 <= box.x1 + 1 and box.y0 <= size.y0 + 1 and size.y1 <= box.y1 + 1
    small = size.width <= INSIDE[0] * box.width and size.width * size.height <= INSIDE[1] * box.width * box.height
    if inside and small:
        return
    labels = ax.xaxis.get_tightbbox()
    depth = GAP + max(TICK, 0 if labels is None else (box.y0 - labels.y0) / figure.dpi)
    left = min(box.x0 - figure.bbox.x0, 0.5 * figure.dpi)
    legend.set_frame_on(False)
    legend.borderaxespad = legend.borderpad = 0
    legend.set_loc("upper left")
    shift = ScaledTranslation(-left / figure.dpi, -depth, figure.dpi_scale_trans)
    legend.set_bbox_to_anchor((0, 0), ax.transAxes + shift)
    fit_columns(legend, figure.bbox.x1 - box.x0 + left)


def fit_columns(legend: Legend, room: float) -> None:
    """As many columns as fit into ``room`` pixels, of about equal length, and long labels in several lines."""
    handles, labels = _entries(legend)
    title = legend.get_title().get_text()
    for columns in range(min(4, len(labels)), 0, -1):
        rows = math.ceil(len(labels) / columns)
        legend.set_ncols(math.ceil(len(labels) / rows))
        legend._init_legend_box(handles, labels, markerfirst=True)  # type: ignore[attr-defined]
        legend.set_title(title or None)  # type: ignore[arg-type]
        legend._set_loc(legend._get_loc())  # type: ignore[attr-defined]
        if legend.get_window_extent().width <= room:
            return
    sample = legend.handlelength + legend.handletextpad + 2 * legend.borderpad  # in heights of a letter
    for text in legend.get_texts():
        _wrap(text, room - sample * float(text.get_fontsize()) * legend.get_figure(root=True).dpi / 72)  # type: ignore[union-attr]


def _entries(legend: Legend) -> tuple[list[Artist], list[str]]:
    """What the legend names, and how: the things themselves where the axes have them, otherwise its own samples."""
    labels = [text.get_text() for text in legend.get_texts()]
    axes = [legend.axes] if legend.axes is not None else legend.get_figure(root=True).axes
    named: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    samples = zip(labels, legend.legend_handles, strict=True)
    return [named.get(label, sample) for label, sample in samples], labels  # type: ignore[misc]
