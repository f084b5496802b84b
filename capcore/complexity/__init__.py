"""Effective complexity of trained networks: measures of what a network does, not of what it could do (slides, note).

A network is a list of weights and biases, or any object with ``coefs_`` and ``intercepts_``
(:mod:`capcore.complexity.network`).
"""

from capcore.complexity.boundaries import (
    BoundaryDensity,
    boundary_density,
    crofton_factor,
    expected_boundary_density,
)
from capcore.complexity.curves import Curves, circle_through, ellipse, polyline, segments
from capcore.complexity.data_rank_bound import DataRankBound, rank_bound_on_data, without_common_shift
from capcore.complexity.effective import ModelComplexity, complexity_of_errors, model_complexity
from capcore.complexity.fisher_norm import closed_form_fisher_rao, fisher_rao
from capcore.complexity.input_jacobian import sensitivity
from capcore.complexity.network import Network, as_network, random_network
from capcore.complexity.orbits import closed_under_exchange, orbit_ceiling, orbit_indices
from capcore.complexity.parameter_rank import ParameterRank, parameter_jacobian, parameter_rank, rank_bound
from capcore.complexity.regions import CurveRegions, curve_regions
from capcore.complexity.samples import subsets
from capcore.complexity.set_networks import SetNetwork
from capcore.complexity.slices import SlicePartition, partition_slice
from capcore.complexity.trace import Trace, trace_curves
from capcore.complexity.training import TrainingRun, train
from capcore.complexity.trajectories import (
    expected_length_gain,
    layer_lengths,
    layer_transitions,
    spherical_lengths,
)

__all__ = [
    "BoundaryDensity",
    "CurveRegions",
    "Curves",
    "DataRankBound",
    "ModelComplexity",
    "Network",
    "ParameterRank",
    "SetNetwork",
    "SlicePartition",
    "Trace",
    "TrainingRun",
    "as_network",
    "boundary_density",
    "circle_through",
    "closed_form_fisher_rao",
    "closed_under_exchange",
    "complexity_of_errors",
    "crofton_factor",
    "curve_regions",
    "ellipse",
    "expected_boundary_density",
    "expected_length_gain",
    "fisher_rao",
    "layer_lengths",
    "layer_transitions",
    "model_complexity",
    "orbit_ceiling",
    "orbit_indices",
    "parameter_jacobian",
    "parameter_rank",
    "partition_slice",
    "polyline",
    "random_network",
    "rank_bound",
    "rank_bound_on_data",
    "segments",
    "sensitivity",
    "spherical_lengths",
    "subsets",
    "trace_curves",
    "train",
    "without_common_shift",
]
