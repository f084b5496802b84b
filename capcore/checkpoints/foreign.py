"""Forms of weights that are not read: how each is recognised by a name, what it is, and the way to a form that is read.

Names are those of files, folders and tensors, and ``quant_method`` of a configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from capcore.checkpoints.tensors import CheckpointError

_AGAIN = "Load it with its library and save its dequantised weights, or analyse the file that it was made of."
FORMS = (
    (
        r"\.distcp$|^\.metadata$",
        "a distributed checkpoint of PyTorch",
        "Run python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER model.pt.",
    ),
    (
        r"^zero_to_fp32\.py$|^global_step\d+$|^(bf16_)?zero_pp_rank_",
        "a checkpoint of DeepSpeed in parts",
        "Run the zero_to_fp32.py beside it, which writes pytorch_model.bin.",
    ),
    (
        r"^_(CHECKPOINT_)?METADATA$|^_sharding$|ocdbt",
        "a checkpoint of Orbax",
        "Restore it with orbax.checkpoint, and save its arrays with numpy.savez.",
    ),
    (r"^\.z(array|group|attrs)$|^zarr\.json$", "a store of Zarr", "Open it with zarr, and save it with numpy.savez."),
    (r"^snapshots/", "the cache of a model hub", "Open the folder of a snapshot: {found}."),
    (
        r"\.pt2$",
        "a program of torch.export",
        "Load it with torch.export.load, and save its state_dict with safetensors.",
    ),
    (r"\.(q_perm|q_scale_max|q_invperm)$|^quant_method: exl2", "weights quantised by EXL2", _AGAIN),
    (r"\.W_q$|^quant_method: hqq", "weights quantised by HQQ", _AGAIN),
    (r"weight\._data$|^quant_method: quanto", "weights quantised by Quanto", _AGAIN),
    (r"weight:_?\w*qdata$|^quant_method: torchao", "weights quantised by torchao", _AGAIN),
)
"""Pattern of a name, what has such a name, and what to do."""


def refuse(names: Iterable[str], place: str | Path) -> None:
    """Raise ``CheckpointError`` if one of the names in ``place`` belongs to a form that is not read.

    >>> refuse(["fc.weight", "config.json"], "model")
    """
    names = [*names]
    for pattern, what, advice in FORMS:
        found = [name for name in names if re.search(pattern, name)]
        if found:
            paths = ", ".join(str(Path(place) / name) for name in found[:3])
            raise CheckpointError(
                f"{place}: found {what} ({found[0]}), expected plain weights. {advice.format(found=paths)}"
            )


def refuse_folder(folder: Path) -> None:
    """Raise ``CheckpointError`` if the names in a folder belong to a form that is not read."""
    refuse(
        (str(path.relative_to(folder)) for pattern in ("*", "snapshots/*") for path in sorted(folder.glob(pattern))),
        folder,
    )
