"""Constraint spaces, and the capacity that they allocate to inputs, frequencies and layers (paper 1, §§3–5)."""
