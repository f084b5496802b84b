import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from chapters.your_trained_network import figures as draw
from chapters.your_trained_network.study import decided


def test_images_have_label_and_leverage(ax):
    images = np.random.default_rng(0).normal(size=(4, 64))
    assert draw.plot_images(images, [3, 1, 4, 1], np.array([2.0, 1.5, 0.1, 0.01]), 2, ax) is ax
    assert [text.get_text() for text in ax.texts] == ["3: 2.00", "1: 1.50", "4: 0.10", "1: 0.01"]
    assert np.array_equal(ax.images[2].get_array(), images[2].reshape(8, 8))


def test_what_is_decided():
    rows = {0.1: [9, 0.1, 0.6, 0.5], 1.0: [7, 0.2, 0.4, 0.45], 10.0: [4, 0.5, 0.7, 0.4]}
    table = pd.DataFrame(rows, index=["total", "training", "left out", "tests"]).T
    others, exact = np.array([0.3, 0.5] * 50), np.full(100, 0.4)
    losses = {0.1: others + 0.2, 1.0: exact, 10.0: exact + 0.1}
    text = " ".join(decided(table, 0.3, losses))
    assert "least at decay 1, with a loss of 0.450" in text and "least of the five is 0.400, at decay 10" in text
    assert "standard error" not in text
    tie = " ".join(decided(table, 0.3, losses | {10.0: others + 0.005}))  # whose standard error is 0.01
    assert "Decays 1, 10 are within a standard error of it: keep 10." in tie
    assert "decay 0.3 looks best" in text


def test_choice_draws_what_one_network_foretells_and_what_others_are():
    foretold = pd.DataFrame({"total": [9.0, 5.0], "training": [0.1, 0.2], "left out": [0.6, 0.5]}, index=[0.25, 0.35])
    trained = pd.DataFrame({"total": [8.0], "training": [0.15], "left out": [0.5], "tests": [0.45]}, index=[0.3])
    foretold.loc[30.0] = 1.0, 0.9, 0.9  # far from all that were trained: not drawn
    fig, axes = plt.subplots(1, 2)
    left, right = draw.plot_choice(foretold, 20, trained, axes)
    plt.close(fig)
    assert [line.get_ydata().tolist() for line in left.lines] == [[9.0, 5.0], [8.0]]
    drawn = [np.round(line.get_ydata(), 9).tolist() for line in right.lines]
    assert drawn == [[0.1, 0.2], [0.55, 0.45], [0.6, 0.5], [0.15], [0.5], [0.45]]
