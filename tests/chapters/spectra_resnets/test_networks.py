"""The shipped spectra: the same as from the files, where those are at hand, and consistent in themselves."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, read_checkpoint
from capcore.spectra.layers import find_layers
from chapters.kit.stored import ResultsError, load, path_of
from chapters.spectra_resnets.experiment import SETTINGS, network_spectra
from chapters.spectra_resnets.files import SOURCES, find_file, weights_hash
from chapters.spectra_resnets.networks import _network, _spectra, stored_networks
from tests.spectra.whole_networks import spectral_densities

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data" / "checkpoints"
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
    """``checkpoint(key)``: the file beside the repository, read once."""
    found = {}
    return lambda key: found.setdefault(key, read_checkpoint(find_file(SOURCES[key], DATA)))


@beside
@pytest.mark.parametrize("arrangement", ["slices", "pooled", "unfolded"])
@pytest.mark.parametrize("key", SOURCES)
def test_shipped_eigenvalues_are_those_of_the_file(networks, checkpoint, key, arrangement):
    """To rounding, which other processors do otherwise; to 1e-10 of their size where that is coarser than rounding.

    Rounding is 2e-14 of the largest, so that eigenvalues below 1e-3 of it have fewer digits in common.
    """
    options = DensityOptions(arrangement, divide_by="nothing", minimum=1)
    found, expected = networks[key].densities(options=options), spectral_densities(checkpoint(key), options)
    assert [part.name for part in found] == [part.name for part in expected]
    assert found.skipped == expected.skipped
    for stored, computed in zip(found, expected, strict=True):
        above = computed.eigenvalues > 1e-3 * computed.eigenvalues[0]
        np.testing.assert_allclose(stored.eigenvalues[above], computed.eigenvalues[above], rtol=1e-10)
        np.testing.assert_allclose(stored.eigenvalues, computed.eigenvalues, rtol=0, atol=2 * computed.resolution)
        assert (stored.n_zeros, stored.shape, stored.n_matrices) == (
            computed.n_zeros,
            computed.shape,
            computed.n_matrices,
        )
        assert stored.resolution == pytest.approx(computed.resolution, rel=1e-10)


@beside
@pytest.mark.parametrize(
    "options",
    [
        SpectraOptions(DensityOptions("slices")),
        SpectraOptions(DensityOptions("pooled", divide_by="nothing", scale="weightwatcher", minimum=3), min_tail=8),
        SpectraOptions(DensityOptions("unfolded", scale=2.0), kinds={"conv1.weight": "skip"}, tail_share=0.5),
    ],
    ids=["default", "as the reference tool pools", "unfolded"],
)
@pytest.mark.parametrize("key", ["resnet20", "layers_removed", "channels_removed"])
def test_reports_are_those_of_the_file(networks, checkpoint, key, options):
    found, expected = networks[key].report(options), analyse_spectra(checkpoint(key), options)
    assert found.skipped == expected.skipped and found.not_layers == expected.not_layers
    assert (found.source.sha256, found.source.size) == (SOURCES[key].sha256, SOURCES[key].size)
    for stored, computed in zip((found.model, *found.spectra), (expected.model, *expected.spectra), strict=True):
        agree(vars(stored), vars(computed))


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


@beside
@pytest.mark.parametrize("key", SOURCES)
def test_the_weights_are_the_ones_that_were_analysed(checkpoint, key):
    assert weights_hash(checkpoint(key)) == SOURCES[key].weights_sha256


def test_networks_have_the_layers_their_names_say(networks):
    for depth in (20, 32, 44, 56):
        network = networks[f"resnet{depth}"]
        assert len(network.deviations) == depth
        assert len(network.densities(options=DensityOptions("pooled"))) == depth
    assert networks["chance_level"].error == pytest.approx(90.08)
    assert [key for key, network in networks.items() if np.isnan(network.error)] == ["channels_regularized"]
    removed = networks["layers_removed"].densities(options=DensityOptions("pooled")).skipped
    assert sum(part.reason == "All weights are zero." for part in removed) == 5


def test_eigenvalues_add_up_to_the_squared_weights(networks):
    """‖W‖²_F three ways: over slices, over the unfolded kernel, and by the deviation where the mean is small."""
    for network in networks.values():
        for name, stored in network.spectra["unfolded"].items():
            total = network.spectra["slices"][name].eigenvalues.sum()
            assert stored.eigenvalues.sum() == pytest.approx(total, rel=1e-12)
            assert network.deviations[name] ** 2 * network.tensors[name].size <= total * (1 + 1e-12)


def test_operators_agree_with_the_kernels_they_come_from(networks):
    """Σλ of a circular convolution is ‖W‖²_F for every position of its input, over the stride squared."""
    for network in networks.values():
        for name, row in network.operator.items():
            total = network.spectra["slices"][name].eigenvalues.sum()
            n_out, n_in = network.tensors[name].shape[:2]
            positions = row["n_matrices"] if "conv" in name or "downsample" in name else 1
            assert 10 ** row["log_frobenius"] == pytest.approx(total * positions, rel=1e-10)
            assert row["rows"] == n_out and row["columns"] % n_in == 0


def test_units_change_no_exponent(networks):
    network = networks["dense"]
    plain = network.report(SpectraOptions(DensityOptions("slices"), alternatives=()))
    other = network.report(SpectraOptions(DensityOptions("slices", divide_by="nothing", scale=3.0), alternatives=()))
    for first, second in zip(plain.spectra, other.spectra, strict=True):
        assert first.alpha == pytest.approx(second.alpha, rel=1e-10)
        assert second.lambda_max == pytest.approx(9 * first.lambda_max * max(first.rows, first.columns), rel=1e-12)


@pytest.mark.parametrize(
    "options",
    [SpectraOptions(null="shuffled"), SpectraOptions(groups={"conv1*": 1}), SpectraOptions(transposed=("*",))],
)
def test_options_that_need_weights_are_refused(networks, options):
    with pytest.raises(ValueError, match="they need the weights"):
        networks["dense"].report(options)


def test_weights_are_not_stored(networks):
    for options in (DensityOptions(null="gaussian"), DensityOptions("operator", grid=32)):
        with pytest.raises(ValueError, match="they need the weights"):
            networks["dense"].densities(options=options)
    with pytest.raises(ValueError, match="found spectra only"):
        networks["dense"].checkpoint["conv1.weight"]
    with pytest.raises(ValueError, match="arrangement: found 'unfolded'"):
        networks["dense"].null_alphas("unfolded")


def test_null_draws_have_the_names_of_the_densities(networks):
    for network in networks.values():
        for arrangement in ("slices", "pooled"):
            draws = network.null_alphas(arrangement)
            assert {len(values) for values in draws.values()} == {SETTINGS["n_null"]}
            assert [*draws] == [part.name for part in network.densities(options=DensityOptions(arrangement))]


def test_stale_and_mixed_files_are_refused(tmp_path):
    for suffix in ("json", "npz"):
        shutil.copy(path_of("resnet_spectra").with_suffix(f".{suffix}"), tmp_path)
    assert len(stored_networks(tmp_path)) == 11
    with (tmp_path / "resnet_spectra.npz").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ResultsError, match=r"found other arrays than resnet_spectra\.json names"):
        stored_networks(tmp_path)
    content = json.loads((tmp_path / "resnet_spectra.json").read_text("utf8"))
    content["values"]["arrays"] = "other.npz"
    (tmp_path / "resnet_spectra.json").write_text(json.dumps(content), "utf8")
    with pytest.raises(ResultsError, match="python -m chapters run resnet_spectra"):
        stored_networks(tmp_path)


def test_what_is_stored_of_an_origin_is_what_the_table_says(networks):
    """Accuracies included: one that was corrected in the table must not live on in the file."""
    values = load(path_of("resnet_spectra"))["values"]
    for key, source in SOURCES.items():
        assert {name: values["networks"][key].get(name) for name in vars(source)} == vars(source)


def test_spectra_of_other_weights_are_refused():
    other = replace(SOURCES["dense"], weights_sha256="0" * 64)
    with pytest.raises(ResultsError, match=r"dense: found spectra of weights .* expected those of 000000000000…"):
        _network(other, vars(SOURCES["dense"]), {}, [])


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
    stored = _network(toy, {"weights_sha256": toy.weights_sha256, **values}, arrays, SETTINGS["operator"])
    bare = {name.removeprefix("module."): weights[name] for name in sorted(weights) if name != "module.steps"}
    options = SpectraOptions(DensityOptions(arrangement, minimum=LEAST[arrangement]))
    found, expected = stored.report(options), analyse_spectra(bare, options)
    assert found.skipped == expected.skipped and found.not_layers == expected.not_layers
    reasons = [part.reason for part in found.skipped]
    assert ("All weights of this slice are zero." in reasons) == (arrangement == "slices")
    assert "All weights are zero." in reasons
    for part, other in zip((found.model, *found.spectra), (expected.model, *expected.spectra), strict=True):
        agree(vars(part), vars(other))
    for density, other in zip(found.densities, expected.densities, strict=True):
        assert density.resolution == pytest.approx(other.resolution, rel=1e-12)


def test_arrays_that_do_not_fit_the_shapes_are_refused(networks):
    """Too many values for the shapes would shift every spectrum after them."""
    layers = find_layers(networks["dense"].checkpoint).layers
    values = np.concatenate([networks["dense"].spectra["slices"][layer.name].eigenvalues.ravel() for layer in layers])
    with pytest.raises(ValueError, match="eigenvalues more than the shapes have"):
        _spectra(layers[:-1], values, np.zeros(500, int), sliced=True)
