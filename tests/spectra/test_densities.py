"""Densities: every option against its definition by singular values, and nothing lost or averaged in."""

import numpy as np
import pytest
from hypothesis import given

import capcore.spectra as cs
from capcore.checkpoints import read_checkpoint
from capcore.spectra.densities import unfit_reason
from tests.spectra.whole_networks import spectral_densities
from tests.strategies import refused, seeds


def densities_of(arrays, **options):
    return spectral_densities(
        read_checkpoint(arrays, non_finite="keep"), cs.DensityOptions(**{"arrangement": "slices", **options})
    )


def squares(matrix):
    return np.linalg.svd(matrix, compute_uv=False) ** 2


def close(density, expected):
    expected = np.sort(np.ravel(expected))[::-1]
    assert density.eigenvalues.shape == expected.shape
    error = (10 + max(density.shape)) * np.finfo(float).eps * density.eigenvalues[0]
    np.testing.assert_allclose(density.eigenvalues, expected, atol=2 * error, rtol=0)


@pytest.fixture
def kernel(rng):
    return rng.normal(size=(12, 16, 3, 2))


def test_slices_are_the_papers_feature_maps(kernel):
    found = densities_of({"conv": kernel})
    assert [density.tap for density in found] == list(np.ndindex(3, 2))
    for density in found:
        close(density, squares(kernel[(..., *density.tap)]) / 16)
        assert (density.shape, density.n_matrices, density.divided_by) == ((12, 16), 1, 16)
    assert found.densities[1].name == "conv[0, 1]"


def test_pooled_slices(kernel):
    (found,) = densities_of({"conv": kernel}, arrangement="pooled")
    close(found, [squares(kernel[:, :, i, j]) / 16 for i in range(3) for j in range(2)])
    assert (found.name, found.tap, found.n_matrices) == ("conv", None, 6)


def test_unfolded(kernel):
    (found,) = densities_of({"conv": kernel}, arrangement="unfolded")
    close(found, squares(kernel.reshape(12, -1)) / 96)
    assert (found.shape, found.divided_by) == ((12, 96), 96)


def test_operator(kernel):
    options = {"grid": {"conv": 6}, "stride": {"*": 2}}
    (found,) = densities_of({"conv": kernel}, arrangement="operator", **options)
    close(found, cs.operator_spectra(kernel[None], 6, stride=2).eigenvalues / 64)
    assert (found.shape, found.n_matrices) == ((12, 64), 9)


def test_an_operator_needs_a_grid(kernel):
    found = densities_of({"conv": kernel, "fc": kernel[:, :, 0, 0]}, arrangement="operator", grid={"other*": 4})
    assert [density.name for density in found] == ["fc"]
    assert "No grid" in found.skipped[0].reason


@pytest.mark.parametrize("arrangement", ["slices", "pooled", "unfolded", "operator"])
def test_linear_layers_are_one_matrix_whatever_the_arrangement(rng, arrangement):
    matrix = rng.normal(size=(30, 20))
    (found,) = densities_of({"fc": matrix}, arrangement=arrangement, grid=4 if arrangement == "operator" else None)
    close(found, squares(matrix) / 30)


@pytest.mark.parametrize("arrangement", ["slices", "pooled", "unfolded"])
def test_groups_make_a_matrix_block_diagonal(rng, arrangement):
    """The spectrum of the matrix with the blocks on its diagonal, zeros that the blocks' shapes imply left out."""
    from scipy.linalg import block_diag

    kernel = rng.normal(size=(12, 5, 3))
    layers = cs.find_layers(read_checkpoint({"conv": kernel}), groups={"conv": 3})
    found = spectral_densities(layers, cs.DensityOptions(arrangement=arrangement, divide_by="nothing"))
    blocks = [kernel[4 * g : 4 * g + 4] for g in range(3)]
    whole = [squares(block_diag(*(block[:, :, t] for block in blocks))) for t in range(3)]
    if arrangement == "unfolded":
        whole = [squares(block_diag(*(block.reshape(4, -1) for block in blocks)))]
    if arrangement == "pooled":
        whole = [np.concatenate(whole)]
    for density, expected in zip(found, whole, strict=True):
        close(density, expected[expected > 1e-20])


