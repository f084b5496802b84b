"""Every public name of this package, and where it is defined: read by type checkers, and by the lazy loader."""

from .curves import Curves as Curves
from .curves import circle_through as circle_through
from .curves import ellipse as ellipse
from .curves import segments as segments
from .fisher_norm import closed_form_fisher_rao as closed_form_fisher_rao
from .fisher_norm import fisher_rao as fisher_rao
from .network import Network as Network
from .network import as_network as as_network
from .network import random_network as random_network
from .network import sensitivity as sensitivity
from .parameter_rank import odd_share as odd_share
from .parameter_rank import parameter_jacobian as parameter_jacobian
from .parameter_rank import tangent_space as tangent_space
from .regions import BoundaryDensity as BoundaryDensity
from .regions import CurveRegions as CurveRegions
from .regions import boundary_density as boundary_density
from .regions import crofton_factor as crofton_factor
from .regions import curve_regions as curve_regions
from .regions import regions_of as regions_of
from .sets import SetNetwork as SetNetwork
from .slices import SlicePartition as SlicePartition
from .slices import partition_slice as partition_slice
from .trace import Trace as Trace
from .trace import layer_lengths as layer_lengths
from .trace import layer_transitions as layer_transitions
from .trace import trace_curves as trace_curves
