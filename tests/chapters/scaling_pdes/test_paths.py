"""Paths of capacity against propagation, and integral forms against solutions by Fourier."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from capcore.propagation import (
    ConvolutionTransport,
    Layer,
    LimitCoefficients,
    MatrixTransport,
    Segment,
    evolve,
    heat_kernel,
    propagate,
    residual,
    source_kernel,
)
from chapters.scaling_pdes import paths as study
from chapters.scaling_pdes.study import neighbours, one_output, total_variation


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(study.KINDS),
    st.integers(1, 6),
    st.integers(2, 5),
    st.sampled_from([0.0, 0.2, 0.5]),
    st.data(),
)
def test_two_routes_find_the_same_edges_and_all_of_the_capacity(kind, n, depth, rate, data):
    network = study.example(kind, n, depth, rate)
    node = (data.draw(st.integers(0, depth - 1)), data.draw(st.integers(0, n - 1)))
    paths = list(study.listed_paths(network, node))
    assert study.paths_by_operator(network, node) == study.edges_of([path for path, _ in paths])
    assert sum(weight for _, weight in paths) == pytest.approx(network.capacity(node), abs=1e-14)
    assert all(path[0] == (depth, 0) and path[-1] == node for path, _ in paths)


def test_paths_by_hand():
    """Two layers under the output, three positions: the cone of the middle one, and of an end."""
    plain, skips = study.example("plain", 3, 3), study.example("skips", 3, 3)
    assert len(study.paths_by_operator(plain, (2, 1))) == 1
    assert len(study.paths_by_operator(plain, (1, 1))) == 6
    assert len(study.paths_by_operator(plain, (1, 0))) == 4
    assert len(study.paths_by_operator(skips, (1, 1))) == 7  # one of them straight from the output
    assert ((3, 0), (1, 1)) in study.paths_by_operator(skips, (1, 1))


def test_connections_across_more_than_one_layer():
    """A layer that reads the network's input as well: both ways count."""
    step = ConvolutionTransport.of_offsets({0: 0.5})
    layers = (Layer(step.scaled(2)), Layer(step, skips={0: step}), Layer(MatrixTransport(np.full((2, 1), 0.5))))
    network = study.Network(layers)
    paths = list(study.listed_paths(network, (0, 1)))
    assert [[level for level, _ in path] for path, _ in paths] == [[3, 2, 1, 0], [3, 2, 0]]
    assert study.paths_by_operator(network, (0, 1)) == study.edges_of([path for path, _ in paths])
    assert network.capacity((0, 1)) == pytest.approx(0.5)


def test_the_examples_conserve_capacity_but_for_the_padding():
    for kind in study.KINDS:
        network = study.example(kind, 5, 4)
        result = propagate([1.0], network.layers, boundary="absorbing")
        assert abs(result.imbalance) < 1e-14
        assert (result.masses["side"] > 0) == (kind == "side")
    assert len(study.example("side", 3, 3).side_nodes()) == 7
    assert study.example("plain").side_nodes() == []


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("kind: found 'skip', expected one of 'plain'", lambda: study.example("skip")),
        ("depth: found 1", lambda: study.example("plain", 3, 1)),
        ("n_positions: found 0", lambda: study.example("plain", 0)),
        (
            r"target: found layer 9, position 1, expected a layer of 1 … 5",
            lambda: study.node_of(study.example("plain"), [9, 1]),
        ),
        ("its 7 inputs", lambda: study.node_of(study.example("plain"), [2, 8])),
        ("target: found 2, expected", lambda: study.node_of(study.example("plain"), 2)),
        ("target: found 0", lambda: study.node_of(study.example("plain"), [0, 1])),
        ("level 5, position 0", lambda: study.paths_by_operator(study.example("plain"), (5, 0))),
    ],
)
def test_what_is_not_there_is_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_average_of_a_gaussian_is_a_gaussian():
    x = np.linspace(-20, 20, 9)
    start, end = (LimitCoefficients(np.array([[d]]), np.zeros(1)) for d in (3.0, 8.0))
    found = study.gaussian_average(lambda y: heat_kernel(y, 1.0, start), x, 2 * np.sqrt(5.0))
    np.testing.assert_allclose(found, heat_kernel(x, 1.0, end), atol=1e-14)


