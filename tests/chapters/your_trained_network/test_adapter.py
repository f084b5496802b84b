"""The fine-tuned transformer: padding changes nothing, its numbers are the package's, planted labels are counted."""

from functools import partial

import numpy as np
import pytest

import capcore as cc
from chapters.your_trained_network import adapter, adapter_answers

WIDTH, POSTS = 24, 12
DECAY = 0.5


@pytest.fixture(scope="module")
def toy():
    """Small random layers, parameters of adapters that change something, posts with padding, labels."""
    rng = np.random.default_rng(0)
    sizes = dict.fromkeys(adapter.PARTS, (WIDTH, WIDTH)) | {"up": (2 * WIDTH, WIDTH), "down": (WIDTH, 2 * WIDTH)}
    sizes |= dict.fromkeys(("first", "second"), (WIDTH,))
    layers = [{k: (rng.normal(size=v) / 5, rng.normal(size=v[0]) / 5) for k, v in sizes.items()} for _ in range(2)]
    params = {
        part: {name: rng.normal(size=values.shape).astype(np.float32) / 5 for name, values in leaves.items()}
        for part, leaves in list(adapter.first_params(0, WIDTH).items())[:3]
    }
    x = rng.normal(size=(POSTS, adapter.LENGTH, WIDTH + 1)).astype(np.float32)
    x[..., -1] = np.arange(adapter.LENGTH) < rng.integers(3, adapter.LENGTH, POSTS)[:, None]
    return layers, params, x, rng.integers(2, size=POSTS)


def test_padding_is_not_read(toy):
    layers, params, x, _ = toy
    other = np.where(x[..., -1:] > 0, x, 7.0)
    other[..., -1] = x[..., -1]
    np.testing.assert_allclose(*(adapter.outputs(layers, np.ones(2), params, each) for each in (x, other)), atol=1e-5)


def test_the_linearised_network_has_the_capacities_of_the_network(toy, monkeypatch):
    """To 1e-3: derivatives in single precision, times a condition of hundreds."""
    layers, params, x, y = toy
    monkeypatch.setattr(adapter, "body", lambda: layers)
    monkeypatch.setattr(adapter, "ALL", np.ones(2, np.float32))
    found, jacobian = adapter.linearised(params, x, y, DECAY)
    options = {"loss": "cross-entropy", "weight_decay": DECAY, "subspaces": {"positions": adapter.positions(x)}}
    whole = cc.allocate_network(partial(adapter.logits, layers, adapter.ALL), params, x, y, **options)
    left, expected = found.leave_one_out(), whole.leave_one_out()
    np.testing.assert_allclose(found.per_example, whole.per_example, rtol=1e-3)
    np.testing.assert_allclose(found.per_subspace["positions"], whole.per_subspace["positions"], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(left.losses, expected.losses, rtol=1e-3)
    assert ("likely too high" in left.statement) == (found.total > POSTS / 2)  # the page quotes it
    p = np.exp(-left.training_losses)
    by_layer = adapter.by_layer(params, jacobian, p * (1 - p), DECAY)
    assert by_layer == pytest.approx({name: each.independent.total for name, each in whole.layers.items()}, rel=1e-3)


def test_answers_of_made_up_seeds(monkeypatch):
    """Leave-one-out that is right for heads and blind for adapters; capacity ranks layers, leverage finds nothing."""
    rng, names = np.random.default_rng(1), ("loss", "loss left out", "leave-one-out change", "leverage")
    right = {"training": 0.1, "left out": 0.5, "tests": 0.5, "accuracy": 0.8}
    made = [
        {
            "decays": {"1.0": {"head": right, "adapter": right | {"left out": 0.2}}},
            "flipped": {
                "0.1": dict(zip(names, np.array([0.5, 0.7, 0.7, 0.1]) + rng.normal(size=4) / 100, strict=True))
            },
            "kept": [0.795, 0.7],
            "trained": [0.8, 0.75],
        }
        for _ in range(6)
    ]
    monkeypatch.setattr(adapter_answers, "seeds", lambda: made)
    monkeypatch.setattr(adapter_answers, "settings", lambda: {"decay": 1.0, "decays": [1.0]})
    answers = [row[-1] for row in adapter_answers.rows()]
    assert answers == ["yes", "yes", "no", "yes", "yes", "yes", "yes", "yes", "yes", "no"]
    assert adapter_answers.answers(0.95) == answers
    assert adapter_answers.answers(1 - 1e-12)[:3] == ["undecided"] * 3  # an interval wider than any difference
    assert adapter_answers.optimism("adapter") == pytest.approx([0.25] * 6)
