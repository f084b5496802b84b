"""Designs: which model of a given size predicts a process best, and how far from the best any stack of that size is.

The search is certified. Two bounds from below stand beside the losses that were found: one from the bond table
(:mod:`~capcore.designs.bonds`), close and exact where two-layer fits are global, and one that is proven
(:mod:`~capcore.designs.proven`), below it.
"""
