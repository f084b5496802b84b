"""The last convolution of a network: found by name, and its numbers are those of its own slices."""

import numpy as np
import pytest

from chapters.spectra_resnets.last_convolutions import last_convolutions
from chapters.spectra_resnets.resnet_exponents import exponents
from chapters.spectra_resnets.resnet_fits import stored_fits
from chapters.spectra_resnets.stored_spectra import stored_networks


@pytest.fixture(scope="module")
def last():
    networks, fitted = stored_networks(), stored_fits()
    slices, pooled = (
        exponents(networks, ["resnet20", "resnet56"], name, np.random.default_rng(0)) for name in ("slices", "pooled")
    )
    return last_convolutions(slices, pooled, fitted)


def test_it_is_the_last_before_the_linear_layer(last):
    assert last["layer"].tolist() == ["layer3.2.conv2.weight", "layer3.8.conv2.weight"]
    assert last["slices"].tolist() == [9, 9] and last["below"].tolist() == [1, 1]


def test_its_numbers_are_those_of_the_stored_fits(last):
    for key, layer in last["layer"].items():
        columns = stored_fits()[key]["slices"]
        own = [i for i, name in enumerate(columns["name"]) if name.startswith(f"{layer}[")]
        p_values = [columns["p_value"][i] for i in own]
        assert (last.loc[key, "low"], last.loc[key, "high"]) == (min(p_values), max(p_values))
        assert last.loc[key, "cutoff"] == sum(columns["truncated power law"][i] == -1 for i in own)
        assert last.loc[key, "mean"] == pytest.approx(np.mean([columns["alpha"][i] for i in own]), rel=1e-5)
        whole = stored_fits()[key]["pooled"]
        assert last.loc[key, "pooled"] == pytest.approx(whole["alpha"][whole["name"].index(layer)], rel=1e-5)
