"""Weight spectra: from a checkpoint to spectral densities, their nulls, and what can be fitted to them (paper 3).

A file of weights is read without executing anything that it holds (:mod:`capcore.spectra.checkpoints`). Its tensors
are told apart (:mod:`capcore.spectra.layers`) and turned into matrices (:mod:`capcore.spectra.matrices`). The
eigenvalues of X = WᵀW/N, Eq. 2, come with the options they were computed with (:mod:`capcore.spectra.densities`).
Whatever could not be analysed is listed with the reason.
"""
