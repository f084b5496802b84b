"""What the tests of figures share: a backend without a screen, and an axis whose figure is drawn in the end."""

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture
def ax():
    """An axis; its figure is drawn after the test, since nothing may fail as late as that, and closed."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    yield ax
    figure.canvas.draw()
    plt.close(figure)
