"""Capacity per octave of lags without listing the inputs: receptive fields of 2^30 positions and beyond.

A covariance whose sequence is a few near lags plus decaying exponentials acts on a dyadic block of positions through
a small state at each edge, and the columns of the tangent space are products over the digits of the lag. Everything
that a block can show to the rest then lies in a space of a hundred dimensions or so, whatever its length, and those
spaces are nested.

- :mod:`~capcore.octaves.sequence`: autocovariances as sums of exponentials, and their action across an edge;
- :mod:`~capcore.octaves.quadrature`: long-memory processes in that form, at any length;
- :mod:`~capcore.octaves.blocks`: nested orthonormal bases of the blocks, and the tangent space in their coordinates;
- :mod:`~capcore.octaves.capacity`: capacity of every octave;
- :mod:`~capcore.octaves.predictor`: the optimal predictor as a sum of exponentials, in closed form;
- :mod:`~capcore.octaves.forms`: the quadratic problem on a tangent space;
- :mod:`~capcore.octaves.fit`: optima at any length.
"""
