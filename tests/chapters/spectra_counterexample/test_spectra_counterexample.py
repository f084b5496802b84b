"""The averages that a public notebook prints, and an interval against resampling by hand."""

import numpy as np
import pytest

from chapters.shared.resnets import stored_networks
from chapters.spectra_counterexample import study as first_release
from chapters.spectra_counterexample.study import mean_choices, slice_mean_interval
from chapters.spectra_metrics.study import SLICES


@pytest.fixture(scope="module")
def nets():
    return stored_networks()


@pytest.mark.parametrize("key", first_release.PRINTED)
def test_the_printed_averages_come_out(nets, key):
    """Printed from single-precision spectra: 1e-6 of them is left."""
    norm, alpha, n = first_release.averages(nets[key])
    assert (norm, alpha) == pytest.approx(first_release.PRINTED[key], abs=5e-6) and n == 45


def test_other_choices_give_other_averages(nets):
    """So that agreement says which choices were made: fewer layers, and the law that ends."""
    assert first_release.averages(nets["dense"], 30)[1] != pytest.approx(3.2900305, abs=0.01)
    result = mean_choices(nets["dense"], 22)
    assert result["slices ≥ 50, as in 2019"] == pytest.approx(3.2900305, abs=5e-6)
    assert abs(result["slices ≥ 50"] - 3.29) > 0.05


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_the_one_described(seed):
    """Every candidate in turn: exponent of a law without end, distance from the one that ends at the largest."""
    values = np.sort(np.random.default_rng(seed).pareto(2.0, 30) + 1)
    rows = []
    for x_min in values[:-1]:
        tail = values[values >= x_min]
        alpha = 1 + len(tail) / np.sum(np.log(tail / x_min))
        law = (1 - (tail / x_min) ** (1 - alpha)) / (1 - (tail[-1] / x_min) ** (1 - alpha))
        rows.append((max(abs(law - np.arange(len(tail)) / len(tail))), alpha))
    assert first_release.cut_exponent(values) == pytest.approx(min(rows)[1], rel=1e-9)


def test_interval_of_the_mean_over_slices_against_resampling_by_hand(nets):
    """Layers drawn with their slices; one of a network with itself is a point at zero."""
    one, other = nets["layers_removed"], nets["layers_removed_tuned"]
    groups = []
    for net in (one, other):
        rows = [row for row in net.report(SLICES).spectra if row.ok]
        groups.append({name: [r.alpha for r in rows if r.layer == name] for name in {r.layer for r in rows}})
    names, rng = sorted(groups[0]), np.random.default_rng(1)
    drawn = [rng.choice(names, len(names)) for _ in range(2_000)]
    means = [[np.mean(np.concatenate([group[name] for name in names])) for group in groups] for names in drawn]
    expected = np.quantile(np.subtract(*np.transpose(means)), [0.025, 0.975])
    assert slice_mean_interval(one, other, np.random.default_rng(0)) == pytest.approx(expected, abs=0.03)
    assert slice_mean_interval(one, one, rng, 99) == (0, 0)
