"""Layers of made-up networks, known spectra, and the answers counted by hand."""

import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import capcore as cc
from capcore.checkpoints.opening import read_checkpoint
from capcore.spectra import DensityOptions, SpectraOptions, fit_power_law
from capcore.spectra.densities import layer_densities
from chapters.kit.stored import stored
from chapters.pretrained_spectra import experiment, study
from chapters.pretrained_spectra.experiment import CONTROLS, SETTINGS, known_spectrum, network_values, run, tail_values

FEW = SETTINGS | {"n_null": 5, "n_simulations": 9, "networks": ["minilm"]}


def made(seed=0):
    """A network of a heavy-tailed matrix, noise, a kernel, an embedding, a fixed transform, and what is too small."""
    rng = np.random.default_rng(seed)
    heavy = (rng.normal(size=(80, 60)) * np.geomspace(1, 30, 60)).astype("f4")
    return read_checkpoint(
        {
            "heavy.weight": heavy,
            "noise.weight": rng.normal(size=(60, 40)),
            "conv.weight": rng.normal(size=(16, 20, 3, 3)),
            "word_embeddings.weight": rng.normal(size=(200, 40)),
            "stft_conv.weight": rng.normal(size=(60, 50)),
            "small.weight": rng.normal(size=(60, 4)),
            "bias": rng.normal(size=60),
        }
    )


@pytest.fixture(scope="module")
def found():
    return network_values(made(), "silero", FEW)


def test_every_matrix_is_analysed_or_named(found):
    assert found["layers"]["name"] == ["heavy.weight", "noise.weight", "conv.weight"]
    reasons = {name: reason for name, _, reason in found["left_out"]}
    assert reasons.keys() == {"word_embeddings.weight", "stft_conv.weight", "small.weight"}
    assert reasons["word_embeddings.weight"] == "An embedding." and reasons["stft_conv.weight"] == "Not trained."
    assert "fewer than the minimum of 10" in reasons["small.weight"]


def test_the_values_are_those_of_a_report(found):
    options = SpectraOptions(DensityOptions("pooled"), null="shuffled", n_null=5, n_simulations=9, alternatives=())
    report = cc.spectra.report(made(), layers=["heavy", "noise", "conv"], options=options)
    for i, row in enumerate(report.spectra):
        for name in experiment.ROW:
            value = getattr(row, name)
            assert found["layers"][name][i] == (value if name == "null_drawn" else pytest.approx(value, rel=1e-4)), name


def test_exponents_are_those_of_singular_values(found):
    weights = made()["heavy.weight"].astype(float)
    fit = fit_power_law(np.linalg.svd(weights, compute_uv=False) ** 2 / 80)
    assert found["layers"]["alpha"][0] == pytest.approx(fit.alpha, rel=1e-4)
    assert found["layers"]["n_tail"][0] == fit.n_tail
    kernel = made()["conv.weight"]
    slices = [
        fit_power_law(np.linalg.svd(kernel[:, :, i, j], compute_uv=False) ** 2).alpha for i, j in np.ndindex(3, 3)
    ]
    assert found["slices"] == pytest.approx(slices, rel=1e-4)


def test_a_run_gives_the_same_again_and_no_weights(found):
    again = run(FEW | {"networks": ["silero"]}, lambda key: nullcontext(made()))["networks"]["silero"]
    assert json.dumps(again) == json.dumps(found)
    numbers = [value for column in found["layers"].values() for value in column] + found["slices"]
    assert len(numbers) < made()["heavy.weight"].size / 8


def test_true_tails_keep_their_exponent_and_power_law_entries_have_larger_eigenvalues_than_noise():
    """With many eigenvalues the fitted exponent is that of the law."""
    rng = np.random.default_rng(1)
    tail = (1 - rng.random(4_000)) ** (-1 / 1.6)
    (layer,) = SpectraOptions().layers(read_checkpoint({"fc.weight": rng.normal(size=(16, 16))})).layers
    (density,) = layer_densities(layer, DensityOptions()).densities
    density = replace(density, eigenvalues=np.sort(tail)[::-1], shape=(8_000, 4_000), n_matrices=1)
    fit = fit_power_law(tail)
    law = fit_power_law(known_spectrum("law", density, fit, rng, SETTINGS))
    assert law.alpha == pytest.approx(fit.alpha, abs=5 * law.sigma)
    spread = [fit_power_law(known_spectrum("spread", density, fit, rng, SETTINGS)).alpha for _ in range(40)]
    assert 2.9 < np.mean(spread) < 4.1 and 1.8 < min(spread) < max(spread) < 5.6
    small = replace(density, shape=(600, 300))
    entries = known_spectrum("entries", small, fit, rng, SETTINGS | {"entries": 1.5})  # at 3 it takes larger matrices
    noise = known_spectrum("noise", small, fit, rng, SETTINGS)
    assert len(entries) == len(noise) == 300
    assert entries[0] / np.median(entries) > 5 * noise[0] / np.median(noise)


