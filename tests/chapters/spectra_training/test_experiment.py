"""The experiment on trained networks."""

import numpy as np
import pytest

from capcore.spectra import analyse_spectra, spectrum_norms
from chapters.spectra.experiment import Training, train_network
from chapters.spectra_training.experiment import LAYER, QUICK, SETTINGS, measure, run, trainings

TINY = SETTINGS | QUICK


def test_a_network_is_measured_layer_by_layer():
    training = Training(40, 2, epochs=2)
    found = measure(training, TINY)
    snapshot = train_network(training)
    report = analyse_spectra(snapshot.weights)
    for i, name in enumerate(("layer1", "layer2")):
        values = np.linalg.svd(snapshot.weights[name], compute_uv=False) ** 2 / max(snapshot.weights[name].shape)
        assert found["log_spectral"][i] == pytest.approx(np.log10(values[0]), rel=1e-6)
        assert found["stable_rank"][i] == pytest.approx(spectrum_norms(values).stable_rank, rel=1e-6)
        assert found["alpha"][i] == pytest.approx(report.spectra[i].alpha, rel=1e-6)
    assert all(len(found[name]) == 2 for name in (*LAYER, "null_alpha", "null_alpha_hat"))  # not the output layer
    assert found["test"] == pytest.approx(snapshot.test_accuracy)


def test_nulls_are_other_draws_for_other_networks():
    training = Training(40, 1, epochs=1)
    first, again, other = (measure(training, TINY, draw_from=draw) for draw in (0, 0, 3))
    assert first == again and first["null_alpha"] != other["null_alpha"] and first["alpha"] == other["alpha"]


def test_a_run_has_one_value_per_network():
    found = run(TINY)
    assert len(trainings(TINY)) == 6 and all(len(values) == 6 for values in found.values())


def test_both_halves_differ_in_decay_alone():
    plain = [vars(t) for t in trainings() if not t.decay]
    decayed = [vars(t) for t in trainings() if t.decay]
    key = lambda values: tuple(value for name, value in values.items() if name != "decay")  # noqa: E731
    assert sorted(map(key, plain)) == sorted(map(key, decayed))
