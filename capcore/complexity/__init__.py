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
from capcore.complexity.network import Network, as_network, random_network
from capcore.complexity.regions import CurveRegions, curve_regions
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
    "Network",
    "SlicePartition",
    "Trace",
    "TrainingRun",
    "as_network",
    "boundary_density",
    "circle_through",
    "crofton_factor",
    "curve_regions",
    "ellipse",
    "expected_boundary_density",
    "expected_length_gain",
    "layer_lengths",
    "layer_transitions",
    "partition_slice",
    "polyline",
    "random_network",
    "segments",
    "spherical_lengths",
    "trace_curves",
    "train",
]
