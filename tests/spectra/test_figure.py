"""Figures of weight spectra: what is drawn is what was given, and stands for its share of the eigenvalues."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, fit_bulk, fit_power_law
from capcore.spectra.figure import LEFT_OUT, plot_exponents, plot_spectral_density, report_figure


def density_of(weights, **options):
    return analyse_spectra({"fc": weights}, SpectraOptions(DensityOptions(**options), alternatives=())).densities[0]


@pytest.fixture
def density(rng):
    return density_of(rng.normal(size=(80, 200)) * (1 + rng.pareto(2, size=(80, 1))))


@pytest.fixture
def report(rng):
    weights = rng.normal(size=(40, 60)) * (1 + rng.pareto(2, size=(40, 1)))
    network = {"conv": rng.normal(size=(12, 14, 3, 1)), "fc": weights}
    return analyse_spectra(
        network, SpectraOptions(DensityOptions("slices"), null="shuffled", n_null=3, n_resamples=10, alternatives=())
    )


def curve(ax, start):
    """Points of the line whose label begins so."""
    (line,) = (line for line in ax.lines if line.get_label().startswith(start))
    return line.get_data()


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_histogram_holds_all_but_the_smallest_eigenvalues(density, ax):
    plot_spectral_density(density, ax)
    heights, edges, _ = ax.patches[-1].get_data()
    assert heights @ np.diff(edges) == pytest.approx(1 - LEFT_OUT, abs=1 / 80)
    assert edges[-1] >= density.eigenvalues[0]
    assert ax.get_xscale() == ax.get_yscale() == "log" and "/N" in ax.get_xlabel() and "80 eigenvalues" in labels(ax)


def test_the_tail_has_the_share_of_its_eigenvalues(density, ax):
    """∫ over [x_min, ∞) is n_tail/n; what lies beyond the last point follows from the exponent."""
    fit = fit_power_law(density.eigenvalues)
    plot_spectral_density(density, ax)
    values, law = curve(ax, f"power law, α = {fit.alpha:.2f}")
    drawn = 1 - (values[-1] / fit.x_min) ** (1 - fit.alpha)
    assert np.trapezoid(law, values) == pytest.approx(fit.n_tail / 80 * drawn, rel=1e-3)
    assert values[0] == pytest.approx(fit.x_min) and curve(ax, "$x_")[0] == [fit.x_min, fit.x_min]


@pytest.mark.parametrize("divide_by", ["larger side", "nothing"])
def test_the_bulk_has_the_share_of_what_is_no_spike(rng, divide_by, ax):
    weights = rng.normal(size=(60, 300))
    weights[:, :12] *= 40
    density = density_of(weights, divide_by=divide_by)
    fit = fit_bulk(density.eigenvalues, density.shape, divisor=density.divided_by)
    assert fit.n_spikes == 12
    plot_spectral_density(density, ax)
    values, law = curve(ax, "Marčenko")
    assert np.trapezoid(law, values) == pytest.approx(48 / 60, abs=0.04)  # from the smallest eigenvalue on
    assert fit.lower * 0.99 <= values[0] and values[-1] <= fit.upper
    assert ("/N" in ax.get_xlabel()) == (divide_by == "larger side")


def test_a_null_has_the_bins_of_the_density(density, rng, ax):
    plot_spectral_density(density, ax, null=density.eigenvalues * 2, null_label="twice as large")
    own, null = (patch.get_data() for patch in ax.patches[-2:])
    assert null.values.shape == own.values.shape and "twice as large" in labels(ax)
    assert null.values @ np.diff(null.edges) == pytest.approx(1, abs=LEFT_OUT)


def test_too_few_eigenvalues_have_no_tail_and_no_bulk(ax):
    plot_spectral_density(density_of(np.diag([1.0, 2.0]), minimum=1), ax, fit=fit_power_law([1.0]))
    assert labels(ax) == ["2 eigenvalues"]
    with pytest.raises(ValueError, match="fewer than two different"):
        plot_spectral_density(density_of(np.eye(4), minimum=1), ax)


def test_exponents_stand_at_their_layers(report, ax):
    plot_exponents({"network": report.spectra}, ax, null_label="shuffled weights")
    places, alphas = curve(ax, "network")
    np.testing.assert_array_equal(alphas, [row.alpha for row in report.spectra])
    assert [*np.round(places).astype(int)] == [1, 1, 1, 2] and np.all(np.diff(places) > 0)
    null, interval = (collection.get_segments() for collection in ax.collections)
    np.testing.assert_allclose([s[:, 1] for s in null], [(row.null_low, row.null_high) for row in report.spectra])
    np.testing.assert_allclose([s[:, 1] for s in interval], [(row.alpha_low, row.alpha_high) for row in report.spectra])
    assert labels(ax) == ["network", "2 to 5", "range of shuffled weights"]


def test_no_exponent_lies_above_the_figure(report, ax):
    rows = [*report.spectra[:-1], replace(report.spectra[-1], alpha=80.0), replace(report.spectra[-1], alpha=np.nan)]
    plot_exponents({"a": rows, "b": report.spectra}, ax)
    assert ax.get_ylim()[1] > 80
    a, b = (line.get_xdata() for line in ax.lines if line.get_label() in "ab")
    assert not set(a) & set(b)


def test_a_figure_needs_spectra(report):
    for empty in (analyse_spectra({"bias": np.ones(3)}), replace(report, densities=())):
        with pytest.raises(ValueError, match="no spectra to draw"):
            report_figure([empty])


def test_a_figure_of_a_failed_fit_and_of_files_of_one_name(rng):
    plt.switch_backend("Agg")
    report = analyse_spectra({"fc": rng.normal(size=(12, 30))}, SpectraOptions(min_tail=99))
    assert not report.spectra[0].ok
    for reports, n_axes in (([report], 2), ([report, report], 1)):
        figure = report_figure(reports)
        assert len(figure.axes) == n_axes
        figure.canvas.draw()
        plt.close(figure)
    assert labels(figure.axes[0])[:2] == ["arrays in memory (1)", "arrays in memory (2)"]
