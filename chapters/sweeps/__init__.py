"""Notebooks run with other parameters: ``python -m chapters rerun`` runs one, ``python -m chapters sweep`` a grid.

What can be set: ``declared`` reads a notebook's parameters, ``choosing`` checks what is given, ``grid`` reads a grid.
What a run is: ``target``, ``identity`` (its name), ``job``. Where it is done: ``engine`` gives jobs to ``workers``, a
``runner`` supervises each, the ``nursery`` forks it, ``performing`` does it, with ``kernels`` and ``limits``. What it
found: ``outcome`` reads it from the outputs, ``store`` keeps it, ``picture`` draws it.
"""
