"""Reports of the trained networks that lie beside the repository."""

from pathlib import Path

import pytest

from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra

CHECKPOINTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "checkpoints"
pytestmark = pytest.mark.skipif(not CHECKPOINTS.is_dir(), reason="needs ../shared/data, which is absent")
POOLED = SpectraOptions(DensityOptions("pooled", minimum=3), alternatives=())  # the first layer reads three colours


def of_distiller(name, options=POOLED):
    return analyse_spectra(CHECKPOINTS / "distiller_resnet20" / f"{name}.safetensors", options)


def test_removed_layers_are_in_no_average():
    """Of 22 layers five are zero. WeightWatcher averages 22 exponents, five of them −1, to 2.99; 17 average 4.16."""
    report = of_distiller("checkpoint_trained_4D_regularized_5Lremoved")
    assert sum(reason == "All weights are zero." for reason in report.failures.values()) == 5
    assert (report.model.n_spectra, report.model.n_failed, report.model.n_skipped) == (17, 0, 5)
    assert report.model.mean_alpha == pytest.approx(4.16, abs=0.02)  # its other formula for the last layer aside
    assert report.table()["alpha"].count() == 17
