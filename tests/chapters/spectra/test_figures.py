"""Figures of single layers: what is drawn is what was given."""

import numpy as np
import pandas as pd
import pytest

from chapters.spectra import figures as draw
from chapters.spectra.study import scan_tails


def test_the_chosen_tail_is_the_lowest_point(rng, ax):
    scan = scan_tails(rng.pareto(2.0, 50) + 1)
    draw.plot_tail_scan(scan, ax)
    curve, cross = ax.lines
    assert cross.get_ydata()[0] == curve.get_ydata().min() and cross.get_xdata()[0] == scan.x_min[scan.best]


def test_the_law_of_a_tail_begins_at_its_first_eigenvalue_and_falls_as_it_says(rng, ax):
    values = np.sort(rng.pareto(2.0, 50) + 1)
    scan = scan_tails(values)
    draw.plot_tail_law(values, scan, (values / 2, values), ax)
    body, tail, law = ax.lines
    x, y = law.get_data()
    assert x[0] == scan.x_min[scan.best] and y[0] == tail.get_ydata()[0] == scan.n_tail[scan.best] / 50
    assert np.log(y[-1] / y[0]) / np.log(x[-1] / x[0]) == pytest.approx(1 - scan.alpha[scan.best])
    assert len(body.get_xdata()) + len(tail.get_xdata()) == 50


def test_the_interval_stands_at_the_chosen_tail(rng, ax):
    scan = scan_tails(rng.pareto(2.0, 50) + 1)
    draw.plot_tail_exponents(scan, ax, (2.0, 40.0))
    (bar,) = ax.collections[-1].get_segments()
    np.testing.assert_array_equal(bar[:, 1], [2.0, 40.0])
    assert bar[0, 0] == scan.x_min[scan.best] and ax.get_ylim()[1] > 40


def test_eigenvalues_have_few_numbers_on_their_axis(ax):
    eigenvalues = np.geomspace(0.03, 3.3, 300)
    draw.plot_tail_exponents(scan_tails(eigenvalues), ax)
    ax.figure.canvas.draw()
    shown = [text.get_text() for text in ax.get_xticklabels(which="both") if text.get_text()]
    assert shown == ["0.2", "0.5", "1", "2"]


def test_chance_with_trained_layers(ax):
    chance = {(8, 8): np.linspace(2, 4, 101), (16, 8): np.linspace(3, 9, 101)}
    draw.plot_chance(chance, {"a": [((16, 8), 2.5)], "b": [((8, 8), 3.0), ((16, 8), 4.0)]}, ax)
    bars = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in ax.patches]
    np.testing.assert_allclose(bars, [(2.05, 3.95), (3.15, 8.85)])
    lines = {line.get_label(): line for line in ax.lines if line.get_marker() != "None"}
    assert list(lines["b"].get_ydata()) == [3.0, 4.0] and 0.6 < lines["a"].get_xdata()[0] < 1.4
    assert [text.get_text() for text in ax.get_xticklabels()] == ["8 × 8", "16 × 8"]
    for change in vars(ax.figure)["when_narrow"]:
        change()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["8\n× 8", "16\n× 8"]


def test_paths_of_one_layer(ax):
    path = pd.DataFrame({"epoch": [0, 0, 3], "layer": ["layer1", "layer2", "layer2"], "alpha": [9.0, 4.0, 30.0]})
    draw.plot_path({"one": path}, "layer2", (2.5, 12.0), ax)
    (line,) = (line for line in ax.lines if line.get_label() == "one")
    assert line.get_ydata().tolist() == [4.0, 30.0] and ax.get_ylim()[1] > 30


def test_ordered_spectra(ax):
    draw.plot_ordered({"a": np.array([4.0, 1.0])}, ax)
    assert ax.lines[0].get_xdata().tolist() == [0.25, 0.75] and ax.get_yscale() == "log"
