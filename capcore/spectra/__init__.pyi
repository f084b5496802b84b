"""Every public name of capcore.spectra, and where it is defined: read by type checkers, and by the lazy loader."""

from .alternatives import (
    ALTERNATIVES as ALTERNATIVES,
)
from .alternatives import (
    LikelihoodRatio as LikelihoodRatio,
)
from .alternatives import (
    compare_tails as compare_tails,
)
from .analysis import analyse_spectra as analyse_spectra
from .checkpoints import Folder as Folder
from .checkpoints import read_checkpoint as read_checkpoint
from .checkpoints import read_folder as read_folder
from .densities import (
    Densities as Densities,
)
from .densities import (
    Density as Density,
)
from .densities import (
    layer_densities as layer_densities,
)
from .densities import (
    spectral_densities as spectral_densities,
)
from .eigenvalues import GramSpectra as GramSpectra
from .eigenvalues import gram_spectra as gram_spectra
from .exponents import HillTable as HillTable
from .exponents import hill_exponent as hill_exponent
from .exponents import hill_table as hill_table
from .inference import (
    BootstrapInterval as BootstrapInterval,
)
from .inference import (
    GoodnessOfFit as GoodnessOfFit,
)
from .inference import (
    bootstrap_power_law as bootstrap_power_law,
)
from .inference import (
    goodness_of_fit as goodness_of_fit,
)
from .layers import (
    Layer as Layer,
)
from .layers import (
    Layers as Layers,
)
from .layers import (
    Skipped as Skipped,
)
from .layers import (
    find_layers as find_layers,
)
from .layers import (
    slices as slices,
)
from .layers import (
    unfolded as unfolded,
)
from .metrics import (
    Norms as Norms,
)
from .metrics import (
    SpectrumMetrics as SpectrumMetrics,
)
from .metrics import (
    log_alpha_norm as log_alpha_norm,
)
from .metrics import (
    spectrum_norms as spectrum_norms,
)
from .models import ModelMetrics as ModelMetrics
from .models import model_metrics as model_metrics
from .noise import (
    BulkFit as BulkFit,
)
from .noise import (
    bulk_density as bulk_density,
)
from .noise import (
    bulk_distribution as bulk_distribution,
)
from .noise import (
    bulk_edges as bulk_edges,
)
from .noise import (
    bulk_quantiles as bulk_quantiles,
)
from .noise import (
    fit_bulk as fit_bulk,
)
from .noise import (
    layer_generator as layer_generator,
)
from .noise import (
    null_weights as null_weights,
)
from .operator import operator_spectra as operator_spectra
from .options import DensityOptions as DensityOptions
from .options import SpectraOptions as SpectraOptions
from .power_law import PowerLawFit as PowerLawFit
from .power_law import fit_power_law as fit_power_law
from .power_law import fit_power_laws as fit_power_laws
from .report import Source as Source
from .report import SpectraReport as SpectraReport
from .report import compare_spectra as compare_spectra
from .tensors import Checkpoint as Checkpoint
from .tensors import CheckpointError as CheckpointError
from .tensors import Tensor as Tensor
from .weightwatcher import (
    weightwatcher_details as weightwatcher_details,
)
from .weightwatcher import (
    weightwatcher_summary as weightwatcher_summary,
)
