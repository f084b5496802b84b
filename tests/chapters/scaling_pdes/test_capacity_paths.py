"""Capacity paths: what can be reached from both ends is what a list of all paths covers, and they carry it all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, Layer, MatrixTransport, propagate
from chapters.scaling_pdes import paths as study


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
