"""Designs: which model of a given size predicts a process best, and how far from the best any stack of that size is.

Two bounds of stacks stand beside the losses that were found: a fitted one from the bond table
(:mod:`~capcore.designs.bonds`), close, and exact where two-layer fits are global, and one that is proven, below it.
Both are for stacks without overlap or skip connections whose kernels multiply to the number of inputs.
"""
