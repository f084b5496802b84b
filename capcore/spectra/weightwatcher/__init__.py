"""What WeightWatcher 0.7.7 says about a checkpoint, number for number, so that its users can check this package.

Nothing here is a recommendation: failed layers count as α = −1, small layers are fitted by another formula than large
ones, and layers are left out without a word, as in the tool. What this package does by default, and why it differs,
is on the page on WeightWatcher. The code is our own, written to the tool's formulas; its numbers are kept as goldens
in the tests.

- :mod:`capcore.spectra.weightwatcher.tail` : the power-law fit of one layer's eigenvalues;
- :mod:`capcore.spectra.weightwatcher.details` : which tensors are layers, and their eigenvalues;
- :mod:`capcore.spectra.weightwatcher.noise` : the Marchenko–Pastur fit (``mp_fit=True``);
- :mod:`capcore.spectra.weightwatcher.details` : the table of all layers and its averages.
"""

from capcore.spectra.weightwatcher.details import (
    LayerMatrices,
    layer_matrices,
    weightwatcher_details,
    weightwatcher_summary,
)
from capcore.spectra.weightwatcher.noise import NoiseFit, fit_noise
from capcore.spectra.weightwatcher.tail import WeightWatcherFit, fit_as_weightwatcher, fits_as_weightwatcher

__all__ = [
    "LayerMatrices",
    "NoiseFit",
    "WeightWatcherFit",
    "fit_as_weightwatcher",
    "fits_as_weightwatcher",
    "fit_noise",
    "layer_matrices",
    "weightwatcher_details",
    "weightwatcher_summary",
]
