"""Capacity at audio length: the same numbers as the dense path, without any n × n matrix.

Nothing is re-exported here: import from the modules, such as :mod:`capcore.scale.allocation`.
"""
