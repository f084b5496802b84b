"""Weight spectra: from a checkpoint to spectral densities, their nulls, and the laws fitted to them (paper 3).

To analyse every layer of a file, call :func:`~capcore.spectra.analysis.analyse_spectra`, or run
``capcore spectra FILE`` in a shell. The report records every choice and says why anything was left out.

The steps can also be used one by one. A file of weights is read without executing its contents
(:mod:`capcore.checkpoints.opening`). Its layers are found and turned into matrices (:mod:`capcore.spectra.layers`), and
the eigenvalues of X = WᵀW/N (Eq. 2) are kept with the options they were computed with
(:mod:`capcore.spectra.densities`). Two laws are fitted to them: the bulk that noise would give
(:mod:`capcore.spectra.noise`), and a power law (Eq. 1) for the upper tail (:mod:`capcore.spectra.power_law`). The power
law is given an interval (:mod:`capcore.spectra.inference`) and compared with other laws
(:mod:`capcore.spectra.alternatives`). From these follow the metrics of a spectrum and of a network, Eqs 3, 5 and 6
(:mod:`capcore.spectra.metrics`, :mod:`capcore.spectra.models`).
"""

from capcore.checks.names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
