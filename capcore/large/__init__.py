"""What carries fits and allocations to 2^20 inputs and beyond: no n × n matrix, and at 2^30 no list of inputs.

- Newton's method on the manifold of tensor trains: :mod:`~capcore.large.fit`.
- K̃ = ΣJ in chunks, and its leverage scores: :mod:`~capcore.large.allocation`.
- Capacity per octave of lags, by nested bases of blocks: :mod:`~capcore.large.octaves.capacity`.
- Models that are no tensor trains, by products with the Jacobian: :mod:`~capcore.large.sketch`.
"""
