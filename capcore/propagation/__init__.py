"""Capacity propagation through deep networks: layers, their lattice limit, and the equations of paper 2.

Capacity is a probability-like mass that flows from the output to the input. A layer is a Markov kernel on positions
(:mod:`capcore.propagation.layers`), a network their product (:mod:`capcore.propagation.discrete`,
:mod:`capcore.propagation.power`), and many residual layers tend to exp(tΔ) and, after enough spreading, to the heat
equation (:mod:`capcore.propagation.evolution`). What must scale how for such a limit to exist is derived in
:mod:`capcore.propagation.scaling`.
"""

from capcore.propagation.boundaries import BOUNDARIES
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.discrete import Propagation, propagate
from capcore.propagation.evolution import Evolution, Segment, evolve
from capcore.propagation.generator import LimitCoefficients, lumped, normalised_rates, rates_of, residual
from capcore.propagation.grid import NoSymbolError
from capcore.propagation.laws import (
    dilated_diffusion,
    forgetting,
    heat_kernel,
    nearest_neighbour_law,
    source_kernel,
)
from capcore.propagation.layers import Layer
from capcore.propagation.matrix import MatrixTransport, NotStochasticError
from capcore.propagation.moments import Displacement, displacement
from capcore.propagation.power import propagate_equal
from capcore.propagation.random_signs import ChiSquare, mean_chi_square, signed_operator, squared_gradients
from capcore.propagation.scaling import ScalingRelation, ScalingTable, scaling_relations

__all__ = [
    "BOUNDARIES",
    "ChiSquare",
    "ConvolutionTransport",
    "Displacement",
    "Evolution",
    "Layer",
    "LimitCoefficients",
    "MatrixTransport",
    "NoSymbolError",
    "NotStochasticError",
    "Propagation",
    "ScalingRelation",
    "ScalingTable",
    "Segment",
    "dilated_diffusion",
    "displacement",
    "evolve",
    "forgetting",
    "heat_kernel",
    "lumped",
    "mean_chi_square",
    "nearest_neighbour_law",
    "normalised_rates",
    "propagate",
    "propagate_equal",
    "rates_of",
    "residual",
    "scaling_relations",
    "signed_operator",
    "source_kernel",
    "squared_gradients",
]
