"""Every public name of capcore.complexity, and where it is defined: read by type checkers, and by the lazy loader."""

from .curves import (
    Curves as Curves,
)
from .curves import (
    circle_through as circle_through,
)
from .curves import (
    ellipse as ellipse,
)
from .curves import (
    polyline as polyline,
)
from .curves import (
    segments as segments,
)
from .data_rank_bound import (
    DataRankBound as DataRankBound,
)
from .data_rank_bound import (
    rank_bound_on_data as rank_bound_on_data,
)
from .data_rank_bound import (
    without_common_shift as without_common_shift,
)
from .effective import (
    ModelComplexity as ModelComplexity,
)
from .effective import (
    complexity_of_errors as complexity_of_errors,
)
from .effective import (
    model_complexity as model_complexity,
)
from .effective import (
    subsets as subsets,
)
from .fisher_norm import closed_form_fisher_rao as closed_form_fisher_rao
from .fisher_norm import fisher_rao as fisher_rao
from .input_jacobian import sensitivity as sensitivity
from .network import Network as Network
from .network import as_network as as_network
from .network import random_network as random_network
from .parameter_rank import (
    ParameterRank as ParameterRank,
)
from .parameter_rank import (
    parameter_jacobian as parameter_jacobian,
)
from .parameter_rank import (
    parameter_rank as parameter_rank,
)
from .parameter_rank import (
    rank_bound as rank_bound,
)
from .regions import (
    BoundaryDensity as BoundaryDensity,
)
from .regions import (
    CurveRegions as CurveRegions,
)
from .regions import (
    boundary_density as boundary_density,
)
from .regions import (
    crofton_factor as crofton_factor,
)
from .regions import (
    curve_regions as curve_regions,
)
from .regions import (
    expected_boundary_density as expected_boundary_density,
)
from .sets import (
    SetNetwork as SetNetwork,
)
from .sets import (
    closed_under_exchange as closed_under_exchange,
)
from .sets import (
    orbit_ceiling as orbit_ceiling,
)
from .sets import (
    orbit_indices as orbit_indices,
)
from .slices import SlicePartition as SlicePartition
from .slices import partition_slice as partition_slice
from .trace import Trace as Trace
from .trace import trace_curves as trace_curves
from .training import TrainingRun as TrainingRun
from .training import train as train
from .trajectories import (
    expected_length_gain as expected_length_gain,
)
from .trajectories import (
    layer_lengths as layer_lengths,
)
from .trajectories import (
    layer_transitions as layer_transitions,
)
from .trajectories import (
    spherical_lengths as spherical_lengths,
)
