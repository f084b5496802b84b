"""Files that end in ``.bin`` like PyTorch's but were written by other programs: each gets its own reason."""

from __future__ import annotations

import re
from pathlib import Path

from capcore.checkpoints.files import File

SHARD = re.compile(r"^group\d+-shard(?P<part>\d+)of\d+(\.bin)?$")
"""Names that TensorFlow.js gives to the parts of its weights."""
LATEST, LONGEST = 1000, 100  # a version of CTranslate2's format, and letters of the name of a specification
CTRANSLATE2 = (
    "found a model of CTranslate2, whose weights are quantised and fused for its own kernels; "
    "expected tensors as a network has them. Analyse the checkpoint that it was converted from."
)
TENSORFLOW_JS = (
    "found weights of TensorFlow.js, bytes without names or shapes, which are in its model.json; expected tensors by "
    "name. Convert it to Keras (tensorflowjs_converter) and analyse the .h5 file."
)


def written_elsewhere(path: Path) -> str:
    """Why a ``.bin`` file is not one of PyTorch's, or an empty string if nothing says so."""
    if SHARD.match(path.name):
        return TENSORFLOW_JS
    file = File(path)
    head = file.read(0, min(file.size, 6 + LONGEST)).tobytes()
    version, length = int.from_bytes(head[:4], "little"), int.from_bytes(head[4:6], "little")
    name = head[6 : 6 + length]
    is_spec = 0 < version <= LATEST and 1 < length <= LONGEST and name[-1:] == b"\0" and name[:-1].isalnum()
    return CTRANSLATE2 if is_spec else ""
