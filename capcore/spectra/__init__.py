"""Weight spectra: from a checkpoint to spectral densities, their nulls, and what can be fitted to them (paper 3).

A file of weights is read without executing anything that it holds (:mod:`capcore.checkpoints.opening`). Its tensors
are told apart and turned into matrices (:mod:`capcore.spectra.layers`). The eigenvalues of X = WᵀW/N, Eq. 2, come with
the options they were computed with (:mod:`capcore.spectra.densities`). The bulk that noise would leave is fitted to
them (:mod:`capcore.spectra.noise`), and a power law, Eq. 1, to their upper end (:mod:`capcore.spectra.power_law`), with
intervals (:mod:`capcore.spectra.inference`) and against other laws (:mod:`capcore.spectra.alternatives`). Metrics of a
spectrum and of a network follow, Eqs 3, 5 and 6 (:mod:`capcore.spectra.metrics`, :mod:`capcore.spectra.models`).

All of it at once, for every layer of a file and with every choice recorded:
:func:`~capcore.spectra.analysis.analyse_spectra`, or ``capcore spectra FILE`` in a shell. Whatever could not be
analysed is listed with the reason.
"""

import lazy_loader

from capcore.moved import keep_earlier_paths

keep_earlier_paths(__name__)
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
