"""Checkpoints: the tensors of a trained network by name, from a file, a folder, or arrays in memory.

Work flows in one direction. :mod:`capcore.checkpoints.opening` lists the files and opens each with the reader of its
format: :mod:`~capcore.checkpoints.safetensors`, :mod:`~capcore.checkpoints.numpy_files` (npz and npy),
:mod:`~capcore.checkpoints.torch_files`, :mod:`~capcore.checkpoints.onnx`, :mod:`~capcore.checkpoints.gguf`. A reader
lists tensors (:mod:`capcore.checkpoints.tensors`) and reads their bytes only on request
(:mod:`capcore.checkpoints.files`). Next, quantised weights are converted to numbers
(:mod:`capcore.checkpoints.quantised`), weights stored as the factors they are computed from are put together, and
second copies are set aside (:mod:`capcore.checkpoints.parametrised`). :mod:`capcore.checkpoints.differences` gives the
weights as they are used: with an adapter, or minus a base. :mod:`capcore.checkpoints.foreign` lists the forms that are
refused by name.

No file can execute code: only PyTorch's weights-only loader reads pickles, and all other parsers check the header
against the actual file. This package does not depend on :mod:`capcore.spectra`.
"""

from capcore.checks.names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
