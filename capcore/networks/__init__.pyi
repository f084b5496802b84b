"""Every public name of capcore.networks, and where it is defined: read by type checkers, and by the lazy loader."""

from .allocation import allocate_network as allocate_network
from .decoupled_decay import decoupled_decay as decoupled_decay
from .leave_one_out import LeaveOneOut as LeaveOneOut
from .losses import huber as huber
from .losses import quantile as quantile
from .modules import from_torch as from_torch
from .polish import Polished as Polished
from .polish import polish as polish
from .results import Capacities as Capacities
from .results import NetworkAllocation as NetworkAllocation
from .results import NetworkLayer as NetworkLayer
from .subspaces import Functions as Functions
from .subspaces import frequencies as frequencies
from .subspaces import inputs as inputs
from .subspaces import patches as patches
from .subspaces import positions as positions
