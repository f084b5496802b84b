"""Notebooks run with other parameters: ``python -m chapters rerun`` runs one, ``python -m chapters sweep`` a grid.

What can be set: ``declared`` reads a notebook's parameters, ``choosing`` checks what is given, ``grid`` reads a grid.
What is run: ``target`` and ``job``. Where it is done: ``engine`` gives jobs out, ``runs`` has each done in a process
of its own, which ``forking`` starts. What it gave: ``outcome`` reads it from the outputs, ``store`` keeps it.
"""
