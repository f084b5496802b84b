"""Shipped spectra against the files that they come from, fits, nulls and the values of claims."""

import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capcore.checkpoints import read_checkpoint
from capcore.checkpoints.folders import stem
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, fit_power_law
from chapters.kit import stored as results
from chapters.kit.stored import ResultsError, path_of
from chapters.shared.resnets import SOURCES, StoredNetwork, stored_networks
from chapters.spectra_resnets import fits, judged, study
from chapters.spectra_resnets.experiment import SETTINGS, network_spectra
from chapters.spectra_resnets.files import find_file, read_network
from chapters.spectra_resnets.fits import with_law_tail
from chapters.spectra_resnets.study import Exponents, PermutedNetwork, network_counts, range_intervals
from tests.spectra.whole_networks import spectral_densities

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "checkpoints"
beside = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data, which is absent")


def agree(found, expected):
    """Numbers to 1e-8, everything else exactly."""
    for name, value in expected.items():
        if isinstance(value, float):
            assert found[name] == pytest.approx(value, rel=1e-8, abs=1e-12, nan_ok=True), name
        else:
            assert found[name] == value, name


@pytest.fixture(scope="module")
def networks():
    return stored_networks()


LEAST = {"slices": 10, "pooled": 3, "unfolded": 10}
"""Fewest eigenvalues of a matrix: pooled, the first layer of three input channels is analysed, too."""


@pytest.fixture(scope="module")
def checkpoint():
    """``checkpoint(key)``: the file beside the repository, read once, with the weights that were analysed."""
    return cache(lambda key: read_network(SOURCES[key], find_file(SOURCES[key], DATA)))


@beside
@pytest.mark.parametrize("arrangement", ["slices", "pooled", "unfolded"])
@pytest.mark.parametrize("key", SOURCES)
def test_shipped_eigenvalues_are_those_of_the_file(networks, checkpoint, key, arrangement):
    """To rounding, which other processors do otherwise; to 1e-10 of their size where that is coarser than rounding.

    Rounding is 2e-14 of the largest, so that eigenvalues below 1e-3 of it have fewer digits in common.
    """
    options = DensityOptions(arrangement, divide_by="nothing", minimum=1)
    result, expected = networks[key].densities(options), spectral_densities(checkpoint(key), options)
    assert [part.name for part in result] == [part.name for part in expected]
    for shipped, computed in zip(result, expected, strict=True):
        above = computed.eigenvalues > 1e-3 * computed.eigenvalues[0]
        np.testing.assert_allclose(shipped.eigenvalues[above], computed.eigenvalues[above], rtol=1e-10)
        error = (10 + max(computed.shape)) * np.finfo(float).eps * computed.eigenvalues[0]
        np.testing.assert_allclose(shipped.eigenvalues, computed.eigenvalues, rtol=0, atol=2 * error)
        for name in ("n_zeros", "shape", "n_matrices"):
            assert getattr(shipped, name) == getattr(computed, name)


@beside
@pytest.mark.parametrize(
    "options",
    [
        SpectraOptions(DensityOptions("slices")),
        SpectraOptions(DensityOptions("pooled", divide_by="nothing", scale="weightwatcher", minimum=3), min_tail=8),
        SpectraOptions(DensityOptions("unfolded"), kinds={"conv1.weight": "skip"}, tail_share=0.5),
    ],
    ids=["default", "as the reference tool pools", "unfolded"],
)
@pytest.mark.parametrize("key", ["resnet20", "layers_removed", "channels_removed"])
def test_reports_are_those_of_the_file(networks, checkpoint, key, options):
    result, expected = networks[key].report(options), analyse_spectra(checkpoint(key), options)
    assert result.skipped == expected.skipped and result.not_layers == expected.not_layers
    assert (result.source.sha256, result.source.size) == (SOURCES[key].sha256, SOURCES[key].size)
    for shipped, computed in zip((result.model, *result.spectra), (expected.model, *expected.spectra), strict=True):
        agree(vars(shipped), vars(computed))


