"""Fits and capacity by octaves of lag: a tensor train of 2^30 inputs and more, without a list of its inputs.

Blocks of lags are spanned by nested bases (:mod:`~capcore.large.octaves.blocks`), as the optimal predictor is
(:mod:`~capcore.large.octaves.predictor`). Quadratic forms in them give the loss and its derivatives
(:mod:`~capcore.large.octaves.forms`), which a fit needs (:mod:`~capcore.large.octaves.fit`), and the capacity of each
octave (:mod:`~capcore.large.octaves.capacity`).
"""
