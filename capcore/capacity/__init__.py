"""Constraint spaces and the capacity that they allocate to inputs, frequencies and layers (paper 1, sections 3 to 5)."""