@beside
def test_shuffled_nulls_and_operators_are_those_of_the_file(networks, checkpoint):
    """Two draws of every layer; and two layers' exact operators, one of them with a stride."""
    key = "resnet20"
    for arrangement in ("slices", "pooled"):
        stored = networks[key].null_alphas(arrangement)
        density = DensityOptions(arrangement, minimum=LEAST[arrangement])
        options = SpectraOptions(density, null="shuffled", n_null=2, alternatives=(), permute=True)
        for row in analyse_spectra(checkpoint(key), options).spectra:
            draws = stored[row.name][:2]
            assert (row.null_low, row.null_high) == pytest.approx((draws.min(), draws.max()), rel=1e-8)
    names = ("layer2.0.conv1.weight", "layer3.1.conv2.weight")
    small = {name: checkpoint(key)[name] for name in names}
    _, values = network_spectra(read_checkpoint(small), {**SETTINGS, "n_null": 1})
    for row in values["operator"]:
        computed = dict(zip(SETTINGS["operator"], row, strict=True))
        agree(networks[key].operator[computed["name"]], computed)


def test_networks_have_the_layers_their_names_say(networks):
    for depth in (20, 32, 44, 56):
        network = networks[f"resnet{depth}"]
        assert len(network.deviations) == depth
        assert len(network.densities(DensityOptions("pooled"))) == depth
    assert networks["chance_level"].error == pytest.approx(90.08)
    assert [key for key, network in networks.items() if np.isnan(network.error)] == ["channels_regularized"]
    removed = networks["layers_removed"].report(SpectraOptions(DensityOptions("pooled"))).skipped
    assert sum(part.reason == "All weights are zero." for part in removed) == 5


def test_eigenvalues_add_up_to_the_squared_weights(networks):
    """‖W‖²_F three ways: over slices, over the unfolded kernel, and by the deviation where the mean is small."""
    for network in networks.values():
        for name, whole in network.spectra["unfolded"].items():
            total = network.spectra["slices"][name].eigenvalues.sum()
            assert whole.eigenvalues.sum() == pytest.approx(total, rel=1e-12)
            assert network.deviations[name] ** 2 * network.checkpoint.tensors[name].size <= total * (1 + 1e-12)


def test_operators_agree_with_the_kernels_they_come_from(networks):
    """Σλ of a circular convolution is ‖W‖²_F for every position of its input, over the stride squared."""
    for network in networks.values():
        for name, row in network.operator.items():
            total = network.spectra["slices"][name].eigenvalues.sum()
            n_out, n_in = network.checkpoint.tensors[name].shape[:2]
            positions = row["n_matrices"] if "conv" in name or "downsample" in name else 1
            assert 10 ** row["log_frobenius"] == pytest.approx(total * positions, rel=1e-10)
            assert row["rows"] == n_out and row["columns"] % n_in == 0


def test_stale_and_mixed_files_are_refused(tmp_path, monkeypatch):
    for suffix in ("json", "npz"):
        shutil.copy(path_of("resnet_spectra").with_suffix(f".{suffix}"), tmp_path)
    monkeypatch.setattr(results, "path_of", lambda name: tmp_path / f"{name}.json")
    assert len(stored_networks()) == 11
    with (tmp_path / "resnet_spectra.npz").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ResultsError, match=r"found other arrays than resnet_spectra\.json names"):
        stored_networks()
    content = json.loads((tmp_path / "resnet_spectra.json").read_text("utf8"))
    content["values"]["arrays"] = "other.npz"
    (tmp_path / "resnet_spectra.json").write_text(json.dumps(content), "utf8")
    with pytest.raises(ResultsError, match="python -m chapters run resnet_spectra"):
        stored_networks()


def test_spectra_of_other_weights_are_refused():
    other = replace(SOURCES["dense"], weights_sha256="0" * 64)
    with pytest.raises(ResultsError, match=r"dense: found spectra of weights .* expected those of 000000000000…"):
        StoredNetwork(other, vars(SOURCES["dense"]), {}, [])


