"""Checkpoints: the tensors of a trained network by name, from a file of any format, a folder, or arrays in memory.

The path goes one way. :mod:`capcore.checkpoints.opening` lists what is there, and opens each file by the reader of its
format: :mod:`~capcore.checkpoints.safetensors`, :mod:`~capcore.checkpoints.archives` (npz and npy),
:mod:`~capcore.checkpoints.torch_files`, :mod:`~capcore.checkpoints.onnx`, :mod:`~capcore.checkpoints.gguf`. A reader
lists tensors (:mod:`capcore.checkpoints.tensors`), whose bytes are read when they are asked for
(:mod:`capcore.checkpoints.files`). Then quantised forms become numbers (:mod:`capcore.checkpoints.quantised`), and what
is computed from parameters, or is the same twice, is told from what is a weight
(:mod:`capcore.checkpoints.parametrised`, :mod:`capcore.checkpoints.adapters`).

No file can execute code: pickles are read by PyTorch's weights-only loader or not at all, everything else by parsers
that check what a file says against what it is. Nothing here knows of spectra.
"""