@given(seed=seeds)
def test_scale_and_divisor(seed):
    kernel = np.random.default_rng(seed).normal(size=(12, 16, 3, 2))
    plain = densities_of({"conv": kernel}, divide_by="nothing")
    for density, by_n, tool in zip(
        plain,
        densities_of({"conv": kernel}),
        densities_of({"conv": kernel}, divide_by="nothing", scale="weightwatcher"),
        strict=True,
    ):
        np.testing.assert_allclose(by_n.eigenvalues, density.eigenvalues / 16, rtol=1e-15)
        np.testing.assert_allclose(tool.eigenvalues, density.eigenvalues * 3, rtol=1e-14)  # 3 × 2 taps
        assert (density.divided_by, by_n.divided_by) == (1, 16)


def test_what_is_not_analysed_is_listed(rng):
    kernel = rng.normal(size=(12, 16, 2))
    kernel[:, :, 1] = 0
    arrays = {
        "first": rng.normal(size=(16, 3, 3, 3)),
        "depthwise": rng.normal(size=(16, 1, 3, 3)),
        "zero": np.zeros((12, 12)),
        "diverged": np.full((12, 12), np.nan),
        "partly": kernel,
        "large": rng.normal(size=(40, 50)),
        "bias": np.ones(12),
    }
    found = densities_of(arrays, maximum=30)
    assert [density.name for density in found] == ["partly[0]"]
    reasons = {skipped.name: skipped.reason for skipped in found.skipped}
    assert "16 × 3: 3 eigenvalue(s), fewer than the minimum of 10" in reasons["first"]
    assert "16 × 1: no matrix but a vector" in reasons["depthwise"]
    assert reasons["zero"] == "All weights are zero."
    assert reasons["diverged"] == "144 weights are NaN or infinite."
    assert reasons["partly[1]"] == "All weights of this slice are zero."
    assert "longer than the maximum of 30" in reasons["large"]
    assert set(reasons) == {*arrays, "partly[1]"} - {"partly"}
    pooled = densities_of(arrays, arrangement="pooled", maximum=30)
    assert [density.name for density in pooled] == ["partly"]
    assert pooled.densities[0].n_zeros == 12


def test_eigenvalues_cannot_be_changed(kernel):
    (found,) = densities_of({"conv": kernel}, arrangement="pooled")
    assert len(found.eigenvalues) == 72
    with pytest.raises(ValueError, match="read-only"):
        found.eigenvalues[0] = 1


def test_nulls_are_of_the_layer(kernel):
    for null in ("shuffled", "gaussian"):
        (found,) = densities_of({"conv": kernel}, arrangement="unfolded", null=null, seed=5, draw=2)
        weights = cs.null_weights(kernel, null, seed=5, name="conv", draw=2)
        close(found, squares(weights.reshape(12, -1)) / 96)


def test_the_order_in_memory_does_not_change_a_null(kernel):
    """Channels last or first, the same layer has the same null."""
    last = cs.find_layers(read_checkpoint({"conv": kernel.transpose(2, 3, 1, 0).copy()}), layout="channels-last")
    options = cs.DensityOptions("unfolded", null="shuffled")
    (a,), (b,) = (
        densities_of({"conv": kernel}, arrangement="unfolded", null="shuffled"),
        spectral_densities(last, options),
    )
    np.testing.assert_array_equal(a.eigenvalues, b.eigenvalues)


test_options_that_cannot_be = refused(
    lambda options: cs.DensityOptions(**options),
    ({"arrangement": "slice"}, ["arrangement", "Did you mean 'slices'"]),
    ({"divide_by": "N"}, ["divide_by", "'larger side'"]),
    ({"null": "shuffle"}, ["null", "Did you mean 'shuffled'"]),
    ({"scale": "double"}, ["scale: found 'double'", "weightwatcher"]),
    ({"scale": "weightwatcher", "arrangement": "unfolded"}, ["found 'weightwatcher'", "'slices' or 'pooled'"]),
    ({"scale": -1.0}, ["scale: found -1.0", "weightwatcher"]),
    ({"arrangement": "operator"}, ["grid: found None", "expected one for 'operator' only"]),
    ({"grid": 8}, ["grid: found 8", "'pooled'"]),
    ({"arrangement": "operator", "grid": {"*": -4}}, ["grid: found -4"]),
    ({"seed": -1}, ["seed: found -1"]),
    ({"draw": 0.5}, ["draw: found 0.5"]),
    ({"minimum": 0}, ["minimum: found 0"]),
)


