"""Capacity allocation analysis of neural networks.

    import capcore as cc

    process = cc.PowerLaw(exponent=0.5)
    arch = cc.Hierarchical(channels=4, n_layers=6)
    fit = cc.fit(arch, process)
    alloc = cc.allocate(arch, fit.params, process)

Every name below is imported on first use, so that ``import capcore`` itself loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capcore.allocation import CapacityAllocation, CapacityWarning, LayerAllocation, allocate
    from capcore.architectures import Architecture, Frozen, Function, Hierarchical, Linear, Recurrent
    from capcore.constraints import ConstraintSpace, chain, join
    from capcore.feature_process import FeatureProcess
    from capcore.features import Fourier, Hermite, Monomials, PiecewiseLinear, make_features
    from capcore.multivariate import Independent, Mixed
    from capcore.octaves.capacity import octave_capacities
    from capcore.octaves.fit import fit_octaves
    from capcore.octaves.quadrature import exponential_sequence
    from capcore.optimum import FitResult, Problem, fit
    from capcore.own_model import allocate_function, linearised_jax, linearised_torch
    from capcore.processes import (
        AR1,
        AutoRegressive,
        DampedCosine,
        FractionalGaussianNoise,
        FromAutocovariance,
        PowerLaw,
        Process,
        RationalQuadratic,
        WithNugget,
        make_process,
    )
    from capcore.propagation import (
        ConvolutionTransport,
        Layer,
        MatrixTransport,
        evolve,
        propagate,
        propagate_equal,
        scaling_relations,
    )
    from capcore.redundancy import (
        is_redundant,
        marginal_rank,
        maximal_redundant_set,
        minimal_layer_sets,
        redundant_layer_sets,
    )
    from capcore.riemannian.fit import LargeFit, fit_large
    from capcore.scale.allocation import LargeAllocation, allocate_large
    from capcore.sketch import CapacityEstimate, estimate_capacity
    from capcore.spectra import analyse_spectra, compare_spectra, fit_power_law, read_checkpoint
    from capcore.tangent_space import TangentSpace
    from capcore.time_series import estimate_process, load_series

_HOME = {
    "Process": "processes",
    "PowerLaw": "processes",
    "FractionalGaussianNoise": "processes",
    "AR1": "processes",
    "DampedCosine": "processes",
    "RationalQuadratic": "processes",
    "FromAutocovariance": "processes",
    "AutoRegressive": "processes",
    "WithNugget": "processes",
    "make_process": "processes",
    "Independent": "multivariate",
    "Mixed": "multivariate",
    "FeatureProcess": "feature_process",
    "Hermite": "features",
    "Monomials": "features",
    "Fourier": "features",
    "PiecewiseLinear": "features",
    "make_features": "features",
    "Architecture": "architectures",
    "Hierarchical": "architectures",
    "Linear": "architectures",
    "Recurrent": "architectures",
    "Frozen": "architectures",
    "Function": "architectures",
    "Problem": "optimum",
    "FitResult": "optimum",
    "fit": "optimum",
    "ConstraintSpace": "constraints",
    "join": "constraints",
    "chain": "constraints",
    "CapacityAllocation": "allocation",
    "LayerAllocation": "allocation",
    "CapacityWarning": "allocation",
    "allocate": "allocation",
    "allocate_large": "scale.allocation",
    "LargeAllocation": "scale.allocation",
    "fit_large": "riemannian.fit",
    "LargeFit": "riemannian.fit",
    "octave_capacities": "octaves.capacity",
    "fit_octaves": "octaves.fit",
    "exponential_sequence": "octaves.quadrature",
    "estimate_capacity": "sketch",
    "CapacityEstimate": "sketch",
    "TangentSpace": "tangent_space",
    "ConvolutionTransport": "propagation",
    "MatrixTransport": "propagation",
    "Layer": "propagation",
    "propagate": "propagation",
    "propagate_equal": "propagation",
    "evolve": "propagation",
    "scaling_relations": "propagation",
    "read_checkpoint": "spectra",
    "analyse_spectra": "spectra",
    "compare_spectra": "spectra",
    "fit_power_law": "spectra",
    "allocate_function": "own_model",
    "linearised_jax": "own_model",
    "linearised_torch": "own_model",
    "estimate_process": "time_series",
    "load_series": "time_series",
    "is_redundant": "redundancy",
    "marginal_rank": "redundancy",
    "maximal_redundant_set": "redundancy",
    "minimal_layer_sets": "redundancy",
    "redundant_layer_sets": "redundancy",
}
"""Public name → the module that defines it."""

_SUBMODULES = {
    "allocation",
    "architectures",
    "complexity",
    "constraints",
    "feature_process",
    "features",
    "finite_field",
    "fourier",
    "generic",
    "hermite",
    "multivariate",
    "octaves",
    "optimum",
    "own_model",
    "plotting",
    "processes",
    "propagation",
    "redundancy",
    "riemannian",
    "scale",
    "sketch",
    "spectra",
    "tangent_space",
    "tensor_train",
    "time_series",
    "toeplitz",
    "variable_projection",
}

__all__ = [
    "AR1",
    "Architecture",
    "AutoRegressive",
    "CapacityAllocation",
    "CapacityEstimate",
    "CapacityWarning",
    "ConstraintSpace",
    "ConvolutionTransport",
    "DampedCosine",
    "FeatureProcess",
    "FitResult",
    "Fourier",
    "FractionalGaussianNoise",
    "FromAutocovariance",
    "Frozen",
    "Function",
    "Hermite",
    "Hierarchical",
    "Independent",
    "LargeAllocation",
    "LargeFit",
    "Layer",
    "LayerAllocation",
    "Linear",
    "MatrixTransport",
    "Mixed",
    "Monomials",
    "PiecewiseLinear",
    "PowerLaw",
    "Problem",
    "Process",
    "RationalQuadratic",
    "Recurrent",
    "TangentSpace",
    "WithNugget",
    "allocate",
    "allocate_function",
    "allocate_large",
    "analyse_spectra",
    "chain",
    "compare_spectra",
    "estimate_capacity",
    "estimate_process",
    "evolve",
    "exponential_sequence",
    "fit",
    "fit_large",
    "fit_octaves",
    "fit_power_law",
    "is_redundant",
    "join",
    "linearised_jax",
    "linearised_torch",
    "load_series",
    "make_features",
    "make_process",
    "marginal_rank",
    "maximal_redundant_set",
    "minimal_layer_sets",
    "octave_capacities",
    "propagate",
    "propagate_equal",
    "read_checkpoint",
    "redundant_layer_sets",
    "scaling_relations",
]


def __getattr__(name: str) -> object:
    """The public name or submodule, imported on first use (PEP 562)."""
    if name in _HOME:
        value = getattr(import_module(f"capcore.{_HOME[name]}"), name)
    elif name in _SUBMODULES:
        value = import_module(f"capcore.{name}")
    else:
        raise AttributeError(f"module 'capcore' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_SUBMODULES})