def toy_network():
    """Two convolutions, one with a slice of zeros and a channel of zeros, one removed, and a linear layer."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(12, 11, 3, 3)), rng.normal(size=(14, 12, 1, 2))
    first[:, :, 1, 2] = 0
    first[3] = 0
    return {
        "module.b.weight": first.astype("f4"),
        "module.a.weight": second.astype("f4"),
        "module.gone.weight": np.zeros((12, 12, 3, 3), "f4"),
        "module.fc.weight": rng.normal(size=(10, 14)).astype("f4"),
        "module.fc.bias": np.ones(10, "f4"),
        "module.steps": np.array(3),
    }


@pytest.mark.parametrize("arrangement", ["slices", "pooled", "unfolded"])
def test_storing_and_reading_gives_the_same_report(arrangement):
    """The whole way, for a network that is at hand: zeros and names included."""
    weights = toy_network()
    arrays, values = network_spectra(read_checkpoint(weights), {**SETTINGS, "n_null": 2})
    arrays = {f"toy.{name}": array for name, array in arrays.items()}
    toy = replace(SOURCES["dense"], key="toy")
    stored = StoredNetwork(toy, {"weights_sha256": toy.weights_sha256, **values}, arrays, SETTINGS["operator"])
    bare = {name.removeprefix("module."): weights[name] for name in sorted(weights) if name != "module.steps"}
    options = SpectraOptions(DensityOptions(arrangement, minimum=LEAST[arrangement]))
    result, expected = stored.report(options), analyse_spectra(bare, options)
    assert result.skipped == expected.skipped and result.not_layers == expected.not_layers
    reasons = [part.reason for part in result.skipped]
    assert ("All weights of this slice are zero." in reasons) == (arrangement == "slices")
    assert "All weights are zero." in reasons
    for part, other in zip((result.model, *result.spectra), (expected.model, *expected.spectra), strict=True):
        agree(vars(part), vars(other))
    for density, other in zip(result.densities, expected.densities, strict=True):
        assert density.n_zeros == other.n_zeros


def test_shares_below_and_above_every_null():
    table = pd.DataFrame({"alpha": [1.0, 3.0, 9.0, 2.5]})
    shuffled = np.array([[2.0, 4.0], [2.0, np.nan], [2.0, 4.0], [2.0, 4.0]])
    assert study.Exponents(table, shuffled, shuffled).outside_null() == (0.25, 0.5)


def made(shares, n=40):
    """Networks of which so large a share of n exponents lies in the range; half of the shuffled ones do."""
    names = np.repeat([f"net{i}" for i in range(len(shares))], n)
    alpha = np.concatenate([np.where(np.arange(n) < share * n, 3.0, 1.5) for share in shares])
    shuffled = np.tile([3.0, 9.0], (len(alpha), 1))
    return Exponents(pd.DataFrame({"network": names, "alpha": alpha}), shuffled, shuffled[:, :1])


def test_counts_leave_out_what_has_no_fit():
    result = made([0.5, 1.0], n=4)
    result.shuffled[0, 0] = np.nan
    assert network_counts(result).tolist() == [[2, 4, 3, 7], [4, 4, 4, 8]]


def test_networks_that_agree_leave_no_interval():
    table = range_intervals(made([0.75] * 4), np.random.default_rng(0), 200)
    assert table.loc["trained"].tolist() == [0.75] * 3
    assert table.loc["difference"].tolist() == [0.25] * 3


def test_two_networks_are_drawn_as_wholes():
    """Of two networks at 0 and 1 a resample has 0, 1/2 or 1, whatever the number of their spectra."""
    table = range_intervals(made([0.0, 1.0]), np.random.default_rng(0), 400)
    assert table.loc["trained"].tolist() == [0.5, 0.0, 1.0]


def test_the_interval_is_that_of_a_mean_over_networks():
    """Networks of equal size: the share is a mean of theirs, its interval near ±1.96 s/√n (20 networks: to 10 %)."""
    shares = np.arange(20) / 20
    table = range_intervals(made(shares), np.random.default_rng(1), 20_000)
    half = 1.96 * shares.std() / np.sqrt(20)
    assert table.loc["trained", "high"] - table.loc["trained", "low"] == pytest.approx(2 * half, rel=0.1)


@pytest.mark.parametrize("key", SOURCES)
def test_the_tools_exponents_are_those_that_it_printed(networks, key):
    """Against the reference tool's own output for the original files, which needs no weights here."""
    files = json.loads((Path(__file__).parents[2] / "spectra" / "goldens" / "weightwatcher.json").read_text("utf8"))
    (case,) = [case for name, case in files["checkpoints"].items() if stem(Path(name).name) == stem(SOURCES[key].file)]
    printed = np.array([alpha for alpha in case["pooled"]["alpha"] if alpha != -1])
    result = study.tool_alphas(networks[key])
    np.testing.assert_allclose(np.sort(result), np.sort(printed), rtol=1e-9)


