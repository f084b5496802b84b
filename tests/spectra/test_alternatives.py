"""Other laws for the tail: exact integrals, direct optimisation, the powerlaw package, and verdicts on known laws."""

import json
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtri

import capcore.spectra.alternatives as alt
from capcore.spectra import alternatives
from capcore.spectra.power_law import fit_power_law
from tests.spectra.goldens.samples import samples
from tests.strategies import refused

GOLDENS = json.loads((Path(__file__).parent / "goldens" / "powerlaw.json").read_text("utf8"))["samples"]
NAMES = {"lognormal": "lognormal", "exponential": "exponential", "truncated power law": "truncated_power_law"}


def log_normalisation(alpha, u):
    """ln ∫₁^∞ z^(−α) e^(−u(z−1)) dz."""
    return alternatives._moments(alpha - 1.0 + u, u).log_norm


@pytest.mark.parametrize("alpha", [-60, -20.5, -3, -0.5, 0, 0.5, 1, 1.5, 2, 3.7, 10, 50])
@pytest.mark.parametrize("u", [1e-8, 1e-4, 0.01, 0.3, 1, 7, 100, 1e4])
def test_the_normalisation_is_the_exponential_integral(alpha, u):
    with ctx.workprec(300):
        exact = float(arb(u).expint(arb(alpha)).log() + arb(u))
    assert log_normalisation(alpha, u) == pytest.approx(exact, rel=1e-12, abs=1e-12)


SHAPES = {
    alt.power_law_model: lambda x, alpha: x**-alpha,
    alt.exponential_model: lambda x, rate: np.exp(-rate * (x - 0.8)),
    alt.lognormal_model: lambda x, mu, sigma: np.exp(-((np.log(x) - mu) ** 2) / 2 / sigma**2) / x,
    alt.cutoff_model: lambda x, alpha, rate: x**-alpha * np.exp(-rate * (x - 0.8)),
}


@pytest.mark.parametrize("model", SHAPES)
def test_densities_are_normalised_on_the_tail(model):
    values = samples()["lognormal"][0]
    tail = values[values >= 0.8]
    fit = model(tail, 0.8)
    shape = SHAPES[model]
    total = quad(lambda y: np.exp(y) * shape(np.exp(y), **fit.parameters), np.log(0.8), 60, limit=500)[0]
    np.testing.assert_allclose(np.exp(fit.log_likelihoods), shape(tail, **fit.parameters) / total, rtol=1e-6)  # quad's


@pytest.mark.parametrize("name", sorted(GOLDENS))
def test_the_powerlaw_package_finds_the_same(name):
    values, x_min = samples()[name]
    golden = GOLDENS[name]
    searched, fixed = fit_power_law(values), fit_power_law(values, x_min=x_min)
    found = (searched.alpha, searched.x_min, searched.distance, searched.sigma)
    assert found == pytest.approx(tuple(golden["searched"].values()), rel=1e-12)
    assert (fixed.alpha, fixed.distance, fixed.sigma) == pytest.approx(tuple(golden["fixed"].values()), rel=1e-12)
    for test in alt.compare_tails(values, fixed):
        theirs = golden[NAMES[test.model.name]]
        # their optimiser, a simplex, stops short of the maximum; and it keeps α of the cut-off law above 1
        assert test.model.log_likelihoods.sum() >= theirs["log_likelihood"] - 1e-9
        nested = test.model.name == "truncated power law"
        if nested and test.model.parameters["alpha"] < 1:
            assert theirs["parameters"][0] == pytest.approx(1.0, abs=1e-4)
            continue
        assert test.ratio == pytest.approx(theirs["ratio"], abs=1e-4)
        assert test.p_value * (2 if nested else 1) == pytest.approx(theirs["p_value"], rel=0.03)
        if not nested:
            assert test.statistic == pytest.approx(theirs["statistic"], rel=3e-3)


