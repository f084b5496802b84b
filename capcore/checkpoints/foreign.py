"""Forms of weights that are not read: how each is recognised by a name, what it is, and the way to a form that is read.

Names are those of files, folders and typed tensors, and ``quant_method`` of a configuration.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from capcore.checkpoints.tensors import CheckpointError

_AGAIN = "Load it with its library and save dequantised weights, or analyse the file that it was made of."
_DCP = "Run python -m torch.distributed.checkpoint.format_utils dcp_to_torch {place} model.pt."
_QUANTISED = {
    "EXL2": r"\.q_(perm|invperm|scale_max)$", "HQQ": r"\.W_q$", "MLX": "^uint32 .*weight$",
    "Quanto": r"weight\._data$", "torchao": r"weight:_?\w*qdata$",
}  # fmt: skip
FORMS = (
    (r"\.distcp$|^\.metadata$", "a distributed checkpoint of PyTorch", _DCP),
    (r"^zero_to_fp32\.py$|^global_step\d+$|^(bf16_)?zero_pp_rank_", "a checkpoint of DeepSpeed in parts",
     "Run the zero_to_fp32.py beside it, which writes pytorch_model.bin."),
    (r"(^|/)_(CHECKPOINT_)?METADATA$|^_sharding$|ocdbt", "a checkpoint of Orbax",
     "Restore it with orbax.checkpoint, and save its arrays with numpy.savez."),
    (r"^\.z(array|group|attrs)$|^zarr\.json$", "a store of Zarr", "Open it with zarr, and save it with numpy.savez."),
    (r"^(models--.+/)?snapshots/", "the cache of a model hub", "Open the folder of a snapshot: {paths}."),
    (r"\.pt2$", "a program of torch.export", "Load it with torch.export.load, and save its state_dict()."),
    *((rf"{names}|^quant_method: {name.lower()}", f"weights quantised by {name}", _AGAIN)
      for name, names in _QUANTISED.items()),
)  # fmt: skip
"""Pattern of a name, what has such a name, and what to do."""


def refuse(names: Sequence[str], place: str | Path) -> None:
    """Raise ``CheckpointError`` if one of the names in ``place`` belongs to a form that is not read.

    >>> refuse(["fc.weight", "config.json"], "model")
    """
    for pattern, what, advice in FORMS:
        if found := [name for name in names if re.search(pattern, name)]:
            advice = advice.format(place=place, paths=", ".join(str(Path(place) / name) for name in found[:3]))
            raise CheckpointError(f"{place}: found {what} ({found[0]}), expected plain weights. {advice}")


def refuse_folder(folder: Path) -> None:
    """Raise ``CheckpointError`` if the names in a folder belong to a form that is not read."""
    paths = sorted(path for pattern in ("*", "*/*", "*/snapshots/*") for path in folder.glob(pattern))
    refuse([path.relative_to(folder).as_posix() for path in paths], folder)
