"""α̂ and the ratio of Eq. 6 in several units, on the stored networks."""

import numpy as np
import pytest

from capcore.spectra import fit_power_law
from chapters.spectra_metrics import alpha_hat as study
from chapters.spectra_metrics.study import log_ratio
from chapters.spectra_resnets.networks import stored_networks


@pytest.fixture(scope="module")
def nets():
    found = stored_networks()
    return {"dense": found["dense"]}


def test_units_differ_by_the_law_of_rescaling(nets):
    found = study.by_unit(nets)
    rows = [row for row in nets["dense"].report().spectra if row.ok]
    shift = sum(row.alpha * np.log10(max(row.rows, row.columns)) for row in rows)
    assert found["sum"]["no 1/N"] - found["sum"]["1/N (paper)"] == pytest.approx(shift, rel=1e-9)
    taps = sum(row.alpha * np.log10({None: 1, (0, 0): 0.5}.get(row.tap, 4.5)) for row in rows)
    wide = sum(row.alpha * np.log10(9) for row in rows if row.tap == (0, 0) and "downsample" not in row.layer)
    found_shift = found["sum"]["WeightWatcher"] - found["sum"]["no 1/N"]
    assert found_shift == pytest.approx(taps + wide, rel=1e-9)  # ½ for one tap, 9/2 for nine
    assert found["mean"]["no 1/N"] * len(rows) == pytest.approx(found["sum"]["no 1/N"], rel=1e-12)


def test_ratios_are_those_of_the_eigenvalues(nets):
    found = study.with_alpha_up_to(study.slice_ratios(nets, 2.5), 2.0)
    assert found["alpha"].max() <= 2.0 and len({len(values) for values in found.values()}) == 1
    for name, values in study.slice_ratios(nets, 2.0).items():
        assert found[name] == pytest.approx(values, nan_ok=True)
    density = next(d for d in nets["dense"].densities() if d.name == "layer3.2.conv2.weight[0, 0]")
    expected = log_ratio(density.eigenvalues * 64, 1, 64)
    own = np.isclose(found["printed"], expected, rtol=1e-9)
    assert found["n_tail"][own].tolist() == [fit_power_law(density.eigenvalues).n_tail]
    assert np.isclose(found["printed"], expected, rtol=1e-9).any()
    values = density.eigenvalues * 64
    x_min = fit_power_law(values).x_min
    expected = np.log(64 * values.sum() / x_min) / np.log(values.max() / x_min)
    assert np.isclose(found["x_min"], expected, rtol=1e-9).any()
    assert study.near(found, "alpha", 1e-12) == 1
