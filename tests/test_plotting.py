"""The style of all figures: its colours, and that it leaves plain tick labels to be drawn as text."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import capcore as cc
from capcore.plotting import CYCLE, channel_colours, use_style


def luminance(colour):
    return np.dot(to_rgb(colour), [0.2126, 0.7152, 0.0722])


def test_without_matplotlib_one_sentence_names_the_extra():
    program = "import sys; sys.modules['matplotlib'] = None; import capcore.plotting"
    said = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True).stderr.splitlines()[-1]
    assert said.endswith("pip install matplotlib, or capcore with its extra [plot]")


@pytest.mark.parametrize("count", [1, 2, 9])
def test_an_ordered_quantity_runs_from_light_to_dark(count):
    colours = channel_colours(list(range(count)))
    assert list(colours) == list(range(count))
    assert np.all(np.diff([luminance(colour) for colour in colours.values()]) < 0)


def test_the_style_is_applied():
    with plt.style.context("default"):
        use_style()
        assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == list(CYCLE)
        assert plt.rcParams["axes.formatter.use_mathtext"] is False


# --- pictures of results ----------------------------------------------------------------------------------------------

TASK = cc.PowerLaw()
SIZES = {"page": (7.5, 3.2), "print": (3.2, 2.2), "panel": (2.2, 1.6), "default": (6.4, 4.8)}


@pytest.fixture(autouse=True)
def _closed():
    plt.close("all")  # those that tests of other files have left in this process
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def allocations():
    """Of 2^6, 2^11, 2^12, 2^20 and 2^24 inputs."""
    archs = {n: cc.Hierarchical(channels=1, n_layers=n) for n in (6, 11, 12, 20, 24)}
    return {
        n: cc.allocate(a, cc.fit(a, TASK, method="octaves"), TASK, method="octaves" if n > 12 else "streamed")
        for n, a in archs.items()
    }


def drawn(ax):
    ax.figure.canvas.draw()
    return ax


def tick_boxes(axis):
    """Boxes of the labels that are seen, as the renderer sets them."""
    low, high = sorted(axis.get_view_interval())
    ticks = [each for each in axis.get_major_ticks() if low <= each.get_loc() <= high and each.label1.get_text()]
    return [each.label1.get_window_extent() for each in ticks]


@pytest.mark.parametrize("style", ["ours", "matplotlib's"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("exponent", [6, 11, 12, 20, 24])
def test_ticks_do_not_overlap_at_any_number_of_inputs(exponent, size, style, allocations):
    with plt.style.context("default"):
        if style == "ours":
            use_style()
        ax = drawn(allocations[exponent].plot(plt.subplots(figsize=SIZES[size])[1]))
        for axis in (ax.xaxis, ax.yaxis):
            boxes = tick_boxes(axis)
            assert len(boxes) >= 2
            assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_octaves_are_drawn_by_powers_of_two_with_the_most_recent_at_the_right(allocations):
    alloc = allocations[20]
    ax = drawn(alloc.plot(plt.subplots(figsize=(7.5, 3.2))[1]))
    assert ax.xaxis_inverted() and ax.get_xlabel() == "← past · lag · now →"
    said = {tick.get_loc(): tick.label1.get_text() for tick in ax.xaxis.get_major_ticks()}
    assert (said[1], said[5], said[21]) == ("1", "2⁴", "2²⁰")
    data = next(patch for patch in ax.patches if not patch.get_fill()).get_data()
    np.testing.assert_array_equal(data.values, alloc.per_octave)
    np.testing.assert_array_equal(data.edges, np.arange(22))


@pytest.mark.parametrize("exponent", [6, 20])
def test_models_on_the_same_axes_have_a_legend_and_looks_of_their_own(exponent, allocations):
    one = allocations[exponent]
    ax = one.plot()
    assert ax.get_legend() is None
    ax = one.plot(plt.subplots()[1], label="one")
    assert one.plot(ax, label="two", linewidth=3.0) is ax
    drawn(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    handles = ax.get_legend_handles_labels()[0]
    colour = "get_color" if exponent == 6 else "get_edgecolor"
    assert to_rgb(getattr(handles[0], colour)()) != to_rgb(getattr(handles[1], colour)())
    assert handles[0].get_linestyle() != handles[1].get_linestyle() and handles[1].get_linewidth() == 3.0
    assert sum(line.get_drawstyle() != "steps-mid" for line in ax.lines) == (exponent == 6)  # one ceiling


def test_stacks_of_other_kernels_share_the_scale_of_lags(allocations):
    arch = cc.Hierarchical(channels=1, n_layers=8, kernel_size=3)
    wide = cc.allocate(arch, cc.fit(arch, TASK, method="octaves"), TASK, method="octaves")
    ax = wide.plot(allocations[12].plot(plt.subplots()[1]))
    edges = [patch.get_data().edges for patch in ax.patches if not patch.get_fill()]
    np.testing.assert_allclose(edges[1][1:], 1 + np.log2(3.0 ** np.arange(9)))
    assert ax.get_xlim() == (edges[0][-1], 0.0) or ax.get_xlim() == (edges[1][-1], 0.0)
    assert ax.get_xlim()[0] == max(edges[0][-1], edges[1][-1])


@pytest.mark.parametrize("size", [8, 4096])
def test_inputs_that_are_no_lags_have_no_past_and_no_future(size):
    """Sensors, up to 2,048 of them and beyond; and where models are compared."""
    sensors = cc.FromCovariance(np.eye(8), target=np.ones(8))
    arch, params = (cc.Linear(np.eye(8)), np.ones(8)) if size == 8 else (cc.Hierarchical(1, 12), np.ones(24))
    task = sensors if size == 8 else cc.FromCovariance(np.eye(4096))
    ax = drawn(cc.allocate(arch, params, task).plot())
    assert ax.get_xlabel() == "input" and not ax.xaxis_inverted()
    if size == 8:
        right = cc.compare({"sensors": arch}, sensors, starts=1).plot().axes[1]
        assert right.get_xlabel() == "input" and not right.xaxis_inverted()


def test_what_has_a_row_in_the_table_has_a_picture():
    arch = cc.Hierarchical(channels=2, n_layers=4)
    alloc = cc.allocate(arch, cc.fit(arch, TASK), TASK)
    ax = drawn(alloc.plot(by="layer"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(alloc.layers) and ax.xaxis_inverted()
    top = ax.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(alloc.per_input.max())  # layers sum to what an input has
    ax = alloc.plot(plt.subplots()[1], by="frequency")
    assert ax.get_xlabel() == "frequency, in cycles per input"
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), alloc.frequencies)
    assert alloc.plot(plt.subplots()[1], by="eigenvector").get_xlabel() == "eigenvector"
    assert alloc.plot(plt.subplots()[1], by="octave").get_xlabel() == alloc.plot(plt.subplots()[1]).get_xlabel()


def image_of(ax):
    (image,) = drawn(ax).images
    return np.asarray(image.get_array()), image


def test_pixels_are_drawn_as_an_image_with_a_colour_bar_and_no_time():
    arch = cc.Linear(np.random.default_rng(0).normal(size=(49, 5)))
    problem = cc.Problem(np.ones(49), np.eye(49), np.eye(49), 1.0)
    alloc = cc.allocate(arch, np.ones(5), problem)
    ax = alloc.plot(shape=(7, 7), label="a model", cmap="magma")
    values, image = image_of(ax)
    np.testing.assert_array_equal(values, alloc.per_input.reshape(7, 7))
    assert image.get_cmap().name == "magma" and image.get_clim()[0] == 0 and ax.get_title() == "a model"
    said = [text.get_text() for each in ax.figure.axes for text in (each.xaxis.label, each.yaxis.label)]
    assert "capacity" in said and not any("past" in text or "now" in text for text in said)
    assert not ax.xaxis_inverted() and len(ax.figure.axes) == 2


def test_fits_on_the_same_axes():
    one, two = (cc.fit(cc.Hierarchical(channels=c, n_layers=5), TASK, method="gauss-newton") for c in (1, 2))
    assert one.plot().get_title() == "gauss-newton"
    ax = two.plot(one.plot(plt.subplots()[1], label="1"), label="2", color="black")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1", "2"] and ax.get_title() == ""
    assert to_rgb(ax.lines[1].get_color()) == (0, 0, 0)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), two.history)


@pytest.mark.parametrize("method", ["dense", "dual"])
def test_networks_show_a_subspace(method):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(60, 4, 4)), rng.normal(size=16)
    flat = x.reshape(60, -1)
    subspaces = {"half": flat[:, :8], "pixels": cc.networks.inputs(flat), "patches": cc.networks.patches(x, 2)}
    subspaces["series of one channel"] = cc.networks.inputs(x.reshape(60, 1, 16))
    found = cc.allocate_network(
        lambda w, x: x.reshape(len(x), -1) @ w,
        np.linalg.lstsq(flat, flat @ w)[0],
        x,
        flat @ w,
        subspaces=subspaces,
        method=method,
    )
    ax = found.plot(found.plot(plt.subplots()[1], label="one"), label="two")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), found.per_subspace["pixels"])
    assert "past" not in ax.get_xlabel()
    values, _ = image_of(found.plot(shape=(4, 4)))
    np.testing.assert_array_equal(values.ravel(), found.per_subspace["pixels"])
    values, _ = image_of(found.plot(subspace="patches"))
    np.testing.assert_array_equal(values, found.per_subspace["patches"])
    ax = found.plot(plt.subplots()[1], subspace="series of one channel")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), found.per_subspace["series of one channel"][0])
    ax = found.plot(plt.subplots()[1], by="layer")
    assert [text.get_text() for text in ax.get_yticklabels()] == list(found.layers)
    assert [bar.get_width() for bar in ax.patches] == [*found.layers["all parameters"].totals.values()]
    for shape in ((4, 5), (16,), 16, (-4, -4), (4.0, 4)):
        with pytest.raises(ValueError, match=r"(?s)^shape: found .*, expected"):
            found.plot(shape=shape)
    for name in ("half", "pixel", 3):
        with pytest.raises(ValueError, match=r"^subspace: found .*, expected 'pixels', 'patches'"):
            found.plot(subspace=name)
