"""Pictures of a figure: the same bytes every time, light enough, and on a phone one panel below the other."""

import base64
import io
import itertools
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from capcore.plotting import share_legend, use_style
from chapters.kit.phone import WIDTH, narrow, when_narrow
from chapters.kit.pictures import HEAVIEST, picture

pytestmark = pytest.mark.ci


@pytest.fixture(autouse=True)
def style(monkeypatch):
    monkeypatch.setenv("CAPCORE_FIGURES", "book")
    with plt.style.context("default"):
        use_style()
        yield
    plt.close("all")


def panels(rows=1, columns=2, **options):
    figure, axes = plt.subplots(rows, columns, figsize=(7.5, 3.2), **options)
    for i, ax in enumerate(np.atleast_1d(axes).flat):
        ax.plot(np.arange(50), np.sin(np.arange(50) / (i + 2)), label=f"line of panel {i}")
        ax.set(xlabel="lag", ylabel="capacity")
    return figure, axes


def seen(figure):
    """The text that is drawn, with its boxes in pixels."""
    figure.draw_without_rendering()
    ticks = [axis._update_ticks() for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    drawn = {id(tick.label1) for some in ticks for tick in some}
    labels = {id(text) for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for text in axis.get_ticklabels()}
    texts = [text for text in figure.findobj(plt.Text) if text.get_text() and text.get_visible()]
    return [(t.get_text(), t.get_window_extent()) for t in texts if id(t) in drawn or id(t) not in labels]


def test_two_renderings_are_the_same_bytes():
    first, second = (picture(panels()[0]) for _ in range(2))
    assert first == second
    assert not re.search(r"<dc:date>|20\d\d-\d\d", first[0]["image/svg+xml"])


def test_a_notebook_holds_twice_the_pixels_and_the_book_two_more_pictures(monkeypatch):
    data, metadata = picture(panels()[0])
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.width == pytest.approx(2 * metadata["image/png"]["width"], abs=1) == pytest.approx(1440, abs=20)
    assert set(data) == {"text/plain", "image/png", "image/svg+xml"} and "<svg" in metadata["capcore"]["narrow"]
    monkeypatch.setenv("CAPCORE_FIGURES", "on")
    data, metadata = picture(panels()[0])
    assert set(data) == {"text/plain", "image/png"} and "capcore" not in metadata
    monkeypatch.setenv("CAPCORE_FIGURES", "off")
    data, metadata = picture(panels()[0])
    assert data == {"text/plain": "<Figure size 825x352 with 2 Axes>"} and metadata == {}


def test_a_drawing_has_room_for_its_longest_label():
    figure, ax = plt.subplots(figsize=(7.5, 3.2))
    ax.set_yticks([0, 1], ["recurrent, 8 channels: 16 of 24", "dilated, 1 channel: 7 of 12"])
    data, metadata = picture(figure)
    for drawn in (data["image/svg+xml"], metadata["capcore"]["narrow"]):
        starts = re.findall(r'<g id="text_\d+">.*?translate\(([-\d.]+)', drawn, flags=re.DOTALL)
        assert min(map(float, starts)) > 0.5


def test_dense_parts_are_pixels_where_the_drawing_would_be_too_heavy():
    figure, axes = panels()
    places = np.random.default_rng(0).normal(size=(2, 20_000))
    axes[0].scatter(*places, s=4)
    data, metadata = picture(figure)
    for drawn in (data["image/svg+xml"], metadata["capcore"]["narrow"]):
        assert len(drawn) < HEAVIEST
        assert drawn.count("<image") == 1
    assert "<image" not in picture(panels()[0])[0]["image/svg+xml"]


@pytest.mark.parametrize("grid", [(1, 1), (1, 2), (1, 3), (2, 2), (2, 1)])
def test_panels_stand_one_below_the_other_in_the_order_of_reading_and_as_high_as_before(grid):
    figure, axes = panels(*grid)
    figure.draw_without_rendering()
    heights = [ax.get_window_extent().height for ax in np.atleast_1d(axes).flat]
    figure.draw_without_rendering()
    narrow(figure).draw_without_rendering()
    boxes = [ax.get_window_extent() for ax in np.atleast_1d(axes).flat]
    assert figure.get_figwidth() == WIDTH
    assert all(above.y0 > below.y1 for above, below in itertools.pairwise(boxes))
    assert {round(box.x0) for box in boxes} == {round(boxes[0].x0)}
    np.testing.assert_allclose([box.height for box in boxes], heights, rtol=0.06)


def test_columns_that_share_an_axis_stay_together_and_rows_get_their_own_labels():
    figure, axes = panels(2, 2, sharex="col")
    figure.draw_without_rendering()
    narrow(figure).draw_without_rendering()
    order = sorted(np.ravel(axes), key=lambda ax: -ax.get_window_extent().y0)
    assert order == [axes[0, 0], axes[1, 0], axes[0, 1], axes[1, 1]]
    figure, axes = panels(sharey=True)
    axes[1].set_ylabel("")
    figure.draw_without_rendering()
    assert not axes[1].yaxis.get_tick_params()["labelleft"]
    narrow(figure)
    assert axes[1].yaxis.get_tick_params()["labelleft"] and axes[1].get_ylabel() == "capacity"
    figure, axes = panels()
    axes[1].set(ylabel="", yticks=[])
    figure.draw_without_rendering()
    narrow(figure)
    assert axes[1].get_ylabel() == "", "a panel without a vertical axis gets no label of one"
    figure, axes = panels(1, 3)
    axes[1].set_ylabel("loss")
    axes[2].set_ylabel("")
    figure.draw_without_rendering()
    narrow(figure)
    assert axes[2].get_ylabel() == "loss", "what is beside it on the page, not what begins the row"


def test_each_panel_says_where_it_stands_on_the_page():
    figure, axes = panels(2, 2)
    figure.draw_without_rendering()
    narrow(figure)
    said = [ax.get_title(loc="right") for ax in axes.flat]
    assert said == ["upper left", "upper right", "lower left", "lower right"]


def test_nothing_is_cut_and_no_label_runs_into_the_next():
    figure, axes = panels(sharey=True)
    axes[0].set_title("A title of the left panel that is a good deal longer than any phone is wide, at $x = 1$")
    axes[0].set_xlabel("a label below the axis that is also too long for one line on a phone, if not by much")
    axes[0].set_xticks(range(0, 50, 7), [f"group {k}" for k in range(8)])
    axes[1].legend([f"a long name of the line in the right panel, number {k}, in full" for k in range(1)])
    share_legend(figure, axes, ncols=4)
    figure.draw_without_rendering()
    narrow(figure)
    boxes = seen(figure)
    for said, box in boxes:
        assert figure.bbox.x0 - 1 <= box.x0 and box.x1 <= figure.bbox.x1 + 1, said
        assert figure.bbox.y0 - 1 <= box.y0 and box.y1 <= figure.bbox.y1 + 1, said
    for i, (one, box) in enumerate(boxes):
        for other, others in boxes[i + 1 :]:
            assert not box.padded(-1).overlaps(others.padded(-1)), (one, other)
    assert any("\n" in said and "$x = 1$" in said for said, _ in boxes)


def test_a_legend_below_is_clear_of_the_ticks_and_its_columns_are_of_about_equal_length():
    figure, (ax, _) = panels(2, 1, sharex=True)
    for k in range(4):
        ax.plot([0, 1], [0, k], label=f"c = {k}")
    ax.lines[0].set_label("c = 4")
    ax.legend(loc="upper left", ncols=5)
    figure.draw_without_rendering()
    narrow(figure).draw_without_rendering()
    ticks = figure.dpi / 72 * plt.rcParams["xtick.major.size"]
    assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0 - ticks
    assert ax.get_legend()._ncols == 3, "three, two of two lines, and not four, one of two lines"


def test_a_colour_bar_goes_below_and_rows_with_names_keep_their_height():
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.2), sharey=True)
    for ax in axes:
        image = ax.imshow(np.eye(9))
        ax.set_yticks(range(9), [f"the measure called {k}" for k in range(9)])
    figure.colorbar(image, ax=axes, label="share")
    figure.draw_without_rendering()
    narrow(figure).draw_without_rendering()
    (bar,) = (ax for ax in figure.axes if ax not in set(axes))
    assert bar.get_window_extent().y1 < axes[1].get_window_extent().y0
    assert bar.get_window_extent().width > bar.get_window_extent().height
    assert axes[0].get_window_extent().height > 9 * 8.5 / 72 * figure.dpi


def test_a_figure_can_say_what_else_changes():
    figure, ax = panels(1, 1)
    when_narrow(figure, lambda: ax.set_ylim(0, 7))
    figure.draw_without_rendering()
    narrow(figure)
    assert ax.get_ylim() == (0, 7)


@pytest.mark.parametrize(("longest", "wanted", "unwanted"), [(15.6, "5", "2.5"), (1.56, "0.25", "1.2")])
def test_whole_numbers_at_ticks_stay_whole(longest, wanted, unwanted):
    figure, ax = panels(1, 1)
    ax.set_xlim(longest, -longest / 26)
    figure.draw_without_rendering()
    assert not {"2.5", "0.25"} & {text.get_text() for text in ax.get_xticklabels()}
    narrow(figure)
    figure.draw_without_rendering()
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert wanted in names and unwanted not in names
