"""Parameters folded into columns, against the dense route: what they give, and how often the error bars hold it."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import spearmanr

import capcore as cc
from capcore.networks.problem import LOSSES

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("compiled_once", "optimised")
SEEDS = 20


def network(w, x):
    """Ten inputs, forty tanh units, three outputs: 520 parameters."""
    return jnp.tanh(x @ w[:400].reshape(10, 40)) @ w[400:].reshape(40, 3)


def data(loss):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(70, 10)), rng.normal(size=520) / 4
    return w, x, rng.integers(0, 3, 70) if loss == "cross-entropy" else rng.normal(size=(70, 3))


@cache
def both(loss):
    """(dense result, sketch)."""
    w, x, y = data(loss)
    decay = np.where(np.arange(520) < 400, 4.0, 1.0) * (1.0 if loss == "cross-entropy" else 5.0)
    options = {"loss": loss, "weight_decay": decay}
    dense = cc.allocate_network(network, w, x, y, **options)
    return dense, cc.allocate_network(network, w, x, y, method="sketch", probes=8, **options)


@pytest.mark.parametrize("loss", LOSSES)
def test_without_folding_all_is_that_of_the_dense_route(loss):
    dense, sketch = both(loss)
    found = sketch.sharpened()
    assert found.error == 0 and found.errors.per_example.max() == 0
    assert found.total == found.gauss_newton_total == pytest.approx(dense.total, rel=1e-9)
    assert found.largest_leverage == pytest.approx(dense.largest_leverage, rel=1e-9)
    for name in ("per_example", "per_output"):
        assert getattr(found, name) == pytest.approx(getattr(dense, name), rel=1e-9)
    assert found.per_subspace["inputs"] == pytest.approx(dense.per_subspace["inputs"], rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_error_bars_of_leverages_and_totals_hold_the_dense_values(loss):
    """Intervals of 95 %: at least nine in ten hold. The examples keep their order, and no fold is biased by a percent.

    Error bars come from one other fold, so they are good to a factor and not to a point.
    """
    dense, sketch = both(loss)
    runs = [sketch.sharpened(256, rng=seed) for seed in range(SEEDS)]
    leverages = np.array([run.per_example for run in runs])
    held = np.abs(leverages - dense.per_example) <= np.array([run.errors.per_example for run in runs])
    totals = np.abs([run.total - dense.total for run in runs]) <= np.array([run.error for run in runs])
    assert held.mean() >= 0.9 and totals.mean() >= 0.9
    assert np.abs(leverages.mean(axis=0) / dense.per_example - 1).mean() < 0.01
    assert min(spearmanr(each, dense.per_example).statistic for each in leverages) > 0.99


def test_leverages_are_better_known_than_by_random_signs():
    """A fold into half as many columns as there are parameters, against eight solves: at least five times."""
    dense, sketch = both("cross-entropy")
    signs, fold = (np.median(np.abs(f.per_example / dense.per_example - 1)) for f in (sketch, sketch.sharpened(256)))
    assert fold < signs / 5


def test_both_libraries_fold_alike():
    torch = pytest.importorskip("torch")
    w, x, y = data("squared")
    module = torch.nn.Sequential(torch.nn.Linear(10, 40, False), torch.nn.Tanh(), torch.nn.Linear(40, 3, False))
    with torch.no_grad():
        module[0].weight[:] = torch.as_tensor(w[:400].reshape(10, 40).T)
        module[2].weight[:] = torch.as_tensor(w[400:].reshape(40, 3).T)
    like = lambda p, x: jnp.tanh(x @ p["0"].T) @ p["2"].T  # noqa: E731
    params = {"0": module[0].weight.detach().numpy(), "2": module[2].weight.detach().numpy()}
    options = {"weight_decay": 20.0, "method": "sketch", "probes": 2}
    one, two = (cc.allocate_network(*each, x, y, **options).sharpened(256) for each in ((module, None), (like, params)))
    assert one.per_example == pytest.approx(two.per_example, rel=1e-4)  # modules hold weights in single precision


def test_a_dense_result_stays_and_the_signs_are_those_of_the_seed():
    dense, sketch = both("squared")
    assert dense.sharpened() is dense
    assert (
        sketch.sharpened(256, rng=1).total == sketch.sharpened(256, rng=1).total != sketch.sharpened(256, rng=2).total
    )


def test_what_cannot_be_folded_is_refused_with_what_can_be_done():
    w, x, y = data("squared")
    sketch = both("squared")[1]
    with pytest.raises(ValueError, match=r"columns: found 8, expected at least .* four times the total"):
        sketch.sharpened(8)
    decay = np.where(np.arange(520) < 400, 20.0, 0.0)
    some = cc.allocate_network(network, w, x, y, weight_decay=decay, method="sketch", probes=2)
    with pytest.raises(AttributeError, match="expected a decay of each"):
        some.sharpened()
    linear = {"params": np.ones(10), "inputs": x, "targets": y[:, 0], "weight_decay": 1.0, "method": "sketch"}
    with pytest.warns(cc.CapacityWarning, match="found no minimum"):
        full = cc.allocate_network(lambda w, x: jnp.tanh(x @ w), curvature="full", **linear | {"params": np.zeros(10)})
    with pytest.raises(AttributeError, match="curvature='gauss-newton'"):
        full.sharpened()
