"""Capacity propagation through deep networks: layers, their lattice limit, and the equations of paper 2.

Capacity is a probability-like mass that flows from the output to the input. A layer is a Markov kernel on positions
(:mod:`capcore.propagation.layers`), a network their product (:mod:`capcore.propagation.discrete`,
:mod:`capcore.propagation.fourier`), and many residual layers tend to exp(tΔ) and, after enough spreading, to the heat
equation (:mod:`capcore.propagation.evolution`).
"""

from capcore.checks.names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
