"""The parts of :mod:`capcore.checkpoints` that :mod:`capcore.spectra` offers under the same names."""

from capcore.checkpoints.arrays import of_arrays as of_arrays
from capcore.checkpoints.differences import lora_products as lora_products
from capcore.checkpoints.opening import Folder as Folder
from capcore.checkpoints.opening import read_checkpoint as read_checkpoint
from capcore.checkpoints.opening import read_folder as read_folder
from capcore.checkpoints.tensors import Checkpoint as Checkpoint
from capcore.checkpoints.tensors import CheckpointError as CheckpointError
from capcore.checkpoints.tensors import Tensor as Tensor
