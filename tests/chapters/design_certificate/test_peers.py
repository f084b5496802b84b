"""Real series, peers and small networks: laws, brute force, and what is stored."""

from importlib.util import find_spec

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import lfilter

from chapters.design_certificate import answers, peers, promises, real_series, small_networks
from chapters.design_certificate import figures as draw
from chapters.design_certificate.real_series import PLACES, packaged, series
from chapters.kit.stored import stored

SHIPPED = [name for name, place in PLACES.items() if packaged(place.package).exists()]
NEEDED = {"AutoReg": "statsmodels", "ETS": "statsmodels", "AutoARIMA": "statsforecast"}
HERE = [name for name in ("capacity", *peers.FORECASTERS) if find_spec(NEEDED.get(name, "numpy"))]


def forecasts_of(name, known, new):
    if name == "capacity":
        return real_series.forecast(real_series.recommended(known, 16, 12), known, new)
    return peers.FORECASTERS[name](known, new, 12, 16)[0]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_series_is_as_the_rule_asks(name):
    values = series(name)
    assert 200 <= len(values) <= 4000 and np.isfinite(values).all() and np.ptp(values) > 0
    assert PLACES[name].season * 3 < 0.8 * len(values)


def test_there_are_more_than_twenty_series_of_seven_packages():
    assert len(PLACES) > 20 and len({place.package for place in PLACES.values()}) == 7
    assert len(set(map(str, PLACES.values()))) == len(PLACES)


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr(peers, "TCN_STEPS", 3)
    monkeypatch.setattr(peers, "LENGTH", 400)


@pytest.mark.parametrize("name", HERE)
def test_a_forecast_knows_nothing_of_what_it_forecasts(name, fast, rng):
    """Values from the fifth on are others: the forecasts of the first five stay."""
    known, new = np.split(lfilter([1.0], [1.0, -0.9], rng.normal(size=350)), [340])
    other = np.append(new[:4], 3 + rng.normal(size=6))
    one, another = (forecasts_of(name, known, values) for values in (new, other))
    assert one.shape == (10,)
    np.testing.assert_allclose(one[:5], another[:5], atol=1e-5)  # single precision in the network
    assert name == "season" or not np.allclose(one[5:], another[5:])


@pytest.mark.parametrize("name", ["capacity", "ridge", "AutoReg"])
def test_linear_forecasts_of_a_linear_process_err_by_its_innovations(name, rng):
    """An AR(1): within three standard errors of the innovations' variance, and 5 % for estimated weights."""
    if name not in HERE:
        pytest.skip("needs statsmodels")
    values = lfilter([1.0], [1.0, -0.9], rng.normal(size=3000))
    forecasts = forecasts_of(name, values[:2500], values[2500:])
    assert np.mean((forecasts - values[2500:]) ** 2) == pytest.approx(1, abs=3 * np.sqrt(2 / 500) + 0.05)


def test_repeating_is_a_shift():
    values = np.arange(20.0)
    np.testing.assert_array_equal(peers.repeated(values[:15], values[15:], 4, 0)[0], values[11:16])


def test_a_difference_has_the_error_of_correlated_values(rng):
    """Newey and West's, by their double sum."""
    one, other = rng.normal(size=(2, 64)) + 5
    gaps, n = one - other, 64
    weight = np.maximum(0, 1 - np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / (int(n ** (1 / 3)) + 1))
    centred = gaps - gaps.mean()
    found = peers.difference(one, other)
    assert found["mean"] == pytest.approx(gaps.mean() / other.mean())
    assert found["error"] == pytest.approx(np.sqrt(centred @ weight @ centred) / n / other.mean())


def test_outcomes_of_equal_forecasts_are_mostly_ties(rng):
    """Of 400 pairs some 20 are told apart by chance; 40 would be 4.6 standard deviations more."""
    pairs = rng.gamma(2.0, size=(400, 2, 200))
    outcomes = [answers.outcome(peers.difference(*pair), 200) for pair in pairs]
    assert 5 < 400 - outcomes.count("tie") < 40
    assert answers.outcome(peers.difference(*(pairs[0] * [[0.5], [1]])), 200) == "win"


