"""``cc.design``: what it lists and recommends, what it warns of, and how it looks."""

import warnings
from io import StringIO

import matplotlib.pyplot as plt
import numpy as np
import pytest
from bs4 import BeautifulSoup
from scipy.signal import lfilter

import capcore as cc
from capcore.designs.families import FAMILIES, final_prediction_error

TASK = cc.PowerLaw()


@pytest.fixture(scope="module")
def found():
    return cc.design(TASK, max_params=30, n_inputs=32, families=[*FAMILIES])


def simulated(coefficients, size, seed=0):
    """A series of an autoregression, after a run-in."""
    noise = np.random.default_rng(seed).normal(size=size + 500)
    return lfilter([1.0], [1.0, *-np.asarray(coefficients)], noise)[500:]


def test_each_candidate_is_what_fit_and_allocate_say(found):
    problem = cc.Problem.of(cc.AutoRegressiveTaps(32), TASK)
    for each in found.candidates:
        coefficients = np.zeros(32)
        coefficients[: each.arch.n_inputs] = each.arch.coefficients(each.params)
        assert each.loss == pytest.approx(problem.loss(coefficients), rel=1e-6, abs=1e-14)
        assert each.capacity == each.arch.generic_capacity()
        assert each.n_params <= 30 and 0 <= each.far_share <= 1
        assert each.prediction_error == pytest.approx(found.variance + each.loss)
        assert np.isnan(each.bound) or each.bound <= each.loss * (1 + 1e-9) + 1e-14
        assert np.isnan(each.proven) or each.proven <= each.bound + 1e-12


def test_every_family_is_tried(found):
    assert {each.family for each in found.candidates} == {*FAMILIES}
    assert [name for name in FAMILIES if any(each.family == name for each in found.models)] == [*FAMILIES]


def test_the_table_lists_simple_families_first(found):
    table = found.to_dataframe()
    places = [[*FAMILIES].index(each) for each in table["family"]]
    assert places == sorted(places) and len(table) == 8
    np.testing.assert_allclose(table["loss"], [each.loss / found.variance for each in found.models])


def test_no_stack_is_behind_the_wall(found):
    sizes, bounds = zip(*found.wall, strict=True)
    for each in found.candidates:
        if each.family == "stacks":
            at = np.searchsorted(sizes, each.n_params, side="right") - 1
            assert each.loss >= bounds[at] - 1e-9 * found.variance


def test_the_simplest_of_those_that_are_as_good_is_recommended(found):
    least = min(each.prediction_error for each in found.candidates)
    good = [each for each in found.candidates if each.prediction_error <= least * (1 + 1e-12)]
    assert found.best in good and found.best.capacity == min(each.capacity for each in good)


def test_the_far_share_is_that_of_the_older_half():
    found = cc.design(TASK, max_params=24, n_inputs=32, families=["autoregressive", "log taps"])
    for each in found.candidates:
        columns, _ = np.linalg.qr(TASK.covariance(32) @ each.arch.basis)
        capacities = np.sum(columns**2, axis=1)
        assert each.far_share == pytest.approx(capacities[16:].sum() / each.n_params)


def test_the_final_prediction_error_foretells_that_of_new_data():
    """Monte Carlo: AR(8) fitted to 200 values of white noise errs by 1 + 8/200 on others, and its own variance less.

    400 draws of an excess with mean 8 and variance about 16, over 200: a standard error of 0.001. That of a fitted
    variance is √(2/200) / √400 = 0.005 for each; it is compared with the noise's own variance, which takes most of it.
    """
    excess, missing = [], []
    for seed in range(400):
        values = np.random.default_rng(seed).normal(size=200)
        weights, variance = cc.estimate_process(values, 8).predictor(8)
        excess.append(weights @ weights)
        missing.append(1 - variance / np.mean(values**2))
    assert np.mean(excess) == pytest.approx(8 / 200, abs=0.004)
    assert final_prediction_error(1 - np.mean(missing), 8, 200) == pytest.approx(1 + np.mean(excess), abs=0.008)
    assert final_prediction_error(1.0, 8, 8) == np.inf and final_prediction_error(1.0, 8, None) == 1.0


