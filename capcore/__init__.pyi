"""Every public name of capcore, and where it is defined: read by type checkers, and by the lazy loader."""

from . import (
    allocation as allocation,
)
from . import (
    architectures as architectures,
)
from . import (
    complexity as complexity,
)
from . import (
    constraints as constraints,
)
from . import (
    feature_process as feature_process,
)
from . import (
    features as features,
)
from . import (
    finite_field as finite_field,
)
from . import (
    fourier as fourier,
)
from . import (
    generic as generic,
)
from . import (
    hermite as hermite,
)
from . import (
    large as large,
)
from . import (
    multivariate as multivariate,
)
from . import (
    optimum as optimum,
)
from . import (
    own_model as own_model,
)
from . import (
    plotting as plotting,
)
from . import (
    processes as processes,
)
from . import (
    propagation as propagation,
)
from . import (
    redundancy as redundancy,
)
from . import (
    spectra as spectra,
)
from . import (
    tangent_space as tangent_space,
)
from . import (
    tensor_train as tensor_train,
)
from . import (
    time_series as time_series,
)
from . import (
    toeplitz as toeplitz,
)
from . import (
    variable_projection as variable_projection,
)
from .allocation import (
    CapacityAllocation as CapacityAllocation,
)
from .allocation import (
    CapacityWarning as CapacityWarning,
)
from .allocation import (
    LayerAllocation as LayerAllocation,
)
from .allocation import (
    allocate as allocate,
)
from .architectures import (
    Architecture as Architecture,
)
from .architectures import (
    Frozen as Frozen,
)
from .architectures import (
    Function as Function,
)
from .architectures import (
    Hierarchical as Hierarchical,
)
from .architectures import (
    Linear as Linear,
)
from .architectures import (
    Recurrent as Recurrent,
)
from .constraints import ConstraintSpace as ConstraintSpace
from .constraints import chain as chain
from .constraints import join as join
from .feature_process import FeatureProcess as FeatureProcess
from .features import (
    Fourier as Fourier,
)
from .features import (
    Hermite as Hermite,
)
from .features import (
    Monomials as Monomials,
)
from .features import (
    PiecewiseLinear as PiecewiseLinear,
)
from .features import (
    make_features as make_features,
)
from .large.allocation import LargeAllocation as LargeAllocation
from .large.allocation import allocate_large as allocate_large
from .large.exponentials import exponential_sequence as exponential_sequence
from .large.fit import LargeFit as LargeFit
from .large.fit import fit_large as fit_large
from .large.octave_capacity import octave_capacities as octave_capacities
from .large.octave_fit import fit_octaves as fit_octaves
from .large.sketch import CapacityEstimate as CapacityEstimate
from .large.sketch import estimate_capacity as estimate_capacity
from .multivariate import Independent as Independent
from .multivariate import Mixed as Mixed
from .optimum import FitResult as FitResult
from .optimum import Problem as Problem
from .optimum import fit as fit
from .own_model import (
    allocate_function as allocate_function,
)
from .own_model import (
    linearised_jax as linearised_jax,
)
from .own_model import (
    linearised_torch as linearised_torch,
)
from .processes import (
    AR1 as AR1,
)
from .processes import (
    AutoRegressive as AutoRegressive,
)
from .processes import (
    DampedCosine as DampedCosine,
)
from .processes import (
    FractionalGaussianNoise as FractionalGaussianNoise,
)
from .processes import (
    FromAutocovariance as FromAutocovariance,
)
from .processes import (
    PowerLaw as PowerLaw,
)
from .processes import (
    Process as Process,
)
from .processes import (
    RationalQuadratic as RationalQuadratic,
)
from .processes import (
    WithNugget as WithNugget,
)
from .processes import (
    make_process as make_process,
)
from .propagation import (
    ConvolutionTransport as ConvolutionTransport,
)
from .propagation import (
    Layer as Layer,
)
from .propagation import (
    MatrixTransport as MatrixTransport,
)
from .propagation import (
    evolve as evolve,
)
from .propagation import (
    propagate as propagate,
)
from .propagation import (
    propagate_equal as propagate_equal,
)
from .propagation import (
    scaling_relations as scaling_relations,
)
from .redundancy import (
    is_redundant as is_redundant,
)
from .redundancy import (
    marginal_rank as marginal_rank,
)
from .redundancy import (
    maximal_redundant_set as maximal_redundant_set,
)
from .redundancy import (
    minimal_layer_sets as minimal_layer_sets,
)
from .redundancy import (
    redundant_layer_sets as redundant_layer_sets,
)
from .spectra import (
    analyse_spectra as analyse_spectra,
)
from .spectra import (
    compare_spectra as compare_spectra,
)
from .spectra import (
    fit_power_law as fit_power_law,
)
from .spectra import (
    read_checkpoint as read_checkpoint,
)
from .tangent_space import TangentSpace as TangentSpace
from .time_series import estimate_process as estimate_process
from .time_series import load_series as load_series