def cell(mean, error=0.01):
    gap = {"mean": mean, "error": error}
    return {"held out": 100, "methods": {"ridge": {"absolute": gap, "squared": gap}}}


def test_a_tally_counts_and_averages_ratios():
    found = answers.tally({"a": cell(-0.5), "b": cell(1.0), "c": cell(0.0)}, "ridge")
    assert (found.losses, found.ties, found.wins) == (1, 1, 1)
    assert found.ratio == pytest.approx(1) and found.low == pytest.approx(0.5) and found.high == pytest.approx(2)
    assert found.answer == "undecided" and found.unseen == pytest.approx(0.028)
    assert answers.tally({"a": cell(-0.5), "b": cell(-0.4)}, "ridge").answer == "better"


def test_there_are_42_networks_each_of_its_own_skeleton():
    archs = [small_networks.skeleton(name) for name in small_networks.SETTINGS["networks"]]
    assert len({(tuple(a.kernel_sizes), tuple(a.dilations), tuple(a.channels)) for a in archs}) == 42
    assert max(a.n_inputs for a in archs) == small_networks.LAGS


@pytest.mark.parametrize("name", small_networks.SETTINGS["networks"][5::9])
def test_a_network_sees_what_its_twin_sees(name, rng):
    arch = small_networks.skeleton(name)
    weights = small_networks.first_weights(arch.kernel_shapes, rng)
    x = jnp.asarray(rng.normal(size=(200, 1)))
    slopes = jax.grad(lambda x: small_networks.applied(arch.dilations, weights, x)[150])(x)[:, 0]
    (seen,) = np.nonzero(np.asarray(slopes))
    assert seen.max() == 150 and seen.min() == 151 - arch.n_inputs
    assert sum(each.size for each in weights) == arch.n_params + sum(arch.channels) + 1  # biases


def test_training_keeps_the_step_that_errs_least_where_it_is_chosen(rng):
    x = rng.normal(size=(120, 1)).astype(np.float32)
    y = np.roll(x[:, 0], 1)  # what the second tap shows
    known, chosen = (np.arange(120) < 80).astype(np.float32), (np.arange(120) >= 80).astype(np.float32)
    weights = small_networks.first_weights([(1, 2, 2), (2, 2, 1)], rng)
    errors = [
        float((small_networks.trained((1, 2), steps, weights, x, y, known, chosen) - y) ** 2 @ chosen)
        for steps in (1, 300)
    ]
    assert errors[1] < errors[0] / 4


def test_ranks_are_those_of_the_errors():
    """Errors that fall with the receptive field: it ranks perfectly, and weights, which rise, with the other sign."""
    networks = {
        str(n): {
            "errors": [9 - n] * 4,
            "twin": 9.0 - n,
            "best linear": 9.0 - n,
            "receptive field": n,
            "capacity": n - n % 2,
        }
        | {"weights": -n}
        for n in range(1, 9)
    }
    found = answers.ranks({"a": networks}).loc["a"]
    assert found["twin"] == found["receptive field"] == pytest.approx(1) and found["weights"] == pytest.approx(-1)
    assert answers.ranks({"a": networks}, free=True).loc["a"]["capacity"] == pytest.approx(1)


def test_the_stored_comparison_is_that_of_the_settings(ax):
    """All peers on all series; the figure has a mark for each, and no mark outside of its frame."""
    content = stored("peers")
    assert content["settings"] == peers.SETTINGS and [*content["values"]] == [*PLACES]
    for each in content["values"].values():
        assert [*each["methods"]] == ["capacity", *peers.FORECASTERS]
        assert each["methods"]["season"]["error"] == 1 and each["methods"]["capacity"]["weights"] <= 32
    table = answers.peers_table(content["values"])
    assert all(sum(map(int, row)) == len(PLACES) for row in table[["lost", "tied", "won"]].to_numpy()[:-1])
    draw.plot_peers(content["values"], ax)
    marks = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() in "^os"])
    assert len(marks) == len(PLACES) * len(peers.FORECASTERS)
    assert marks.min() >= ax.get_xlim()[0] and marks.max() <= ax.get_xlim()[1]