@pytest.mark.parametrize("name", sorted(GOLDENS))
def test_no_optimiser_finds_a_likelier_law(name):
    values, x_min = samples()[name]
    tail = values[values >= x_min]
    ratios, gaps = tail / x_min, np.log(tail / x_min)
    fit = alt.cutoff_model(tail, x_min)
    loss = lambda p: np.sum(p[0] * gaps + np.exp(p[1]) * (ratios - 1) + log_normalisation(p[0], np.exp(p[1])))  # noqa: E731
    direct = min(minimize(loss, start, method="Nelder-Mead").fun for start in [(1.0, 0.0), (2.0, -5.0), (0.0, 2.0)])
    assert -fit.log_likelihoods.sum() <= direct + len(tail) * np.log(x_min) + 1e-8
    other = alt.lognormal_model(tail, x_min)
    if not other.limit:

        def lognormal_loss(p):
            mu, sigma = p[0], np.exp(p[1])
            cut = -mu / sigma
            return np.sum(
                np.log(tail * sigma) + 0.5 * np.log(2 * np.pi) + 0.5 * ((gaps - mu) / sigma) ** 2 + log_ndtr(-cut)
            )

        direct = min(minimize(lognormal_loss, start, method="Nelder-Mead").fun for start in [(0.0, 0.0), (1.0, -1.0)])
        assert -other.log_likelihoods.sum() <= direct + 1e-8


def test_where_the_gaps_spread_too_much_the_lognormal_is_the_power_law():
    gaps = np.r_[np.full(90, 0.1), np.full(10, 5.0)]  # coefficient of variation 2.5
    fit = alt.lognormal_model(np.exp(gaps), 1.0)
    assert (
        fit.limit == "power law"
        and fit.log_likelihoods.sum() == alt.power_law_model(np.exp(gaps), 1.0).log_likelihoods.sum()
    )
    nearly = np.random.default_rng(0).exponential(size=3000)
    nearly = nearly / nearly.mean()
    squeezed = nearly if nearly.var() < 1 else nearly ** (0.999 / nearly.std())
    assert squeezed.var() / squeezed.mean() ** 2 < 1
    close = alt.lognormal_model(np.exp(squeezed), 1.0)
    assert close.log_likelihoods.sum() >= alt.power_law_model(np.exp(squeezed), 1.0).log_likelihoods.sum() - 1e-9


def drawn_tail(seed, scale):
    rng = np.random.default_rng(seed)
    gaps = rng.gamma(10.0 ** rng.uniform(-0.3, 1.0), 1.0, int(rng.integers(3, 40))) ** rng.uniform(0.3, 1.0)
    return np.sort(scale * (gaps - gaps.min()) / gaps.mean())


@pytest.mark.parametrize("scale", [1e-5, 0.03, 1.0, 4.0])
@pytest.mark.parametrize("seed", range(6))
def test_at_the_likeliest_cut_off_the_law_has_the_means_of_the_tail(seed, scale):
    """The slope of the normalisation's logarithm, from Arb's exponential integral in 300 bits: minus the means."""
    gaps = drawn_tail(seed, scale)
    alpha, u, log_norm = alt.fit_cutoff(gaps, np.exp(gaps))
    if u == 0.0:
        assert gaps.mean() < 1 and np.expm1(gaps).mean() >= 1 / (1 / gaps.mean() - 1) * (1 - 1e-9)
        return
    with ctx.workprec(600):
        a, b, h, n = arb(alpha), arb(u), arb(10) ** -30, len(gaps)
        norm = lambda a, b: b.expint(a).log() + b  # noqa: E731
        slopes = [(norm(a + h, b) - norm(a - h, b)) / (2 * h), (norm(a, b + h) - norm(a, b - h)) / (2 * h)]
        means = [sum(map(arb, gaps), arb(0)) / n, sum((arb(y).exp() - 1 for y in gaps), arb(0)) / n]
        misses = np.array([float(slope + mean) for slope, mean in zip(slopes, means, strict=True)])
        rounding = 1e-15 * abs(alpha) * gaps.mean()  # of α itself, which is large where gaps are small
        assert log_norm == pytest.approx(float(norm(a, b)), rel=1e-12, abs=1e-12 + rounding)
    # Newton's decrement, here with the tail's own spread: what is left of the loss, in natural units
    spread = np.cov(np.stack([gaps, np.expm1(gaps) - gaps]))
    rest = [misses[0], misses[1] - misses[0]]  # in α − 1 + u and u
    assert rest @ np.linalg.solve(spread, rest) < 1e-16


