"""Names of wrappers are dropped, and names of layers are not."""

import numpy as np
import pytest

from capcore.checkpoints import read_checkpoint
from capcore.checkpoints.differences import unwrapped
from capcore.spectra import find_layers

PLAIN = ["embed.weight", "layers.0.fc.weight", "layers.0.fc.bias"]


def renamed(*names):
    return unwrapped(read_checkpoint({name: np.full((2, 2), float(i)) for i, name in enumerate(names)}))


@pytest.mark.parametrize(
    "names",
    [
        PLAIN,
        [f"module.{name}" for name in PLAIN],
        [f"_orig_mod.{name}" for name in PLAIN],
        [f"state_dict.module._orig_mod.{name}" for name in PLAIN],
        [f"_orig_mod.module.{name}" for name in PLAIN],
        ["embed.weight", "layers.0._orig_mod.fc.weight", "layers.0._orig_mod.fc.bias"],
        ["embed.weight", *(f"layers.0._checkpoint_wrapped_module.fc.{end}" for end in ("weight", "bias"))],
    ],
)
def test_every_wrapping_gives_the_plain_names(names):
    found = renamed(*names)
    assert [*found] == [tensor.name for tensor in found.tensors.values()] == PLAIN
    assert [found[name][0, 0] for name in PLAIN] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "names",
    [
        ["module.fc.weight", "head.weight"],  # a part that is called so
        ["my_orig_mod.fc.weight"],
        ["module."],
        ["a._orig_mod.w", "a.w"],  # would become equal
    ],
)
def test_names_of_layers_stay(names):
    assert [*renamed(*names)] == names


def test_what_shares_its_memory_still_does():
    table = np.ones((3, 3))
    found = unwrapped(read_checkpoint({"module.wte.weight": table, "module.head.weight": table}))
    assert [layer.name for layer in find_layers(found).layers] == ["wte.weight"]
