"""Capacity allocation analysis of neural networks.

    import capcore as cc

    process = cc.PowerLaw(exponent=0.5)
    arch = cc.Hierarchical(channels=4, n_layers=6)
    fit = cc.fit(arch, process)
    alloc = cc.allocate(arch, fit.params, process)

Every name below is imported on first use, so that ``import capcore`` itself loads nothing heavy.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