def test_a_known_process_pays_nothing_and_a_series_twice():
    series = simulated([0.5, 0.3], 400)
    for process, size in ((cc.PowerLaw(), None), (series, 320)):
        found = cc.design(process, max_params=4, n_inputs=8, families=["autoregressive"])
        each = next(each for each in found.candidates if each.n_params == 4)
        price = 1 if size is None else (size + 4) / (size - 4)
        assert each.prediction_error == pytest.approx((found.variance + each.loss) * price) and found.n_fitted == size


def test_what_is_warned_of():
    with pytest.warns(UserWarning, match="found one that 1 tap forecast"):
        assert cc.design(cc.AR1(0.9), max_params=30, n_inputs=32).best.words == "1 tap"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cc.design(simulated([0.1], 300), max_params=12, n_inputs=16, families=[*FAMILIES][:3]).notes == []


def test_gaps_are_honoured():
    series = simulated([0.5, 0.3], 4000)
    series[::9] = np.nan
    found = cc.design(series, max_params=8, n_inputs=16, families=["autoregressive"])
    assert found.n_fitted == np.isfinite(series[:3200]).sum() and found.best.words in ("2 taps", "3 taps")


def test_words(found):
    text = found.report()
    assert text.startswith(f"Use {found.best.words}: {found.best.n_params} weights for the last 32 values.")
    assert all(each.words in text for each in found.models) and "\n\n   model " in text
    assert all(len(line) < 130 for line in text.splitlines() if not line.startswith("Note."))


def test_a_notebook_shows_the_same_as_a_table(found):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("lxml")
    shown, words = found._repr_html_(), found.report().split()
    (table,) = pd.read_html(StringIO(shown), keep_default_na=False)
    assert table["model"].tolist() == [each.words for each in found.models]
    assert (table.iloc[:, 0] == "*").tolist() == [each is found.best for each in found.models]
    assert BeautifulSoup(shown, "html.parser").get_text(" ").split() == words


def test_the_receptive_field():
    """AR(2) of 3,200 values before those held out: two inputs tell all."""
    found = cc.design(simulated([0.5, 0.3], 4000), max_params=8, n_inputs=32, families=["autoregressive"])
    assert found.n_fitted == 3200 and found.reach(0.9) <= found.reach(0.98) == 2
    assert np.all(np.diff(found.variances) <= 0) and found.variances[-1] == pytest.approx(1.0, abs=0.1)
    exact = cc.design(TASK, max_params=8, n_inputs=32)
    np.testing.assert_allclose(exact.variances[8], TASK.predictor(8)[1])
    assert exact.n_fitted is None and exact.reach(1.0) == 32


def test_picture(found):
    axis = found.plot()
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert {"below the stacks' bound", *FAMILIES} == {*labels}
    assert (axis.get_xscale(), axis.get_yscale(), axis.get_xlabel()) == ("log", "log", "parameters")
    plt.close(axis.figure)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"families": ["trees"]}, "families: found 'trees', expected one of"),
        ({"families": []}, "expected enough for one model"),
        ({"max_params": 1, "families": ["stacks"]}, "max_params: found 1, expected enough for one model"),
        ({"process": cc.Independent([TASK, TASK])}, "process: found 2 components"),
    ],
)
def test_refusals(arguments, told):
    with pytest.raises(ValueError, match=told):
        cc.design(**{"process": TASK, "max_params": 8, "n_inputs": 16, **arguments})
    with pytest.raises(cc.TooLargeError):
        cc.design(TASK, max_params=8, n_inputs=10**8)
    with pytest.raises(TypeError, match="expected a Process"):
        cc.design(cc.Problem.of(cc.AutoRegressiveTaps(4), TASK), max_params=2, n_inputs=4)


def test_a_prime_number_of_inputs_has_no_stacks():
    found = cc.design(TASK, max_params=8, n_inputs=13)
    assert {each.family for each in found.candidates} == {*FAMILIES} - {"stacks"}
