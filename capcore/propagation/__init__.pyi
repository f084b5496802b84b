"""Every public name of capcore.propagation, and where it is defined: read by type checkers, and by the lazy loader."""

from .convolution import BOUNDARIES as BOUNDARIES
from .convolution import ConvolutionTransport as ConvolutionTransport
from .discrete import Propagation as Propagation
from .discrete import propagate as propagate
from .evolution import Evolution as Evolution
from .evolution import Segment as Segment
from .evolution import evolve as evolve
from .fourier import propagate_equal as propagate_equal
from .generator import Displacement as Displacement
from .generator import LimitCoefficients as LimitCoefficients
from .generator import displacement as displacement
from .generator import lumped as lumped
from .generator import residual as residual
from .laws import heat_kernel as heat_kernel
from .layers import Layer as Layer
from .matrix import MatrixTransport as MatrixTransport
from .matrix import NotStochasticError as NotStochasticError
