"""Networks whose weights are from 1e-300 to 1e300: right, or refused, by every public function that takes them."""

import numpy as np
import pytest

import chapters.shared.complexity as cx
from chapters.along_training.ranks import rank_bound_on_data, without_common_shift
from chapters.double_descent.known import separable
from chapters.effective_complexity.tangent_networks import segment_pieces, tangent_network, uniform_tangents
from chapters.linear_regions.study import expected_boundary_density, spherical_lengths
from chapters.mimicry.students import mimic
from chapters.shared.adam import train
from chapters.shared.complexity.network import any_out_of_range, out_of_range
from chapters.trajectories.study import expected_length_gain
from tests.any_scale import ORDINARY, at_all_scales, equals, functions, right_or_refused

RNG = np.random.default_rng(21)
RELU = cx.random_network([3, 7, 6, 2], RNG, bias_scale=0.4)
TANH = cx.random_network([3, 7, 6, 2], RNG, bias_scale=0.4, activation="tanh")
HARD = cx.random_network([3, 7, 6, 2], RNG, bias_scale=0.4, activation="hard_tanh")
BARE = cx.random_network([3, 7, 6, 2], RNG)
POINTS = RNG.normal(size=(30, 3))
ENDS = RNG.normal(size=(2, 4, 3))
SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])


def every_layer(network, k):
    """All weights times 2^k, and biases as the layers below ask for: with ReLU the logits times 2^(k·layers)."""
    biases = [np.ldexp(b, (i + 1) * k) for i, b in enumerate(network.biases)]
    return cx.Network([np.ldexp(w, k) for w in network.weights], biases, network.activation)


def first_layer(network, k):
    """The weights of the lowest layer times 2^k: the same function of inputs divided by that."""
    return cx.Network([np.ldexp(network.weights[0], k), *network.weights[1:]], network.biases, network.activation)


def last_layer(network, k):
    """The logits times 2^k."""
    weights, biases = [*network.weights], [*network.biases]
    weights[-1], biases[-1] = np.ldexp(weights[-1], k), np.ldexp(biases[-1], k)
    return cx.Network(weights, biases, network.activation)


def regions(network, k=0):
    found = cx.curve_regions(network, cx.segments(*np.ldexp(ENDS, -k)))
    return np.r_[found.patterns, found.linear, found.t]


def around(network, k=0):
    found = cx.curve_regions(network, cx.ellipse(*np.ldexp(ENDS[0, :3], -k)))
    return np.r_[found.patterns, found.linear, found.t]


def parts(network, k=0):
    found = cx.partition_slice(network, *np.ldexp(POINTS[:3], -k), SQUARE)
    return np.r_[found.n_patterns, found.region.max() + 1, np.sort(found.areas)]


def ranks(network, k=0):
    found = cx.parameter_rank(network, np.ldexp(POINTS, -k))
    return np.r_[found.rank, found.per_example]


def jacobian(network, k=0):
    found = cx.parameter_jacobian(network, np.ldexp(POINTS, -k))
    found[:, :21] = np.ldexp(found[:, :21], k)  # by the weights that read the inputs
    return found


def ceilings(network, k=0):
    points = np.ldexp(POINTS, -k)
    on_data = rank_bound_on_data(network, points)
    return [on_data.total, on_data.output, cx.rank_bound(network, points)]


def course(network, k=0):
    return cx.trace_curves(network, cx.segments(*np.ldexp(ENDS, -k)))


def boundary(network, k=0):
    found = cx.boundary_density(
        network, np.ldexp(POINTS[0], -k), float(np.ldexp(1.0, -k)), 50, np.random.default_rng(0)
    )
    return np.ldexp([found.value, found.standard_error], -k)


