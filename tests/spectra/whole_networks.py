"""Densities of all layers of a network, without what :func:`~capcore.spectra.analysis.analyse_spectra` fits to them."""

from capcore.spectra.densities import Densities, layer_densities
from capcore.spectra.layers import Layers, find_layers
from capcore.spectra.options import DensityOptions


def spectral_densities(source, options=None):
    """Of a checkpoint, or of layers that were found in one; tensors that are no layers are skipped."""
    layers = source if isinstance(source, Layers) else find_layers(source)
    parts = [layer_densities(layer, options or DensityOptions()) for layer in layers.layers]
    found = tuple(density for part in parts for density in part.densities)
    return Densities(found, layers.skipped + tuple(skipped for part in parts for skipped in part.skipped))
