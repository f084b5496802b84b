"""Every public name of capcore.architectures, and where it is defined: read by type checkers and the lazy loader."""

from .base import Architecture as Architecture
from .frozen import Frozen as Frozen
from .function import Function as Function
from .hierarchical import Hierarchical as Hierarchical
from .linear import Linear as Linear
from .recurrent import Recurrent as Recurrent
from .taps import AutoRegressiveTaps as AutoRegressiveTaps
from .taps import LogTaps as LogTaps
from .taps import NearAndPools as NearAndPools