SHRINKING = {  # function of (network, k) with inputs divided by 2^k: the same for a first layer times 2^k
    "logits": lambda net, k: net(np.ldexp(POINTS, -k)),
    "curve_regions": regions,
    "curve_regions, around": around,
    "trace_curves": lambda net, k: course(net, k).stages[-1].start,
    "layer_transitions": lambda net, k: cx.layer_transitions(course(net, k)),
    "layer_lengths": lambda net, k: cx.layer_lengths(course(net, k))[1:],
    "spherical_lengths": lambda net, k: spherical_lengths(course(net, k), 2**0.5, 0.3)[1:],
    "partition_slice": parts,
    "boundary_density": boundary,
    "parameter_rank": ranks,
    "parameter_jacobian": jacobian,
    "rank_bound_on_data, rank_bound": ceilings,
    "segment_pieces": lambda net, k: segment_pieces(uniform_tangents(net), *np.ldexp(ENDS, -k)),
    "sensitivity": lambda net, k: np.ldexp(cx.sensitivity(net, np.ldexp(POINTS, -k), "logits"), -k),
    "sensitivity, probabilities": lambda net, k: np.ldexp(cx.sensitivity(net, np.ldexp(POINTS, -k)), -k),
    "fisher_rao": lambda net, k: cx.fisher_rao(net, np.ldexp(POINTS, -k)),
}
PIECEWISE = {
    "curve_regions",
    "curve_regions, around",
    "trace_curves",
    "layer_transitions",
    "layer_lengths",
    "spherical_lengths",
    "partition_slice",
    "boundary_density",
    "segment_pieces",
}
GROWING = {  # function of a network, and the power of the logits' scale that it has; None: counted, without scale
    "logits": (lambda net: net(POINTS), 1),
    "curve_regions": (regions, 0),
    "curve_regions, around": (around, 0),
    "partition_slice": (parts, 0),
    "parameter_rank": (ranks, 0),
    "rank_bound_on_data, rank_bound": (ceilings, 0),
    "trace_curves": (lambda net: course(net).stages[-1].start, 0),
    "layer_transitions": (lambda net: cx.layer_transitions(course(net)), 0),
    "layer_lengths": (lambda net: cx.layer_lengths(course(net))[-1], 1),
    "spherical_lengths": (lambda net: spherical_lengths(course(net), 2**0.5, 0.3)[0], 0),
    "boundary_density": (boundary, 0),
    "segment_pieces": (lambda net: segment_pieces(uniform_tangents(net), *ENDS), 0),
    "sensitivity": (lambda net: cx.sensitivity(net, POINTS, "logits"), 1),
    "fisher_rao": (lambda net: cx.fisher_rao(net, POINTS, loss="squared"), 2),
    "closed_form_fisher_rao": (lambda net: cx.closed_form_fisher_rao(net, POINTS, loss="squared"), 2),
    "without_common_shift": (lambda net: without_common_shift(net)(POINTS), 1),
}
EXEMPT = {
    **dict.fromkeys(("orbit_indices",), "takes data"),
    **dict.fromkeys(("crofton_factor",), "takes counts"),
    **dict.fromkeys(("ellipse", "polyline", "segments"), "takes points, and does no arithmetic but one difference"),
}
ALONE = {  # tested below, one by one
    "as_network",
    "random_network",
    "circle_through",
}
OF_CHAPTERS = {
    "segment_pieces",
    "spherical_lengths",
    "rank_bound_on_data",
    "without_common_shift",
}  # tested here, too, as are the other functions imported from chapters


def test_every_public_function_is_here_or_exempt():
    tested = {name for key in (*SHRINKING, *GROWING) for name in key.split(", ")} - {
        "logits",
        "around",
        "probabilities",
        *OF_CHAPTERS,
    }
    assert (tested | ALONE).isdisjoint(EXEMPT)
    assert tested | ALONE | set(EXEMPT) == functions(cx)


@pytest.mark.parametrize("network", [RELU, TANH, HARD], ids=["relu", "tanh", "hard tanh"])
@pytest.mark.parametrize("name", SHRINKING)
@at_all_scales
def test_a_scale_that_the_inputs_take_back_changes_nothing(name, network, k):
    if network.activation == "tanh" and name in PIECEWISE:
        return
    measure = SHRINKING[name]
    expected = equals(measure(network, 0))
    right_or_refused(lambda: measure(first_layer(network, k), k), expected, ordinary=abs(k) <= ORDINARY)


@pytest.mark.parametrize("network", [RELU, TANH, HARD, BARE], ids=["relu", "tanh", "hard tanh", "no biases"])
@pytest.mark.parametrize("name", GROWING)
@at_all_scales
def test_logits_of_any_scale_have_the_same_regions_and_ranks(name, network, k):
    measure, power = GROWING[name]
    if (network.activation == "tanh" and name in PIECEWISE) or (
        name == "closed_form_fisher_rao" and network is not BARE
    ):
        return
    right_or_refused(
        lambda: np.ldexp(measure(last_layer(network, k)), -power * k), equals(measure(network)), abs(k) <= ORDINARY
    )


@pytest.mark.parametrize("network", [RELU, BARE], ids=["relu", "no biases"])
@pytest.mark.parametrize("name", GROWING)
@at_all_scales
def test_weights_of_any_scale_in_all_layers_have_the_same_regions_and_ranks(name, network, k):
    measure, power = GROWING[name]
    if name == "closed_form_fisher_rao" and network is RELU:
        return
    layers = len(network.weights)
    k = int(np.clip(k, -1020 // layers, 1020 // layers)) if network is RELU else k  # else biases are no numbers
    right_or_refused(
        lambda: np.ldexp(measure(every_layer(network, k)), -power * layers * k), equals(measure(network)), abs(k) <= 33
    )


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e105, 1e-300, 1e300])
def test_regions_that_products_would_lose_are_not_counted_as_one(scale):
    """Of the network without biases, whose regions are those of any positive multiple of its weights."""
    assert regions(BARE)[4:8].max() > 3
    with pytest.raises(ValueError, match=r"found products of weights near 1e[+-]\d+, expected 1e-100 to 1e100"):
        regions(cx.Network([scale * w for w in BARE.weights], BARE.biases))


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e60, 1e300])
@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
def test_the_fisher_rao_norm_is_a_number_or_refused(scale, loss):
    with pytest.raises(ValueError, match="found products of weights"):
        cx.fisher_rao(cx.Network([scale * w for w in RELU.weights], RELU.biases), POINTS, loss=loss)


