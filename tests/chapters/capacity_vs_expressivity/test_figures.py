"""The pictures of the five models show what the models are."""

import numpy as np
import pytest

pytest.importorskip("jax")

from chapters.capacity_vs_expressivity.figures import plot_model
from chapters.capacity_vs_expressivity.sets import MODELS
from chapters.capacity_vs_expressivity.study import MemorisationCurve, ModelAxes, TargetFit

CURVE = MemorisationCurve([8, 16], [[1.0], [0.5]])


def drawn(name, ax):
    """The texts in a model's picture with their places, the words beside it, and the boxes that are not backgrounds."""
    fit = TargetFit(np.array([1.0]), np.array([0.75, 0.5, 0.9]))
    plot_model(ModelAxes(name, MODELS[name].n_params, CURVE, {"order": fit}), ax)
    boxes = [box for box in ax.patches if box.get_linewidth()]
    texts = [(text.get_text(), text.get_position()) for text in ax.texts]
    return texts[:-3], [text for text, _ in texts[-3:]], boxes


@pytest.mark.parametrize("name", ["invariant", "invariant + places", "order-aware", "narrow", "linear"])
def test_a_box_for_each_layer_and_item_names_its_units(name, ax):
    texts, _, boxes = drawn(name, ax)
    model = MODELS[name]
    layers = [*np.repeat(model.item_widths[1:], 4), *model.widths[1:-1]]
    middles = {(box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2) for box in boxes}
    numbers = [int(text) for text, (x, y) in texts if any(np.allclose((x, y), middle) for middle in middles)]
    assert len(boxes) == len(layers) and sorted(numbers) == sorted(layers)
    assert [text for text, _ in texts].count("+") == (1 if model.item_widths else 0)
    before = boxes[0].get_x() if boxes else 1.0
    alone = [text for text, (x, _) in texts if x < before]
    assert sorted(alone) == sorted([*"1234"] * (2 if model.places else 1))  # items, and their places


def test_it_says_what_was_measured(ax):
    _, words, _ = drawn("narrow", ax)
    assert words == ["narrow", "8 labels memorised", "order: 75 % right"]
    assert not ax.axison


def test_a_layer_is_as_high_as_it_has_units(ax):
    few = drawn("narrow", ax)[2][0].get_height()
    many = drawn("order-aware", ax)[2][-1].get_height()
    assert many / few == pytest.approx(24 / 6)