def test_the_stored_networks_are_those_of_the_settings():
    content = stored("small_networks")
    assert content["settings"] == small_networks.SETTINGS
    for networks in content["values"]["networks"].values():
        assert [*networks] == small_networks.SETTINGS["networks"]
        for cell in networks.values():
            assert len(cell["errors"]) == 4 and cell["capacity"] <= cell["receptive field"]
            assert cell["twin"] >= cell["best linear"] * (1 - 1e-6)
            assert not answers.saturated(cell) or cell["twin"] == pytest.approx(cell["best linear"], rel=1e-3)
    for free in (False, True):  # a longer window never errs more
        ranks = answers.ranks(content["values"]["networks"], free)
        np.testing.assert_allclose(ranks["best linear"], ranks["receptive field"])


def test_a_short_run_has_what_is_stored(monkeypatch):
    """The membrane current, which Matplotlib ships, and peers that need no other package."""
    monkeypatch.setattr(
        peers, "FORECASTERS", {name: peers.FORECASTERS[name] for name in ("last value", "season", "ridge")}
    )
    (found,) = peers.run(peers.SETTINGS | {"series": ["membrane current"], "known": 400}).values()
    assert {"error", "rms", "weights", "seconds", "absolute", "squared"} <= set(found["methods"]["ridge"])
    found = small_networks.run(small_networks.SETTINGS | small_networks.QUICK)
    (networks,) = found["networks"].values()
    like = stored("small_networks")["values"]["networks"]["membrane current"]
    assert all(like[name].keys() == each.keys() for name, each in networks.items())


def test_errors_come_true_within_their_factors():
    """Of four series two are within 1.25; a mean of 1 with a wide interval is undecided, a narrow one right."""
    told = {str(i): {"promised": 1.0, "happened": ratio, "warned": ratio < 0.5, "held out": ratio * 1.01 ** (-1) ** i}
            for i, ratio in enumerate((0.4, 0.81, 1.24, 2.5))}  # fmt: skip
    table = answers.promises_table(told)
    assert table.iloc[:, 1].tolist() == ["undecided", "yes"]
    assert table.loc["promised"].tolist()[2:] == ["2 of 4", "2 of 3", "0 of 1"]


def test_the_stored_promises_are_those_of_the_settings():
    content = stored("promises")
    assert content["settings"] == promises.SETTINGS == peers.SETTINGS and [*content["values"]] == [*PLACES]
    for name, each in content["values"].items():  # what happened is what the peers were compared with
        compared = stored("peers")["values"][name]["methods"]
        ratio = compared["capacity"]["rms"] / compared["last value"]["rms"]
        known = peers.stretches_of(series(name), promises.SETTINGS)[0] if name in SHIPPED else []
        if len(known):
            values, at = series(name), np.concatenate(known)
            repeated = np.sqrt(np.mean((values[at] - values[at - 1]) ** 2))
            assert each["happened"] == pytest.approx(ratio * repeated, rel=1e-4), name


def test_a_promise_of_a_stationary_series_comes_true(monkeypatch, rng):
    """An AR(1) of variance 1 / (1 - 0.81): told and happened are its innovations' deviation, 1, within 10 %."""
    values = lfilter([1.0], [1.0, -0.9], rng.normal(size=3000))
    monkeypatch.setattr(promises, "series", lambda _: values)
    found = promises.of_series("", promises.SETTINGS)
    assert [found[name] for name in ("promised", "held out", "happened")] == pytest.approx([1] * 3, abs=0.1)
    assert not found["warned"]
    monkeypatch.setattr(promises, "series", lambda _: values + 0.1 * np.arange(3000))
    assert promises.of_series("", promises.SETTINGS)["warned"]
