"""The tasks of the chapter on side inputs: labels, what either image says alone, and scales that are not trained."""

import jax
import numpy as np
import pytest

from chapters.scaling_conjecture.training import train
from chapters.scaling_conjecture_side_inputs.side_experiment import search
from chapters.scaling_conjecture_side_inputs.side_tasks import digit_task, parity_task
from chapters.shared.data import digits

QUICK = {
    "rates": [0.003],
    "factor": 3.0,
    "extensions": 0,
    "seeds": [0, 1],
    "steps": 3,
    "optimiser": "adam",
}


def test_labels_are_parities_of_sums_and_balanced():
    task = parity_task(2, 0.5, True, width=4)
    x, y, label = task.data(jax.random.key(0))
    images = digits()
    known = {image.tobytes(): int(digit) for image, digit in zip(images.x, images.y, strict=True)}
    expected = [
        (known[np.asarray(a).tobytes()] + known[np.asarray(b).tobytes()]) % 2 for a, b in zip(x, y, strict=True)
    ]
    assert np.asarray(label).tolist() == expected
    assert np.mean(task.test_labels) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("seen", "share"), [("X", 1.0), ("Y", 0.0)])
def test_a_blanked_image_has_no_gradient(seen, share):
    task = parity_task(2, 0.5, True, width=4, seen=seen)
    stack = jax.tree.map(lambda leaf: leaf[None], task.initial(jax.random.key(0)))
    assert task.share(stack) == [share]


def test_the_share_of_x_is_that_of_all_pixels():
    task = parity_task(2, 0.5, False, width=4)
    params = task.initial(jax.random.key(0))
    inputs = tuple(part[:5] for part in task.test_inputs)
    slopes = jax.jacrev(lambda images: task.logits(params, images))(inputs)
    on_x, on_y = (float((slope**2).sum()) for slope in slopes)
    stack = jax.tree.map(lambda leaf: leaf[None], params)
    assert task.share(stack, 5) == pytest.approx([on_x / (on_x + on_y)], rel=1e-4)


@pytest.mark.parametrize("task", [parity_task(3, 0.5, True, width=4), digit_task(3, 0.5, True, width=4)])
def test_scales_stay_as_they_are(task):
    runs = train(task.initial, task.loss, task.data, learning_rates=[0.1], seeds=[0], n_steps=5, optimiser="adam")
    np.testing.assert_allclose(runs.params["scales"][0, 0], [0.5, np.sqrt(1 + 1 / 3 + 0.25)], rtol=1e-6)
    assert not np.allclose(runs.params["layers"]["W"][0, 0], task.initial(jax.random.key(0))["layers"]["W"])


def test_biases_start_where_they_should():
    key = jax.random.key(0)
    assert not np.any(digit_task(3, 1.0, False, width=4, start="zero").initial(key)["biases"])
    assert np.std(digit_task(50, 1.0, False).initial(key)["biases"]) == pytest.approx(1, abs=0.1)


def test_accuracy_is_counted_on_test_images():
    task = digit_task(2, 0.0, False, width=16)
    runs = train(
        task.initial, task.loss, task.data, learning_rates=[0.01], seeds=[0], n_steps=200, optimiser="adam"
    )  # fmt: skip
    params = jax.tree.map(lambda leaf: leaf[0], runs.params)
    one = jax.tree.map(lambda leaf: leaf[0], params)
    by_hand = np.mean(np.asarray(task.logits(one, task.test_inputs)).argmax(axis=1) == digits().y_test)
    assert task.accuracy(params) == pytest.approx([by_hand]) and by_hand > 0.8


def test_a_search_extends_the_grid_while_the_best_rate_is_at_its_edge():
    task = digit_task(2, 0.5, True, width=8)
    found = search(task, QUICK | {"rates": [1e-5, 1e-4], "factor": 10.0, "extensions": 1, "steps": 40})
    assert found.rates == [1e-5, 1e-4, 1e-3] and found.best == 1e-3 and found.at_edge
    assert len(found.accuracy) == 2 and not found.before and not found.after


def test_a_search_judges_the_rate_with_the_lowest_median_loss():
    task = parity_task(2, 0.5, True, width=8)
    found = search(task, QUICK | {"rates": [1e-6, 1e-2, 1e-7], "steps": 60})
    assert found.best == found.rates[int(np.argmin(found.final))] and np.median(found.loss) == min(found.final)
    assert len(found.before) == len(found.after) == 2 and found.before != found.after


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("seen: found 'x'", lambda: parity_task(2, 0.5, True, seen="x")),
        ("start: found 'zeros'.*Did you mean 'zero'", lambda: digit_task(2, 0.5, True, start="zeros")),
    ],
)
def test_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()
