"""Weight spectra: from a checkpoint to spectral densities, their nulls, and what can be fitted to them (paper 3).

A file of weights is read without executing anything that it holds (:mod:`capcore.spectra.checkpoints`). Its tensors
are told apart (:mod:`capcore.spectra.layers`) and turned into matrices (:mod:`capcore.spectra.matrices`). The
eigenvalues of X = WᵀW/N, Eq. 2, come with the options they were computed with (:mod:`capcore.spectra.densities`), and
the bulk that noise would leave is fitted to them (:mod:`capcore.spectra.bulk`). Whatever could not be analysed is
listed with the reason.
"""

from capcore.spectra.bulk import BulkFit, fit_bulk
from capcore.spectra.checkpoints import Folder, read_checkpoint, read_folder
from capcore.spectra.densities import Densities, Density, layer_densities, spectral_densities
from capcore.spectra.eigenvalues import GramSpectra, gram_spectra
from capcore.spectra.layers import Layer, Layers, Skipped, find_layers
from capcore.spectra.marchenko_pastur import bulk_density, bulk_distribution, bulk_edges, bulk_quantiles
from capcore.spectra.matrices import slices, unfolded
from capcore.spectra.nulls import layer_generator, null_weights
from capcore.spectra.operator import operator_spectra
from capcore.spectra.options import DensityOptions
from capcore.spectra.tensors import Checkpoint, CheckpointError, Tensor

__all__ = [
    "BulkFit",
    "Checkpoint",
    "CheckpointError",
    "Densities",
    "Density",
    "DensityOptions",
    "Folder",
    "GramSpectra",
    "Layer",
    "Layers",
    "Skipped",
    "Tensor",
    "bulk_density",
    "bulk_distribution",
    "bulk_edges",
    "bulk_quantiles",
    "find_layers",
    "fit_bulk",
    "gram_spectra",
    "layer_densities",
    "layer_generator",
    "null_weights",
    "operator_spectra",
    "read_checkpoint",
    "read_folder",
    "slices",
    "spectral_densities",
    "unfolded",
]
