"""Every public name of capcore.processes, and where it is defined: read by type checkers, and by the lazy loader."""

from .base import DENSE_LIMIT as DENSE_LIMIT
from .base import Process as Process
from .base import WithNugget as WithNugget
from .base import check_positive_definite as check_positive_definite
from .families import AR1 as AR1
from .families import FAMILIES as FAMILIES
from .families import REGISTRY as REGISTRY
from .families import DampedCosine as DampedCosine
from .families import FractionalGaussianNoise as FractionalGaussianNoise
from .families import PowerLaw as PowerLaw
from .families import RationalQuadratic as RationalQuadratic
from .families import make_process as make_process
from .given import AutoRegressive as AutoRegressive
from .given import FromAutocovariance as FromAutocovariance
from .kernels import FromKernel as FromKernel
