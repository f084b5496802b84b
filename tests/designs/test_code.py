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
}


def impulse(arch):
    x = np.zeros((2, arch.n_inputs + 3))
    x[:, 3] = [1.0, -2.0]
    return x


@pytest.mark.parametrize("arch", MODELS.values(), ids=MODELS)
def test_jax(arch, rng):
    jax = pytest.importorskip("jax")
    names = {}
    exec(compile(jax_text(arch), "<design>", "exec"), names)
    leaves, form = jax.tree.flatten(names["init"](jax.random.key(0)))
    params = arch.init(rng)
    parts = np.split(params, np.cumsum([leaf.size for leaf in leaves]))
    assert parts.pop().size == 0
    kernels = [part.reshape(leaf.shape) for part, leaf in zip(parts, leaves, strict=True)]
    with jax.enable_x64(True):
        response = names["apply"](jax.tree.unflatten(form, kernels), impulse(arch), activation=lambda h: h)
    np.testing.assert_allclose(response[0, 3:], arch.coefficients(params), atol=1e-12)
    np.testing.assert_allclose(response[1, 3:], -2 * arch.coefficients(params), atol=1e-12)
    np.testing.assert_allclose(response[:, :3], 0, atol=1e-12)


@pytest.mark.parametrize("arch", MODELS.values(), ids=MODELS)
def test_torch(arch, rng):
    torch = pytest.importorskip("torch")
    names = {}
    exec(compile(torch_text(arch), "<design>", "exec"), names)
    stack = isinstance(arch, cc.Hierarchical)
    module = names["Network"](*[torch.nn.Identity] * stack).double()
    params = arch.init(rng)
    kernels = (
        [kernel.transpose(2, 0, 1)[..., ::-1] for kernel in arch.kernels(params)] if stack else [params[None, :, None]]
    )
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    for weight, kernel in zip(trained, kernels, strict=True):
        assert weight.shape == kernel.shape
        weight.data = torch.as_tensor(kernel.copy())
    with torch.no_grad():
        response = module(torch.as_tensor(impulse(arch))[:, None]).numpy()[:, 0]
    np.testing.assert_allclose(response[0, 3:], arch.coefficients(params), atol=1e-7)  # windows are in single precision
    np.testing.assert_allclose(response[1], -2 * response[0], atol=1e-12)


def test_the_recommended_model_is_chosen():
    design = cc.design(cc.PowerLaw(), max_params=12, n_inputs=16)
    assert design.torch() == torch_text(design.best.arch) and design.jax() == jax_text(design.best.arch)
