"""Networks on a plane, as a page gets them: the polygons fill the square once, and are those of the whole network."""

import numpy as np
import pytest
from matplotlib.path import Path

from chapters.kit.stored import path_of, stored
from chapters.linear_regions import experiment, plane
from chapters.shared.complexity import random_network

pytest.importorskip("jax")  # capcore.deep, which holds the digits, asks for the extra
LAST = len(plane.SETTINGS["epochs"]) - 1


@pytest.fixture(scope="module")
def values():
    return stored("plane_networks")["values"]


def test_on_the_plane_it_is_the_network(rng):
    network = random_network([5, 7, 6, 3], rng, bias_scale=0.3)
    directions, places = rng.normal(size=(3, 5)), rng.normal(size=(20, 2))
    found = plane.on_plane(network, directions)(places)
    np.testing.assert_allclose(found, network(directions[0] + places @ directions[1:]), atol=1e-12)


def test_packing_rounds_by_half_a_step_and_once(rng):
    network = random_network([2, 7, 6, 3], rng, bias_scale=0.3)
    content = plane.packed(network)
    again = plane.unpacked(content)
    assert plane.packed(again) == content
    for layer, scale in enumerate(content["scales"]):
        for given, found in ((network.weights, again.weights), (network.biases, again.biases)):
            assert np.abs(given[layer] - found[layer]).max() <= 0.5001 * scale
        assert scale <= 1.0001 * max(np.abs(network.weights[layer]).max(), np.abs(network.biases[layer]).max()) / 32767


@pytest.mark.parametrize(("kind", "step"), [("right", 0), ("shuffled", LAST)])
def test_polygons_fill_the_square_once_and_are_as_many_as_stored(values, rng, kind, step):
    of_kind, half = values["kinds"][kind], values["half"]
    found = plane.cut(plane.unpacked(of_kind["networks"][step]), half)
    assert found.n_patterns == of_kind["polygons"][step]
    assert len(np.unique(found.region)) == found.n_patterns, "every polygon is a linear region of its own"
    assert found.areas.sum() == pytest.approx((2 * half) ** 2, rel=1e-9)
    points = rng.uniform(-half, half, (200, 2))
    np.testing.assert_array_equal(sum(Path(each).contains_points(points) for each in found.polygons), 1)


def test_rounded_weights_leave_the_regions_of_the_whole_network(values):
    directions, places = experiment.plane_through(experiment.three_images())
    start = experiment.start(plane.SETTINGS["seed"])
    whole = experiment.slice_of(start, directions, places, plane.SETTINGS["margin"])
    assert whole.outline.max() == pytest.approx(values["half"], rel=1e-5)
    for of_kind in values["kinds"].values():
        assert of_kind["polygons"][0] == pytest.approx(whole.n_patterns, rel=0.01)
        stored_start, now = plane.unpacked(of_kind["networks"][0]), plane.on_plane(start, directions)
        assert np.abs(stored_start(places) - now(places)).max() < 1e-3 * np.ptp(now(places))
    np.testing.assert_allclose([image[1:] for image in values["images"]], places, atol=1e-6)


def test_measures_are_those_of_the_stored_experiment(values):
    """The same start, images and batches: what differs is the number of networks trained side by side."""
    before, seed = stored("linear_regions"), plane.SETTINGS["seed"]
    for kind, of_kind in values["kinds"].items():
        for place, epoch in enumerate(before["settings"]["epochs"]):
            step = values["epochs"].index(epoch)
            for name in plane.MEASURES:
                kept = before["values"][kind][name][seed][place]
                assert of_kind[name][step] == pytest.approx(kept, rel=0.05, abs=0.02)


def test_the_page_stays_small(values):
    assert path_of("plane_networks").stat().st_size < 200_000
    assert {len(of_kind["networks"]) for of_kind in values["kinds"].values()} == {len(values["epochs"])} == {12}