@pytest.mark.parametrize("seed", range(20))
def test_a_report_cannot_favour_a_plain_power_law_over_one_with_a_cut_off(seed):
    """The one contains the other, so the likeliest of the other laws is never less likely than the power law."""
    values = (1 - np.random.default_rng(seed).random(300)) ** (-1 / 1.5)
    assert tail_values(values, fit_power_law(values), 0.1)["likeliest"] <= 0


def test_fetching_alone_computes_nothing_and_errors_are_one_message(monkeypatch, tmp_path, capsys):
    from chapters.pretrained_spectra import sources

    monkeypatch.setattr(sources, "fetch", lambda source, cache: [cache / name for name in source.files])
    assert experiment.main(["--fetch-only", "--cache", str(tmp_path)]) == 0
    assert "chgnet-0.4.2" in capsys.readouterr().out

    def refuse(source, cache):
        raise sources.CheckpointError("toy: could not be downloaded.")

    monkeypatch.setattr(sources, "fetch", refuse)
    assert experiment.main(["--fetch-only"]) == 1
    assert "could not be downloaded" in capsys.readouterr().err


def test_the_stored_networks_are_those_of_the_settings():
    content = stored("pretrained_spectra")
    assert list(content["values"]["networks"]) == SETTINGS["networks"]
    for one in content["values"]["networks"].values():
        lengths = {len(column) for column in one["layers"].values()}
        assert len(lengths) == 1 and lengths.pop() > 0
        assert set(one) == {"layers", "slices", "left_out", "sha256"}
        assert {f"{control} alpha" for control in CONTROLS} <= set(one["layers"])
    assert study.layer_table()["alpha"].notna().all()


@pytest.fixture(scope="module")
def networks():
    return stored("pretrained_spectra")["values"]["networks"]


@pytest.fixture(scope="module")
def columns(networks):
    """Column → values of all layers, from the lists as they are stored; and the names of their networks."""
    names = next(iter(networks.values()))["layers"]
    found = {name: np.concatenate([one["layers"][name] for one in networks.values()]) for name in names}
    return found | {"network": np.repeat([*networks], [len(one["layers"]["name"]) for one in networks.values()])}


def shares(found, prefix="", some=...):
    """Of layers that pass each test."""
    signs = np.array([found[f"{prefix}{name}"][some] for name in ("lognormal", "exponential", "truncated power law")])
    fits = np.mean(found[f"{prefix}p_value"][some] > 0.1)
    return {"fits": fits, "no_other": np.mean(signs.min(axis=0) >= 0), "exponential": np.mean(signs[1] == 1)}


def test_the_answers_about_power_laws_are_those_counted_by_hand(columns):
    values = study.of_power_laws(study.layer_table())
    own, law = shares(columns), shares(columns, "law ")
    few = np.isin(columns["network"], ("minilm", "mpnet", "antiberty"))
    language, true = shares(columns, some=few), shares(columns, "law ", few)
    expected = {
        **{f"{name}_ratio": own[name] / law[name] for name in own},
        "fits": own["fits"],
        "no_other": own["no_other"],
        "power": min(law["fits"], law["no_other"]),
        "noise": 1 - shares(columns, "noise ")["fits"],
        "entries": shares(columns, "entries ")["fits"],
        "span": np.median(columns["span"]),
        "language": min(language[name] / true[name] for name in true),
    }
    assert {name: values[f"pretrained_{name}"] for name in expected} == pytest.approx(expected)


def test_the_answers_about_the_range_are_those_counted_by_hand(networks, columns):
    def inside(alphas, highest=5):
        return (np.asarray(alphas) >= 2) & (np.asarray(alphas) <= highest)

    values = study.of_range(study.layer_table(), study.slice_table())
    alpha, median = columns["alpha"], columns["null_median"]
    large = np.minimum(columns["rows"], columns["columns"]) >= 256
    matrices = np.concatenate([alpha[columns["kind"] == "linear"], *(one["slices"] for one in networks.values())])
    expected = {
        "pooled": inside(alpha).mean(),
        "wide": inside(alpha, 6).mean(),
        "control": inside(columns["spread alpha"]).mean(),
        "below": np.mean((alpha < median) & (columns["null_p_value"] <= 0.05)),
        "chance": inside(alpha[large]).mean() - inside(median[large]).mean(),
        "slices": inside(matrices).mean(),
        "networks": np.mean([inside(one["layers"]["alpha"]).mean() >= 0.9 for one in networks.values()]),
    }
    assert {name: values[f"pretrained_{name}"] for name in expected} == pytest.approx(expected)


def test_an_interval_of_networks_that_agree_is_a_point_and_of_those_that_differ_is_wide():
    keys = pd.Series(np.repeat([f"network {i}" for i in range(10)], 20))
    ones = pd.DataFrame({"all": np.ones(200)})
    alike = pd.DataFrame({"half": np.tile([0, 1], 100)})
    assert study.upper_end(keys, alike, ones) == 0.5
    apart = pd.DataFrame({"half": np.repeat([0, 1], 100)})
    assert 0.7 < study.upper_end(keys, apart, ones) < 0.9  # binomial: 0.5 + 2 · 0.16
    both = pd.concat([apart, alike], axis=1)
    assert study.upper_end(keys, both, pd.concat([ones, ones], axis=1)) == 0.5  # the least of the two