def layer_of(shape, **options):
    (layer,) = cs.find_layers(read_checkpoint({"w": np.ones(shape)}), **options).layers
    return layer


def test_exactly_as_many_eigenvalues_as_the_minimum_are_enough():
    assert unfit_reason(layer_of((10, 16)), cs.DensityOptions(minimum=10)) == ""
    assert unfit_reason(layer_of((9, 16)), cs.DensityOptions(minimum=10)).startswith("9 × 16: 9 eigenvalue(s)")


@pytest.mark.parametrize(("shape", "groups", "number"), [((64, 3, 7, 7), 1, 3), ((64, 9, 3), 1, 9), ((64, 2, 3), 4, 8)])
def test_pooled_slices_are_not_counted_together(shape, groups, number):
    """The minimum is of a matrix, which groups make block-diagonal: 49 taps of three inputs are no 147 ranks."""
    layer = layer_of(shape, groups={"w": groups})
    for arrangement in ("slices", "pooled"):
        reason = unfit_reason(layer, cs.DensityOptions(arrangement, minimum=number + 1))
        assert f"{number} eigenvalue(s)" in reason and f"the minimum of {number + 1}" in reason
        assert unfit_reason(layer, cs.DensityOptions(arrangement, minimum=number)) == ""
    assert unfit_reason(layer, cs.DensityOptions("operator", grid=16, minimum=16 * number)) == ""


@pytest.mark.parametrize(
    ("shape", "options", "unfolded"),
    [
        ((64, 1, 7, 7), {}, "64 × 49"),  # ConvNeXt's, depthwise
        ((1024, 1, 512, 1), {}, "1024 × 512"),  # CREPE's first, of one input channel
        ((64, 1, 9), {}, "64 × 9"),
        ((7, 7, 1, 64), {"layout": "channels-last"}, "64 × 49"),
        ((64, 1, 7, 7), {"groups": {"w": 64}}, ""),
        ((64, 2, 7, 7), {"groups": {"w": 64}}, ""),
        ((64, 1, 7, 7), {"groups": {"w": 64}, "transposed": ["w"]}, ""),
        ((1, 64, 9), {}, ""),
        ((64, 1, 1, 1), {}, ""),
        ((64, 1), {}, ""),
        ((1, 64), {}, ""),
        ((5, 1, 64), {"kinds": {"w": "stack"}}, ""),
    ],
)
def test_a_vector_at_each_tap_is_no_matrix(rng, shape, options, unfolded):
    """The eigenvalue of a vector is its squared norm: no spectrum, however many taps are pooled."""
    checkpoint = read_checkpoint({"w": rng.normal(size=shape)})
    for arrangement in ("slices", "pooled"):
        report = cs.analyse_spectra(checkpoint, cs.SpectraOptions(cs.DensityOptions(arrangement, minimum=1), **options))
        assert not report.spectra and set(report.failures) == {"w"}
        assert ": no matrix but a vector, whose one eigenvalue is its squared norm." in report.failures["w"]
        assert report.failures["w"].endswith(f"unfolded it is {unfolded}." if unfolded else "squared norm.")
    whole = cs.analyse_spectra(checkpoint, cs.SpectraOptions(cs.DensityOptions("unfolded", minimum=1), **options))
    assert [f"{row.rows} × {row.columns}" for row in whole.spectra] == [unfolded] * bool(unfolded)


def test_a_depthwise_operator_is_one_filter_for_each_channel(rng):
    """Told its groups, the map is diagonal in channels and frequencies, and has singular values."""
    kernel = rng.normal(size=(12, 1, 5))
    options = cs.SpectraOptions(cs.DensityOptions("operator", grid=32, divide_by="nothing"), groups={"w": 12})
    report = cs.analyse_spectra({"w": kernel}, options)
    expected = np.abs(np.fft.fft(kernel[:, 0], 32)) ** 2
    np.testing.assert_allclose(report.densities[0].eigenvalues, np.sort(expected.ravel())[::-1], rtol=1e-10)
