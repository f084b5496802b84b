"""The benchmarks of weight spectra: what they draw, what they compare, and what they say where a peer is absent."""

import numpy as np
import pytest

from benchmarks import measure, spectra, spectra_reports, spectra_sources
from benchmarks.measure import Row, Skipped
from capcore.spectra import fit_power_laws

pytestmark = pytest.mark.ci

LAYERS = {20: 20, 32: 32, 44: 44, 56: 56}
PEERS = ("weightwatcher", "powerlaw", "torch")


@pytest.fixture
def without_peers(monkeypatch):
    for module in (spectra, spectra_reports, spectra_sources):
        monkeypatch.setattr(module, "peer", lambda name: None if name.startswith(PEERS) else measure.peer(name))


@pytest.mark.parametrize("depth", LAYERS)
def test_drawn_networks_have_the_layers_of_their_depth(depth):
    weights = spectra_sources.resnet_weights(depth)
    assert len(weights) == len(spectra_sources.layers(weights)) == LAYERS[depth]
    assert sum(each.size for each in weights.values()) == 268_336 + (depth - 20) // 6 * 96_768
    again = spectra_sources.resnet_weights(depth)
    assert all(np.array_equal(weights[name], again[name]) for name in weights)
    assert {each.dtype for each in weights.values()} == {np.dtype(np.float32)}


def test_drawn_networks_have_tails_that_noise_has_not():
    """Largest eigenvalue over the mean: about 4 for a square Gaussian matrix."""
    values = spectra_sources.spectra(spectra_sources.resnet_weights(20))
    assert all((each[1:] >= each[:-1]).all() and len(each) >= 20 for each in values)
    assert np.median([each[-1] / each.mean() for each in values]) > 10


def test_the_exhaustive_scan_is_the_one_that_the_pruned_scan_replaces():
    values = [np.sort(np.random.default_rng(seed).pareto(1.5, 60) + 1) for seed in range(5)]
    fits = fit_power_laws(values, threshold=0.0)
    expected = [(fit.alpha, fit.x_min, fit.distance) for fit in fits]
    np.testing.assert_allclose(spectra_sources.exhaustive_fits(values), expected, rtol=1e-12)


def test_without_peers_every_row_that_needs_one_is_skipped_by_name(without_peers):
    found = list(spectra.rows(quick=True))
    skipped = [row for row in found if isinstance(row, Skipped)]
    assert [row.package for row in skipped] == ["weightwatcher", "powerlaw", *["weightwatcher"] * 3]
    assert all("Found no package" in str(row) and "weightwatcher==0.7.7" in str(row) for row in skipped)
    rows = [row for row in found if isinstance(row, Row)]
    assert len(rows) == 8 and all(row.holds for row in rows)


def test_a_peer_that_says_something_else_fails_the_row(without_peers, monkeypatch):
    """α off by 1e-9: a difference that the rows must not pass."""

    def off(values):
        return [(alpha * (1 + 1e-9), x_min, distance) for alpha, x_min, distance in spectra._together(values)]

    monkeypatch.setattr(spectra_sources, "exhaustive_fits", off)
    row = next(iter(spectra.rows(quick=True)))
    assert isinstance(row, Row) and not row.holds and "α 1e-09" in row.agreement


def test_tables_are_compared_by_name_and_to_ten_digits():
    table = spectra._table(spectra_sources.resnet_weights(8))
    other = table.iloc[::-1].copy()
    assert spectra._table_row("work", "peer", (1.0, table), (2.0, other)).holds
    other.loc[3, "alpha"] *= 1 + 1e-9
    assert not spectra._table_row("work", "peer", (1.0, table), (2.0, other)).holds
    assert not spectra._table_row("work", "peer", (1.0, table.iloc[1:]), (2.0, table)).holds


def test_the_installed_reference_and_package_say_the_same():
    """Only in an environment that has them."""
    for name in PEERS:
        pytest.importorskip(name, reason="a peer outside the lock")
    rows = [row for row in spectra.rows(quick=True) if isinstance(row, Row)]
    assert len(rows) == 18 and all(row.holds for row in rows)


def test_both_sides_take_turns():
    calls: list[str] = []

    def side(name):
        return lambda: calls.append(name) or name

    (first, ours), (second, theirs) = measure.best_of_each(side("ours"), side("theirs"), 3)
    assert calls == ["ours", "theirs"] * 3 and (ours, theirs) == ("ours", "theirs")
    assert first > 0 and second > 0
    calls.clear()
    (first, ours), (second, theirs) = measure.times_of_each(side("ours"), side("theirs"), 3)
    assert calls == ["ours", "theirs"] * 3 and (ours, theirs) == ("ours", "theirs")
    assert len(first) == len(second) == 3 and min(first + second) > 0


def test_a_report_and_the_preset_are_held_to_what_the_peer_says(monkeypatch):
    """The preset in all layers; a report in most, because it drops eigenvalues by another threshold."""
    weights = spectra_sources.resnet_weights(8)
    monkeypatch.setattr(spectra_reports, "version", lambda _: "0")
    monkeypatch.setattr(spectra_reports, "_theirs", spectra_reports._preset)
    flags = spectra_reports.MODES.values()
    found = [spectra_reports._row("work", weights, each, 2) for each in flags]
    assert all(row.holds and row.seconds > 0 and "2 turns, ours" in row.agreement for row in found)

    def off(source):
        return {name: alpha * (1 + 2e-6) for name, alpha in spectra_reports._preset(source).items()}

    monkeypatch.setattr(spectra_reports, "_theirs", off)
    assert not any(spectra_reports._row("work", weights, each, 1).holds for each in flags)
