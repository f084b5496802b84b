"""The chapter on exponents of trained networks with other parameters, and with parameters that it must refuse."""

import numpy as np

FAST = {"n_gaussian": 200}
VARIANTS = {
    "the deepest": {"network": "resnet56"},
    "layers of zeros": {"network": "layers_removed", "seed": 1},
    "chance level": {"network": "chance_level"},
}
DRAWN = FAST


def test_it_runs_with_other_parameters(run, recorded, parameters):
    executed = run(**{**FAST, **parameters})
    values = recorded(executed)
    assert f"every slice of {parameters['network']}, layer after layer" in str(executed)
    assert len(values) == 4 and {name.split(".")[1] for name in values} == {"09"}  # the others: pretrained networks
    assert values["P3.09.computed"] == 11


def test_a_checkpoint_of_the_readers_own_is_drawn(run, tmp_path):
    """A heavy-tailed layer below all of its shuffles, one of noise, and a bias."""
    rng = np.random.default_rng(0)
    heavy = rng.standard_t(1.5, size=(60, 40)) * np.geomspace(1, 100, 40)
    np.savez(tmp_path / "mine.npz", heavy=heavy, noise=rng.normal(size=(40, 40)), bias=rng.normal(size=40))
    text = str(run(checkpoint=str(tmp_path / "mine.npz"), **FAST))
    assert "every slice of mine, layer after layer" in text and " of 2 slices have a smaller exponent" in text


def test_it_refuses_a_checkpoint_that_is_not_there(refused):
    refused("found no such file", checkpoint="absent.npz")
