"""Notebooks run with other parameters: one of them (``capcore rerun``), or a grid of them (``capcore sweep``).

``declared`` reads a notebook's parameters, ``choosing`` checks what is given for them, ``outcome`` reads what an
executed copy found.
"""
