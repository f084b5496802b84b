"""Spectra whose tails may begin anywhere: the stored ones are those of the chapters, and counts are those of chance."""

import numpy as np
import pytest

from capcore.spectra import DensityOptions, fit_power_law, read_checkpoint
from capcore.spectra.densities import layer_densities
from capcore.spectra.layers import find_layers
from capcore.spectra.noise import null_weights
from chapters.kit.stored import path_of, stored
from chapters.spectra import tails
from chapters.spectra_resnets.networks import stored_networks


@pytest.fixture(scope="module")
def spectra():
    return {each["name"]: each for each in stored("tails")["values"]["spectra"]}


def test_exponents_of_every_beginning_are_those_of_the_fit(rng):
    values = np.sort(rng.pareto(2.0, (3, 40)) + 1)
    found = tails.top_exponents(values)
    expected = [[fit_power_law(row, x_min=x_min, threshold=0).alpha for x_min in row[:-1]] for row in values]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_what_the_page_is_given_of_a_spectrum(rng):
    others = np.sort(rng.pareto(2.0, (30, 20)) + 1)
    others[0, :3] = 0.0  # not resolved
    values = np.sort(rng.pareto(1.0, 20) + 1)
    found = tails.described(tails.Spectrum("a", "A", values, others, "draws"), 20, rng)
    np.testing.assert_allclose(found["eigenvalues"], values, rtol=1e-7)
    for k in range(3, 19):
        alphas = [fit_power_law(row, x_min=row[k], threshold=0).alpha for row in others]
        assert found["smaller"][k] == sum(alpha <= fit_power_law(values, x_min=values[k]).alpha for alpha in alphas)
        assert found["alpha_low"][k] == pytest.approx(np.percentile(alphas, 2.5), rel=1e-3)
        assert found["high"][k] == pytest.approx(np.percentile(others[:, k], 97.5), rel=1e-3)
    own = [fit_power_law(row).alpha for row in others]
    assert found["own"]["smaller"] == sum(alpha <= fit_power_law(values).alpha for alpha in own)
    assert found["own"]["high"] == pytest.approx(np.percentile(own, 97.5))
    assert np.isfinite(np.concatenate([found[name] for name in ("low", "high", "alpha_low", "alpha_high")])).all()


def test_shuffled_weights_are_those_of_a_report(rng):
    weights = rng.normal(size=(30, 20))
    (layer,) = find_layers(read_checkpoint({"layer2": weights})).layers
    (density,) = layer_densities(layer, DensityOptions("slices", null="shuffled", draw=3)).densities
    drawn = null_weights(weights, "shuffled", seed=0, name="layer2", draw=3)
    np.testing.assert_allclose(tails.eigenvalues_of(drawn[None])[0][::-1], density.eigenvalues, rtol=1e-12)


def test_trained_layers_have_the_exponents_of_the_chapter(spectra):
    rows = stored("layer_seeds")["values"]
    place = {
        network: next(
            i
            for i, row in enumerate(zip(rows["network"], rows["seed"], rows["layer"], strict=True))
            if row == (network, 0, "layer2")
        )
        for network in ("right labels", "weight decay")
    }
    alphas = {name: fit_power_law(spectra[name]["eigenvalues"]).alpha for name in ("trained", "untrained", "decay")}
    assert alphas["trained"] == pytest.approx(rows["alpha"][place["right labels"]], rel=1e-3)
    assert alphas["untrained"] == pytest.approx(rows["start"][place["right labels"]], rel=1e-3)
    assert alphas["decay"] == pytest.approx(rows["alpha"][place["weight decay"]], rel=1e-3)


def test_published_layers_are_those_that_the_book_ships(spectra):
    network, layers = tails.SETTINGS["published"]
    densities = stored_networks()[network].densities(options=DensityOptions("pooled")).densities
    shipped = {density.layer: np.sort(density.eigenvalues) for density in densities}
    for layer in layers:
        np.testing.assert_allclose(spectra[layer]["eigenvalues"], shipped[layer], rtol=1e-7)
    with pytest.raises(ValueError, match="layer: found 'fc', expected one of resnet20"):
        tails.published(network, "fc")


def test_draws_from_a_law_are_as_often_smaller_as_they_are_counted(spectra):
    for spectrum, alpha in zip(tails.laws(tails.SETTINGS), tails.SETTINGS["laws"], strict=True):
        found = spectra[spectrum.name]
        values = np.array(found["eigenvalues"])
        np.testing.assert_allclose(values, spectrum.eigenvalues, rtol=1e-7)
        for k in (0, 100, 250):
            own = fit_power_law(values, x_min=values[k]).alpha
            others = [fit_power_law(row, x_min=row[k]).alpha for row in spectrum.others]
            assert found["smaller"][k] == sum(other <= own for other in others)
        assert found["smaller"][0] == found["n_others"] // 2, "the one shown is in the middle"
        assert np.mean([fit_power_law(row, x_min=1.0).alpha for row in spectrum.others]) == pytest.approx(
            alpha, abs=0.03
        )


def test_every_eigenvalue_can_begin_a_tail_and_the_page_stays_small(spectra):
    for each in spectra.values():
        values = np.array(each["eigenvalues"])
        assert values[0] > 0 and np.all(np.diff(values) > 0)
        assert {len(each[name]) for name in ("low", "high")} == {len(values)}
        assert {len(each[name]) for name in ("alpha_low", "alpha_high", "smaller")} == {len(values) - 1}
        assert max(each["smaller"]) <= each["n_others"] == tails.SETTINGS["n_others"]
    assert path_of("tails").stat().st_size < 200_000