def test_a_permuted_network_is_wrong_and_looks_the_same():
    pair = PermutedNetwork(width=24)
    assert pair.intact_accuracy > 0.9 and pair.permuted_accuracy < 0.05
    assert pair.largest_change < 1e-9
    pair.permuted = replace(pair.permuted, mean_alpha=2 * pair.intact.mean_alpha)
    assert pair.largest_change == pytest.approx(1.0)


def test_shares_count():
    columns = {
        "p_value": np.array([0.05, 0.5, 0.9, 0.1]),
        "lognormal": np.array([0, 0, -1, 1]),
        "exponential": np.array([1, 0, 0, 1]),
        "truncated power law": np.array([0, 0, 0, -1]),
        "low": np.array([2.0, 1.9, 2.5, 3.0]),
        "high": np.array([5.0, 3.0, 5.1, 4.0]),
    }
    expected = {"fits": 0.5, "no_other": 0.5, "unrefuted": 0.25, "over_exponential": 0.5}
    assert fits.shares(columns) == {**expected, "inside": 0.5}
    controls = {f"law {name}": column for name, column in columns.items() if name not in ("low", "high")}
    shares = fits.shares(fits.control(controls, "law"))
    assert np.isnan(shares.pop("inside")) and shares == expected


def test_controls_are_drawn_for_every_spectrum_and_seeded(networks):
    settings = {**fits.SETTINGS, "n_simulations": 19, "n_resamples": 0}
    result = fits.fitted_spectra(networks["layers_removed"], "pooled", settings)
    for name in fits.CONTROLS:
        columns = fits.control(result, name)
        assert set(columns) == {"p_value", "span", *fits.ALTERNATIVES}
        assert len(columns["p_value"]) == len(result["alpha"]) == 17
        assert all(0 < p <= 1 for p in columns["p_value"])
    assert result == fits.fitted_spectra(networks["layers_removed"], "pooled", settings)


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    values = np.sort(np.concatenate([rng.uniform(0.1, 1, 300), (1 - rng.random(200)) ** (-1 / 1.5)]))
    return values, fit_power_law(values, x_min=1.0)


def test_the_tail_is_a_draw_from_the_fitted_law(fitted):
    """Sizes and exponents within four standard errors, over 200 spectra of 500."""
    values, fit = fitted
    drawn = np.concatenate([with_law_tail(values, fit, np.random.default_rng(k)) for k in range(200)])
    tail = drawn[drawn >= fit.x_min]
    n, share = len(drawn), fit.n_tail / fit.n
    assert len(tail) / n == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / n))
    assert len(tail) / np.log(tail / fit.x_min).sum() + 1 == pytest.approx(fit.alpha, abs=4 * 1.5 / np.sqrt(len(tail)))


def test_the_body_is_the_spectrums_own(fitted):
    values, fit = fitted
    drawn = with_law_tail(values, fit, np.random.default_rng(1))
    assert set(drawn[drawn < fit.x_min]) <= set(values[values < fit.x_min])
    assert len(drawn) == fit.n and not np.isin(drawn[drawn > fit.x_min], values).any()


@pytest.fixture(scope="module")
def power_laws():
    return judged.of_power_laws()


@pytest.fixture(scope="module")
def ranges():
    return judged.of_range()


def test_shares_of_tests_are_those_of_the_stored_fits(power_laws, ranges):
    content = fits.stored_fits()
    keys = [key for key in content if key != "chance_level"]
    assert len(keys) == 10
    for name, value in (("slices", power_laws["slices"]), ("pooled", power_laws["pooled"])):
        p_values = [p for key in keys for p in content[key][name]["p_value"]]
        assert value == pytest.approx(sum(p > 0.1 for p in p_values) / len(p_values))
    alphas = [alpha for key in keys for alpha in content[key]["slices"]["alpha"]]
    assert ranges["slices"] == pytest.approx(sum(2 <= alpha <= 5 for alpha in alphas) / len(alphas))