@pytest.mark.parametrize("scale", [1e-13, 1e-8, 1e-3])
def test_of_a_narrow_tail_the_cut_off_is_the_width_of_a_normal_law(scale):
    gaps = scale * ndtri(0.5 + (np.arange(4000) + 0.5) / 8000)  # half of a normal law
    alpha, u, _ = alt.fit_cutoff(gaps, np.exp(gaps))
    assert u * scale**2 == pytest.approx(1.0, abs=0.01) and (alpha + u) * scale == pytest.approx(0.0, abs=0.01)


def test_small_gaps_are_fitted_without_cancellation():
    """In units of its size the cut-off of a narrow tail depends on it no more; e^y − 1 − y would keep two digits."""
    shape = np.linspace(0.0, 1.0, 50) ** 1.3
    widths = [alt.fit_cutoff(scale * shape, np.exp(scale * shape))[1] * scale**2 for scale in (1e-10, 1e-13)]
    assert widths[1] == pytest.approx(widths[0], rel=1e-8)


def test_tails_beyond_the_range_of_squares_have_a_cut_off():
    alpha, u, log_norm = alt.fit_cutoff(np.array([0.0, 690.0]), np.exp([0.0, 690.0]))
    assert 1 < alpha < 1.01 and 0 < u < 1e-290 and np.isfinite(log_norm)


def test_a_tail_of_one_value_has_a_law_that_is_finite():
    """Its likelihood has no maximum; the fit stands for a spread of 1e-4 of the gap. Nor does order matter."""
    gaps = np.full(5, np.log(2.0))
    alpha, u, log_norm = alt.fit_cutoff(gaps, np.exp(gaps))
    assert (1 / np.sqrt(2 * u)) == pytest.approx(1e-4 * np.log(2), rel=1e-3) and np.isfinite([alpha, log_norm]).all()
    assert alt.fit_cutoff(np.log([1.0, 1.7, 1.2, 1.1]), np.array([1.0, 1.7, 1.2, 1.1])) == pytest.approx(
        alt.fit_cutoff(np.log([1.0, 1.1, 1.2, 1.7]), np.array([1.0, 1.1, 1.2, 1.7])), rel=1e-9
    )


def test_a_heavy_tail_has_no_cut_off():
    values = np.exp(np.r_[np.full(95, 0.05), np.full(5, 4.0)])
    alpha, u, _ = alt.fit_cutoff(np.log(values), values)
    assert u == 0.0 and alpha == pytest.approx(1 + 1 / np.log(values).mean())
    test = alt.compare_tails(values, fit_power_law(values, x_min=1.0), alternatives=["truncated power law"])[0]
    assert (test.ratio, test.p_value, test.favours) == (0.0, 1.0, "neither")


def test_the_laws_that_the_samples_are_from_are_told_apart():
    favoured = {}
    for name, (values, x_min) in samples().items():
        tests = alt.compare_tails(values, fit_power_law(values, x_min=x_min))
        favoured[name] = {test.model.name: test.favours for test in tests}
    assert favoured["power law"]["exponential"] == "power law"
    assert favoured["exponential"]["exponential"] == "exponential"
    assert favoured["lognormal"]["lognormal"] == "lognormal"
    assert favoured["cut-off"]["truncated power law"] == "truncated power law"
    assert favoured["wishart"] == {name: name for name in alt.ALTERNATIVES}


def test_the_nested_test_rejects_a_true_power_law_at_its_level():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        values = rng.pareto(2.5, 100) + 1
        fit = fit_power_law(values, x_min=1.0)
        p_values.append(alt.compare_tails(values, fit, alternatives=["truncated power law"])[0].p_value)
    share = np.mean(np.array(p_values) <= 0.1)
    assert 0.04 < share < 0.16  # three standard errors of 300 draws around 0.1, and the asymptotics of n = 100


test_bad_input_is_refused = refused(
    lambda use: use(1 + np.random.default_rng(0).exponential(size=50)),
    (lambda v: alt.compare_tails(v, fit_power_law([1.0])), ["fit", "failed"]),
    (lambda v: alt.compare_tails(v[:-1], fit_power_law(v, x_min=1.0)), ["eigenvalues", "those of the fit"]),
    (lambda v: alt.compare_tails(v, fit_power_law(v), alternatives=["normal"]), ["alternatives", "'lognormal'"]),
    (lambda v: alt.compare_tails(v, fit_power_law(v), level=np.nan), ["level"]),
)
