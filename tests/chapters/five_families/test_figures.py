"""The figure has a mark for every share, in the row of its process."""

import pandas as pd

from chapters.five_families import figures


def test_every_share_is_drawn(ax):
    rows = [("AR1", 1, 0.5, 0.4, 0.6, 4), ("PowerLaw", 1, 1.0, 0.9, 1.0, 4), ("AR1", 2, 0.0, 0.0, 0.2, 4)]
    found = pd.DataFrame(rows, columns=["process", "channels", "share", "low", "high", "n"])
    figures.plot_shares(found, "more on the recent half", ["PowerLaw", "AR1"], [1, 2], ax)
    first, second = (bars.lines[0] for bars in ax.containers)
    assert list(first.get_xdata()) == [0.5, 1.0] and [round(y) for y in first.get_ydata()] == [1, 0]
    assert list(second.get_xdata()) == [0.0]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["power law", "AR(1)"]
