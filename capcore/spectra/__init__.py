"""Weight spectra: from a checkpoint to spectral densities, their nulls, and what can be fitted to them (paper 3).

A file of weights is read without executing anything that it holds (:mod:`capcore.spectra.checkpoints`). Its tensors
are told apart (:mod:`capcore.spectra.layers`) and turned into matrices (:mod:`capcore.spectra.matrices`). The
eigenvalues of X = WᵀW/N, Eq. 2, come with the options they were computed with (:mod:`capcore.spectra.densities`), and
the bulk that noise would leave is fitted to them (:mod:`capcore.spectra.bulk`), and a power law to their upper end
(:mod:`capcore.spectra.power_law`), with intervals (:mod:`capcore.spectra.inference`) and against other laws
(:mod:`capcore.spectra.alternatives`). All of it at once, for every layer of a file and with every choice recorded:
:func:`~capcore.spectra.analysis.analyse_spectra`, or ``capcore spectra FILE`` in a shell. Whatever could not be
analysed is listed with the reason. What such metrics have to do with accuracy: rank correlations with intervals, within
and across families (``family_correlation``), under every analysis choice
(``universes``), and how many networks it would take (``rank_power``).
"""

from capcore.spectra.alternatives import ALTERNATIVES, LikelihoodRatio, compare_tails
from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.analysis_options import SpectraOptions
from capcore.spectra.bulk import BulkFit, fit_bulk
from capcore.spectra.checkpoints import Folder, read_checkpoint, read_folder
from capcore.spectra.densities import Densities, Density, layer_densities, spectral_densities
from capcore.spectra.eigenvalues import GramSpectra, gram_spectra
from capcore.spectra.hill import HillTable, hill_exponent, hill_table
from capcore.spectra.inference import BootstrapInterval, GoodnessOfFit, bootstrap_power_law, goodness_of_fit
from capcore.spectra.layers import Layer, Layers, Skipped, find_layers
from capcore.spectra.marchenko_pastur import bulk_density, bulk_distribution, bulk_edges, bulk_quantiles
from capcore.spectra.matrices import slices, unfolded
from capcore.spectra.metrics import SpectrumMetrics
from capcore.spectra.models import ModelMetrics, model_metrics
from capcore.spectra.norms import Norms, log_alpha_norm, spectrum_norms
from capcore.spectra.nulls import layer_generator, null_weights
from capcore.spectra.operator import operator_spectra
from capcore.spectra.options import DensityOptions
from capcore.spectra.power_law import PowerLawFit, fit_power_law, fit_power_laws
from capcore.spectra.report import Source, SpectraReport, compare_spectra
from capcore.spectra.tensors import Checkpoint, CheckpointError, Tensor
from capcore.spectra.weightwatcher import weightwatcher_details, weightwatcher_summary

__all__ = [
    "ALTERNATIVES",
    "BootstrapInterval",
    "BulkFit",
    "Checkpoint",
    "CheckpointError",
    "Densities",
    "Density",
    "DensityOptions",
    "Folder",
    "GoodnessOfFit",
    "GramSpectra",
    "HillTable",
    "Layer",
    "Layers",
    "LikelihoodRatio",
    "ModelMetrics",
    "Norms",
    "PowerLawFit",
    "Skipped",
    "Source",
    "SpectraOptions",
    "SpectraReport",
    "SpectrumMetrics",
    "Tensor",
    "analyse_spectra",
    "bootstrap_power_law",
    "bulk_density",
    "bulk_distribution",
    "bulk_edges",
    "bulk_quantiles",
    "compare_spectra",
    "compare_tails",
    "find_layers",
    "fit_bulk",
    "fit_power_law",
    "fit_power_laws",
    "goodness_of_fit",
    "gram_spectra",
    "hill_exponent",
    "hill_table",
    "layer_densities",
    "layer_generator",
    "log_alpha_norm",
    "model_metrics",
    "null_weights",
    "operator_spectra",
    "read_checkpoint",
    "read_folder",
    "slices",
    "spectral_densities",
    "spectrum_norms",
    "unfolded",
    "weightwatcher_details",
    "weightwatcher_summary",
]
