"""Figures of weight spectra: what is drawn is what was given."""

from dataclasses import replace

import numpy as np
import pytest

from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, hill_table
from capcore.spectra import figure as spectra
from capcore.spectra.figure import density_curves


@pytest.fixture
def report(rng):
    weights = rng.normal(size=(40, 60)) * (1 + rng.pareto(2, size=(40, 1)))
    network = {"conv": rng.normal(size=(12, 14, 3, 1)), "fc": weights}
    return analyse_spectra(
        network, SpectraOptions(DensityOptions("slices"), null="shuffled", n_null=3, n_resamples=10, alternatives=())
    )


def test_a_density_with_its_tail_and_its_bulk(report, ax):
    curves = density_curves(report.densities[-1])
    spectra.plot_spectral_density(curves, ax)
    lines = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(lines["Marchenko–Pastur"].get_ydata(), curves.bulk_density)
    np.testing.assert_array_equal(lines[f"power law, α = {curves.alpha:.2f}"].get_xdata(), curves.tail)
    assert ax.get_xscale() == ax.get_yscale() == "log" and "λ" in ax.get_xlabel()
    assert "40 eigenvalues" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_density_with_its_null(report, ax):
    curves = density_curves(report.densities[-1], null=report.densities[-1].eigenvalues * 2)
    spectra.plot_spectral_density(curves, ax, null_label="twice as large")
    assert "twice as large" in [text.get_text() for text in ax.get_legend().get_texts()]
    np.testing.assert_array_equal(ax.patches[-1].get_data().values, curves.null_heights)


def test_exponents_stand_at_their_layers(report, ax):
    spectra.plot_exponents({"network": report.spectra}, ax, null_label="shuffled weights")
    (line,) = (line for line in ax.lines if line.get_label() == "network")
    np.testing.assert_array_equal(line.get_ydata(), [row.alpha for row in report.spectra])
    assert [*np.round(line.get_xdata()).astype(int)] == [1, 1, 1, 2]
    assert np.all(np.diff(line.get_xdata()) > 0)
    null, interval = (collection.get_segments() for collection in ax.collections)
    np.testing.assert_allclose([s[:, 1] for s in null], [(row.null_low, row.null_high) for row in report.spectra])
    np.testing.assert_allclose([s[:, 1] for s in interval], [(row.alpha_low, row.alpha_high) for row in report.spectra])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["network", "2 to 5", "range of shuffled weights"]


def test_no_exponent_lies_above_the_figure(report, ax):
    rows = [*report.spectra[:-1], replace(report.spectra[-1], alpha=80.0), replace(report.spectra[-1], alpha=np.nan)]
    spectra.plot_exponents({"a": rows, "b": report.spectra}, ax)
    assert ax.get_ylim()[1] > 80
    a, b = (line.get_xdata() for line in ax.lines if line.get_label() in "ab")
    assert not set(a) & set(b)


def test_hills_plot(report, ax):
    table = hill_table(report.densities[-1].eigenvalues)
    row = report.spectra[-1]
    spectra.plot_hill(table, ax, alpha=row.alpha, n_tail=row.n_tail)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), table.alpha)
    assert (ax.lines[1].get_xdata()[0], ax.lines[1].get_ydata()[0]) == (row.n_tail, row.alpha)


@pytest.mark.parametrize("eigenvalues", [[1.0, 2.0], [1.0, 2.0, 2.0]])
def test_hills_plot_of_a_few_eigenvalues(eigenvalues, ax):
    spectra.plot_hill(hill_table(eigenvalues), ax, alpha=np.nan, n_tail=0)
    assert ax.get_ylim()[0] == 1
