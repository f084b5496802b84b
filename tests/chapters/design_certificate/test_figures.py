"""What the figures of designs show."""

import matplotlib.pyplot as plt
import numpy as np

import capcore as cc
from chapters.design_certificate import figures as draw
from chapters.design_certificate import study
from chapters.kit.stored import stored


def test_the_wall_lies_below_all_stacks(ax):
    found = cc.design(cc.PowerLaw(), n_inputs=32, max_params=24)
    usual = study.usual(cc.PowerLaw(), 32, 24)
    draw.plot_wall(found, ax, usual=usual)
    (grey,) = ax.collections
    (edge,) = grey.get_paths()
    stacks = next(line for line in ax.lines if line.get_label() == "stacks")
    sizes, losses = np.array(stacks.get_data())
    assert not edge.contains_points(np.c_[sizes, 1.001 * losses]).any()
    assert edge.contains_points([(sizes[0] + 0.5, found.wall[0][1] / found.variance / 2)]).all()
    assert not edge.contains_points([(size + 0.01, 1.001 * loss) for size, loss in usual]).any()
    assert [size for size, _ in usual] == [10]
    labels = {line.get_label() for line in ax.lines if not line.get_label().startswith("_")}
    assert labels == {*draw.NAMES.values(), "kernel 2, equal channels"}
    (proven,) = (line for line in ax.lines if line.get_linestyle() == "--" and line.get_label().startswith("_"))
    at, level = proven.get_data()
    assert edge.contains_points(np.c_[np.add(at[:-1], 0.01), level[:-1]]).all()


def test_losses_against_bounds():
    found = study.Tried(np.array([2e-3, 1e-4]), np.array([1e-3, 1e-4]), np.array([3e-3, 1e-4]))
    figure, axes = plt.subplots(1, 2)
    draw.plot_bounds(found, tuple(axes))
    for ax, values in zip(axes, (found.bounds, found.sums), strict=True):
        (_, dots) = ax.lines
        np.testing.assert_allclose(dots.get_data(), (values, found.losses))
    plt.close(figure)


def test_ratios(ax):
    found = study.Ratio(3, 4, 0.5, 0.25, 0.8)
    draw.plot_ratios({"a search": {"one": np.array([0.5, 0.1])}}, {"a search": found}, ax)
    dots, bar, mean, _ = ax.lines
    assert sorted(dots.get_xdata()) == [0.1, 0.5] and list(bar.get_xdata()) == [0.25, 0.8]
    assert mean.get_xdata() == [0.5] and [label.get_text() for label in ax.get_yticklabels()] == ["a search"]


def test_the_menu_is_a_staircase(ax):
    menu = next(iter(stored("design_menu")["values"].values()))
    draw.plot_menu(menu, [32, 64, 96], ax)
    for budget in (32, 64, 96):
        shares, losses = zip(*draw.front(menu, budget), strict=True)
        assert np.all(np.diff(shares) > 0) and np.all(np.diff(losses) > 0)
    assert [text.get_text() for text in ax.texts] == [f"{n} parameters" for n in (32, 64, 96)]
