"""Every public name of capcore.checkpoints, and where it is defined: read by type checkers, and by the lazy loader."""

from .arrays import of_arrays as of_arrays
from .differences import lora_products as lora_products
from .opening import Folder as Folder
from .opening import read_checkpoint as read_checkpoint
from .opening import read_folder as read_folder
from .tensors import Checkpoint as Checkpoint
from .tensors import CheckpointError as CheckpointError
from .tensors import Tensor as Tensor
