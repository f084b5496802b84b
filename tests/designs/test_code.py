"""The text of a network runs, and with linear layers its impulse response is the model's coefficients."""

import numpy as np
import pytest

import capcore as cc
from capcore.designs.code import jax_text, torch_text

MODELS = {
    "taps": cc.AutoRegressiveTaps(3, n_inputs=8),
    "pools": cc.NearAndPools(2, 3, n_inputs=16),
    "geometric taps": cc.LogTaps(16, 4),
    "a stack": cc.Hierarchical([2, 3], kernel_size=[2, 4, 2]),
    "an overlapping stack": cc.Hierarchical(2, 3, kernel_size=3, dilations=[1, 2, 4]),
    "poles": cc.Recurrent(16, 2),
    "a sum": cc.Sum(cc.AutoRegressiveTaps(2), cc.Hierarchical(2, 4)),
}


FIRST = [
    pytest.param(arch, id=name, marks=[] if name in ("pools", "a sum") else pytest.mark.slow)
    for name, arch in MODELS.items()
]
"""JAX compiles each operation anew, for seconds; the sum has taps and a stack."""


def impulse(arch):
    x = np.zeros((2, arch.n_inputs + 3))
    x[:, 3] = [1.0, -2.0]
    return x


@pytest.mark.parametrize("arch", FIRST)
def test_jax(arch, rng):
    jax = pytest.importorskip("jax")
    names = {}
    exec(compile(jax_text(arch), "<design>", "exec"), names)
    shapes = [np.shape(leaf) for leaf in jax.tree.leaves(names["init"](jax.random.key(0)))]
    assert sum(int(np.prod(shape)) for shape in shapes) == arch.n_params
    params = arch.init(rng)
    leaves, form = jax.tree.flatten(names["init"](jax.random.key(0)))
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]
    parts = [p.reshape(leaf.shape) for p, leaf in zip(np.split(params, ends), leaves, strict=True)]
    linear = {} if isinstance(arch, cc.Recurrent) else {"activation": lambda h: h}
    with jax.enable_x64(True):
        found = names["apply"](jax.tree.unflatten(form, parts), impulse(arch), **linear)
    np.testing.assert_allclose(found[0, 3:], arch.coefficients(params), atol=1e-12)
    np.testing.assert_allclose(found[1, 3:], -2 * arch.coefficients(params), atol=1e-12)
    np.testing.assert_array_equal(found[:, :3], 0)


def load_torch(torch, module, arch, params):
    """Put the package's parameters into a module."""
    if isinstance(arch, cc.Sum):
        one, other = arch.split(params)
        load_torch(torch, module.one, arch.one, one)
        load_torch(torch, module.other, arch.other, other)
    elif isinstance(arch, cc.Hierarchical):
        for layer, kernel in zip(module.layers, arch.kernels(params), strict=True):
            layer.weight.data = torch.as_tensor(kernel.transpose(2, 0, 1)[..., ::-1].copy())
    elif isinstance(arch, cc.Recurrent):
        parts = np.split(params, 3)
        for name, values in zip(("into", "poles", "out"), parts, strict=True):
            getattr(module, name).data = torch.as_tensor(values.copy())
    else:
        module.readout.weight.data = torch.as_tensor(params[None, :, None].copy())


@pytest.mark.parametrize("arch", MODELS.values(), ids=MODELS)
def test_torch(arch, rng):
    torch = pytest.importorskip("torch")
    names = {}
    exec(compile(torch_text(arch), "<design>", "exec"), names)
    module = names["Network"]().double()
    assert sum(each.numel() for each in module.parameters()) == arch.n_params
    params = arch.init(rng)
    load_torch(torch, module, arch, params)
    for part in module.modules():
        if hasattr(part, "activation"):
            part.activation = torch.nn.Identity()
    with torch.no_grad():
        found = module(torch.as_tensor(impulse(arch))[:, None]).numpy()[:, 0]
    np.testing.assert_allclose(found[0, 3:], arch.coefficients(params), atol=1e-7)  # windows are in single precision
    np.testing.assert_allclose(found[1], -2 * found[0], atol=1e-12)


def test_hidden_units_follow_taps():
    torch = pytest.importorskip("torch")
    names = {}
    exec(compile(torch_text(cc.NearAndPools(2, 2), hidden=5), "<design>", "exec"), names)
    assert names["Network"]()(torch.zeros(3, 1, 20)).shape == (3, 1, 20)


def test_a_model_is_chosen_by_its_place():
    found = cc.design(cc.PowerLaw(), max_params=12, n_inputs=16)
    assert found.torch() == torch_text(found.best.arch) and found.jax(0) == jax_text(found.models[0].arch)
    assert found.torch(found.models[1]) == found.torch(1)
    with pytest.raises(ValueError, match="model: found 99, expected a place from 0"):
        found.torch(99)
    with pytest.raises(ValueError, match="model: found Linear"):
        torch_text(cc.Linear(np.eye(3)))
