"""The trained networks that lie beside the repository: read, analysed, and every tensor accounted for."""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest

from capcore.checkpoints import CheckpointError, read_checkpoint, read_folder
from capcore.spectra import DensityOptions
from tests.spectra.whole_networks import spectral_densities

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data, which is absent")
FOLDERS = {"resnet_cifar10": 4, "distiller_resnet20": 7}
PICKLED_CLASSES = {
    "checkpoint_trained_channel_regularized_resnet20": "distiller.thinning.ThinningRecipe",
    "checkpoint_trained_channel_regularized_resnet20_finetuned": "distiller.thinning.ThinningRecipe",
    "resnet20_cifar10_checkpoint": "torch.optim.sgd.SGD",
}


@pytest.fixture(scope="module")
def manifest():
    with (DATA / "MANIFEST.csv").open() as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def converted():
    return sorted((DATA / "checkpoints").glob("*/*.safetensors"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_read_without_pytorch(folder, manifest):
    found = read_folder(DATA / "checkpoints" / folder)
    assert not found.refused
    assert len(found.checkpoints) == FOLDERS[folder]
    for checkpoint in found.checkpoints:
        row = manifest[f"checkpoints/{folder}/{checkpoint.name}"]
        assert checkpoint.sha256 == row["sha256"]
        assert checkpoint.size == int(row["bytes"])


@pytest.mark.parametrize(("depth", "n_layers"), [(20, 20), (32, 32), (44, 44), (56, 56)])
def test_a_residual_network_has_as_many_layers_as_its_name_says(depth, n_layers):
    (path,) = (DATA / "checkpoints" / "resnet_cifar10").glob(f"resnet{depth}-*.safetensors")
    checkpoint = read_checkpoint(path)
    pooled = spectral_densities(checkpoint, DensityOptions("pooled", minimum=3))
    assert len(pooled) == n_layers
    assert len(pooled) + len(pooled.skipped) == len(checkpoint)
    slices = spectral_densities(checkpoint, DensityOptions("slices"))
    assert len(slices) == 9 * (n_layers - 2) + 1  # the first reads three colours: three eigenvalues a slice
    assert sum("16 × 3" in skipped.reason for skipped in slices.skipped) == 1


@pytest.mark.parametrize("path", converted(), ids=lambda path: path.stem)
def test_the_original_file_holds_the_same_or_is_refused(path, manifest):
    pytest.importorskip("torch", reason="PyTorch is not installed: an optional extra")
    (original,) = (file for file in path.parent.glob(f"{path.stem}.*") if file.suffix != ".safetensors")
    if path.stem in PICKLED_CLASSES:
        with pytest.raises(CheckpointError, match=PICKLED_CLASSES[path.stem]):
            read_checkpoint(original)
        return
    plain, found = read_checkpoint(path), read_checkpoint(original)
    bare = {name.removeprefix("module."): found[name] for name in found}
    assert {*bare} == {name.removeprefix("module.") for name in plain}
    for name in plain:
        np.testing.assert_array_equal(bare[name.removeprefix("module.")], plain[name])
    assert found.sha256 == hashlib.sha256(original.read_bytes()).hexdigest()