def test_dead_layers_and_deep_networks_are_of_ordinary_scale():
    dead = cx.Network([np.zeros((3, 4)), np.ones((4, 1))], [np.zeros(4), np.zeros(1)])
    assert out_of_range(dead, POINTS) == "" and out_of_range(dead, np.zeros((1, 3))) == ""
    deep = cx.random_network([9] * 300 + [1], np.random.default_rng(0))
    assert out_of_range(deep, 1.0) == ""  # √2 a layer by the estimate, 1e45 in all
    assert any_out_of_range([RELU, deep]) == ""
    assert "1e+150" in any_out_of_range([RELU, last_layer(BARE, 498)])


@at_all_scales
def test_weights_are_read_and_drawn_at_any_scale(k):
    scale = float(np.ldexp(1.0, k))
    drawn = [cx.random_network([3, 4, 2], np.random.default_rng(0), s, s).weights[0] for s in (scale, 1.0)]
    equals(drawn[1])(np.ldexp(drawn[0], -k))
    pairs = list(zip(last_layer(RELU, k).weights, last_layer(RELU, k).biases, strict=True))
    equals(np.ldexp(RELU.weights[-1], k))(cx.as_network(pairs).weights[-1])
    equals(expected_length_gain(9))(np.ldexp(expected_length_gain(9, float(np.ldexp(2**0.5, k))), -k))
    angles = spherical_lengths(course(RELU), scale, 0.3 * scale)  # they depend on the ratio of the two
    equals(spherical_lengths(course(RELU), 1.0, 0.3))(angles)
    assert separable(np.ldexp(POINTS, k), np.arange(30) % 2) == separable(POINTS, np.arange(30) % 2)
    assert separable(np.ldexp(POINTS, k), POINTS[:, 0])
    assert len(uniform_tangents(last_layer(TANH, k)).pieces) == 2


@at_all_scales
def test_circles_and_densities_are_right_or_refused(k):
    right_or_refused(
        lambda: np.ldexp(cx.circle_through(*np.ldexp(POINTS[:3], k)).coefficients, -k),
        equals(cx.circle_through(*POINTS[:3]).coefficients),
        abs(k) <= ORDINARY,
    )
    bias = 0.4 * float(np.ldexp(1.0, k))  # of the lowest layer, with weights of the same scale
    one = cx.Network(RELU.weights[:2], RELU.biases[:2])
    grown = cx.Network([np.ldexp(one.weights[0], k), one.weights[1]], [np.ldexp(one.biases[0], k), one.biases[1]])
    right_or_refused(
        lambda: expected_boundary_density(grown, POINTS, bias),
        equals(expected_boundary_density(one, POINTS, 0.4)),
        abs(k) <= ORDINARY,
    )


@at_all_scales
def test_tangents_training_and_mimicry_are_right_or_refused(k):
    error = float(np.ldexp(0.1, k))
    right_or_refused(
        lambda: np.concatenate(tangent_network(last_layer(TANH, k), POINTS, error).pieces),
        equals(np.concatenate(tangent_network(TANH, POINTS, 0.1).pieces)),
        abs(k) <= ORDINARY,
    )

    def trained(network):
        run = train([network], POINTS, np.zeros(30), [np.random.default_rng(0)], n_epochs=1)
        return run.losses[0, 0], *(part.sum() for part in run.final[0].weights)

    right_or_refused(lambda: np.isfinite(trained(last_layer(RELU, k))), equals(np.ones(4)), abs(k) <= ORDINARY)
    teacher = last_layer(RELU, k)
    options = {"hidden": 3, "n_trials": 1, "n_steps": 2}
    right_or_refused(
        lambda: mimic(teacher, POINTS, POINTS[:9], np.random.default_rng(0), **options).arms["logits, pool"].agreement,
        equals(mimic(RELU, POINTS, POINTS[:9], np.random.default_rng(0), **options).arms["logits, pool"].agreement),
        abs(k) <= ORDINARY,
    )


@at_all_scales
def test_networks_on_sets_are_right_or_refused(k):
    items, rest = cx.random_network([3, 4], np.random.default_rng(0), bias_scale=0.3), RELU
    rest = cx.random_network([4, 5, 1], np.random.default_rng(1), bias_scale=0.3)
    sets = POINTS.reshape(10, 3, 3)
    right_or_refused(
        lambda: [cx.parameter_rank(cx.SetNetwork(items, last_layer(rest, k)), sets).rank],
        equals([cx.parameter_rank(cx.SetNetwork(items, rest), sets).rank]),
        abs(k) <= ORDINARY,
    )
