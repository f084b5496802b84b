"""Curves of a density: what is drawn integrates to the share of eigenvalues that it stands for."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore.checkpoints import read_checkpoint
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, fit_bulk, fit_power_law
from capcore.spectra.figure import LEFT_OUT, density_curves, report_figure
from tests.spectra.whole_networks import spectral_densities


def density_of(weights, **options):
    return spectral_densities(read_checkpoint({"fc": weights}), DensityOptions(**options)).densities[0]


@pytest.fixture
def density(rng):
    return density_of(rng.normal(size=(80, 200)) * (1 + rng.pareto(2, size=(80, 1))))


def test_the_histogram_holds_all_but_the_smallest_eigenvalues(density):
    curves = density_curves(density)
    mass = curves.heights @ np.diff(curves.edges)
    assert mass == pytest.approx(1 - LEFT_OUT, abs=1 / 80)
    assert curves.edges[-1] >= density.eigenvalues[0] and np.all(np.diff(curves.eigenvalues) > 0)


def test_the_tail_has_the_share_of_its_eigenvalues(density):
    """∫ over [x_min, ∞) is n_tail/n; what lies beyond the last point follows from the exponent."""
    fit = fit_power_law(density.eigenvalues)
    curves = density_curves(density, fit)
    mass = np.trapezoid(curves.tail_density, curves.tail)
    drawn = 1 - (curves.tail[-1] / fit.x_min) ** (1 - fit.alpha)
    assert mass == pytest.approx(fit.n_tail / 80 * drawn, rel=1e-3)
    assert (curves.alpha, curves.x_min) == (fit.alpha, fit.x_min)


@pytest.mark.parametrize("divide_by", ["larger side", "nothing"])
def test_the_bulk_has_the_share_of_what_is_no_spike(rng, divide_by):
    weights = rng.normal(size=(60, 300))
    weights[:, :12] *= 40
    density = density_of(weights, divide_by=divide_by)
    curves = density_curves(density)
    fit = fit_bulk(density.eigenvalues, density.shape, divisor=density.divided_by)
    assert fit.n_spikes == 12
    inside = np.trapezoid(curves.bulk_density, curves.bulk)
    assert inside == pytest.approx(48 / 60, abs=0.04)  # from the smallest eigenvalue on
    assert fit.lower * 0.99 <= curves.bulk[0] and curves.bulk[-1] <= fit.upper


def test_a_null_has_the_bins_of_the_density(density, rng):
    curves = density_curves(density, null=rng.random(300) + 0.1)
    assert curves.null_heights.shape == curves.heights.shape


def test_too_few_eigenvalues_have_no_tail_and_no_bulk():
    curves = density_curves(density_of(np.diag([1.0, 2.0]), minimum=1), fit_power_law([1.0]))
    assert curves.tail.size == curves.bulk.size == 0 and np.isnan(curves.alpha)
    with pytest.raises(ValueError, match="fewer than two different"):
        density_curves(density_of(np.eye(4), minimum=1))


def test_a_figure_needs_spectra(rng):
    with pytest.raises(ValueError, match="no spectra to draw"):
        report_figure([analyse_spectra({"bias": np.ones(3)})])
    report = analyse_spectra({"fc": rng.normal(size=(12, 30))})
    with pytest.raises(ValueError, match="no spectra to draw"):
        report_figure([replace(report, densities=())])


def test_a_figure_of_a_failed_fit_and_of_files_of_one_name(rng):
    plt.switch_backend("Agg")
    report = analyse_spectra({"fc": rng.normal(size=(12, 30))}, SpectraOptions(x_min=1e9))
    assert not report.spectra[0].ok
    for reports, n_axes in (([report], 3), ([report, report], 1)):
        figure = report_figure(reports)
        assert len(figure.axes) == n_axes
        figure.canvas.draw()
        plt.close(figure)
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels[:2] == ["arrays in memory (1)", "arrays in memory (2)"]
