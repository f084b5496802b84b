import numpy as np
import pytest

pytest.importorskip("jax")
from chapters.your_trained_network import figures as draw
from chapters.your_trained_network.study import extremes, network, reading


def test_the_network_and_its_start():
    found = reading(100, 6, 1)
    assert found.images.shape == (100, 64) and found.labels.shape == (100,) and found.images.dtype == float
    outputs = np.asarray(network(found.params, found.images))
    by_hand = np.tanh(found.images @ found.params["hidden"]) @ found.params["out"]
    np.testing.assert_allclose(outputs, by_hand, rtol=1e-4, atol=1e-5)  # single precision
    assert np.array_equal(reading(100, 6, 1).params["out"], found.params["out"])


@pytest.mark.parametrize("n_images", [99, 1438])
def test_numbers_of_images_that_are_refused(n_images):
    with pytest.raises(ValueError, match=f"n_images: found {n_images}, expected between 100 and 1437"):
        reading(n_images, 4, 0)


def test_extremes():
    most, least = extremes(np.array([3.0, 1.0, 2.0, 5.0]), 1)
    assert (most.tolist(), least.tolist()) == ([3], [1])


def test_figures(ax):
    values = np.linspace(0, 3, 64)
    assert draw.plot_map(values, ax) is ax
    assert np.array_equal(ax.images[0].get_array().ravel(), values)


def test_images_have_label_and_leverage(ax):
    images = np.random.default_rng(0).normal(size=(4, 64))
    assert draw.plot_images(images, [3, 1, 4, 1], np.array([2.0, 1.5, 0.1, 0.01]), 2, ax) is ax
    assert [text.get_text() for text in ax.texts] == ["3: 2.00", "1: 1.50", "4: 0.10", "1: 0.01"]
    assert np.array_equal(ax.images[2].get_array(), images[2].reshape(8, 8))
