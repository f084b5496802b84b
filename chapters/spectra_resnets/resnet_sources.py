"""The trained networks whose spectra the book ships: where each file came from, under which licence, with which hash.

The weights are other people's and are not in this repository. What is, is computed from them
(``stored_spectra``), and can be computed again from the original files.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

HOST = "https://raw.githubusercontent.com"
"""Where the original repositories' files lie, by repository, commit and path."""
PLACEHOLDERS = ("distiller.thinning.ThinningRecipe", "torch.optim.sgd.SGD")
"""Classes that three of the files hold beside their weights: a record of what was cut away, and an optimiser."""
TABLE = "resnet_sources.csv"


@dataclass(frozen=True)
class NetworkSource:
    """One file with a trained network.

    Attributes
    ----------
    key : short name in this book. family : ``series`` (four depths, one training) or ``variants`` (ResNet-20, pruned
    and regularised in several ways).
    repository, commit, path : of the file. licence, licence_path : of the repository.
    sha256, size : of the file, in bytes. weights_sha256 : of the weights, however they are packed
    (``weights_hash``).
    top1 : test accuracy in percent, as the source states it; None where it states none. note : what one has to know.
    """

    key: str
    family: str
    repository: str
    commit: str
    path: str
    licence: str
    licence_path: str
    sha256: str
    size: int
    weights_sha256: str
    top1: float | None
    note: str = ""

    @property
    def file(self) -> str:
        """The file's name, without its folder."""
        return self.path.rsplit("/", 1)[-1]

    def address(self, path: str | None = None, host: str = HOST) -> str:
        """Where the file, or another of the same commit, is fetched from.

        >>> SOURCES["resnet20"].address("LICENSE").rsplit("/", 2)[0]
        'https://raw.githubusercontent.com/akamaster/pytorch_resnet_cifar10'
        """
        return f"{host.rstrip('/')}/{self.repository}/{self.commit}/{path or self.path}"


def _read() -> dict[str, NetworkSource]:
    text = files(__package__).joinpath(TABLE).read_text("utf8")
    rows = csv.DictReader(text.splitlines())
    found = [
        NetworkSource(**{**row, "size": int(row["size"]), "top1": _percent(row["top1"])})  # type: ignore[arg-type]
        for row in rows
    ]
    return {source.key: source for source in found}


def _percent(text: str) -> float | None:
    return float(text) if text else None


SOURCES = _read()
"""Key → file, in the order of the figures: the series by depth, then the variants."""