def test_the_printed_form_of_equation_4():
    """The same without the change of variables, at one position."""
    x, spread = 5.0, 2 * np.sqrt(7.0)
    printed = quad(
        lambda y: np.exp(-((x - y) ** 2) / 28) / np.sqrt(28 * np.pi) * float(study.two_regions(np.array(y))),
        -80,
        90,
        limit=400,
        points=[-24, 5, 24],
    )[0]
    assert study.gaussian_average(study.two_regions, np.array([x]), spread)[0] == pytest.approx(printed, rel=1e-9)


@pytest.mark.parametrize("strengths", [[1.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.0, 1.0]], ids=str)
def test_sources_by_quadrature_and_by_fourier(strengths):
    integral, solved = study.two_routes(np.arange(-90.0, 91.0), 4.0, strengths)
    np.testing.assert_allclose(integral, solved, atol=1e-9)


def test_time_runs_from_the_output():
    """Early sources have spread further than late ones."""
    early, late = (study.two_routes(np.arange(-90.0, 91.0), 16.0, s)[0] for s in ([1.0, 0.0], [0.0, 1.0]))
    assert early[90] < late[90]
    assert early.sum() == pytest.approx(late.sum(), rel=1e-9)


def test_a_gaussian_source_is_a_difference_of_source_kernels():
    """A Gaussian of variance 2 D s₀ is a source at one position that started s₀ earlier, without its last s₀."""
    x, d, start = np.array([0.0, 2.0, 5.0]), 4.0, 0.25
    found = study.sources_until_now(lambda y: np.exp(-(y**2) / 4) / np.sqrt(4 * np.pi), x, d, [1.0])
    expected = source_kernel(x, 1.0 + start, d) - source_kernel(x, start, d)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_leaked_density_adds_up_and_is_the_sum_over_short_times():
    x = np.arange(-50.0, 50.0, 0.25)
    found = study.leaked_density(x, 16.0, 3.0)
    assert found.sum() / 4 == pytest.approx(-np.expm1(-1.5), abs=1e-6)
    times = (np.arange(2000) + 0.5) / 2000
    flat = LimitCoefficients(np.array([[16.0]]), np.zeros(1))
    summed = np.mean([3 * t * np.exp(-1.5 * t**2) * heat_kernel(x, t, flat) for t in times], axis=0)
    np.testing.assert_allclose(found, summed, atol=1e-5)


@pytest.mark.parametrize("boundary", study.EDGES)
def test_images_are_what_layers_do_at_an_edge(boundary):
    d, distance = 16.0, 6
    x = np.arange(120)
    layers = [residual(neighbours(d), 1000)] * 1000
    found = propagate(one_output(x - distance), layers, boundary=boundary)
    assert total_variation(found.per_position, study.edge_law(x, distance, d, boundary)) < 0.004
    assert (found.masses["boundary"] > 0.1) == (boundary == "absorbing")


def test_images_solve_the_equation_with_its_boundary():
    x, d = np.arange(150), 30.0
    flat = LimitCoefficients(np.array([[d - 10]]), np.zeros(1))
    for boundary in ("absorbing", "reflecting"):
        start = study.edge_law(x, 20, 10.0, boundary)
        later = evolve(np.abs(start), [Segment(1.0, flat)], boundary).final[:, 0]
        np.testing.assert_allclose(later, study.edge_law(x, 20, d, boundary), atol=1e-9)


def test_an_unknown_edge_is_refused():
    with pytest.raises(ValueError, match="boundary: found 'periodic'"):
        study.edge_law(np.arange(3), 1, 1.0, "periodic")
