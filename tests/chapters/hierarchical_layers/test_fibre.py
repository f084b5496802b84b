import numpy as np
import pytest

from capcore import Hierarchical, PowerLaw, allocate, fit
from chapters.hierarchical_layers.study import idle_channels, same_coefficients


@pytest.mark.parametrize("channels", [1, 4, [2, 3, 5, 1, 2]], ids=str)
def test_the_draws_are_the_same_model(channels, rng):
    arch = Hierarchical(channels, 6)
    params = arch.init(rng)
    for draw in same_coefficients(arch, params, 3, rng):
        assert arch.coefficients(draw) == pytest.approx(arch.coefficients(params), abs=1e-12)


@pytest.mark.parametrize(
    ("arch", "idle"),
    [
        (Hierarchical(4, 6), [2, 0, 0, 0, 2]),
        (Hierarchical(1, 6), [0] * 5),
        (Hierarchical(8, 6), [6, 4, 0, 4, 6]),
        (Hierarchical([2, 3], kernel_size=3), [0, 0]),
        (Hierarchical(1, 1), []),
    ],
    ids=str,
)
def test_idle_channels(arch, idle):
    assert idle_channels(arch) == idle


def test_only_layers_beside_idle_channels_have_a_profile_that_depends_on_the_weights():
    """Layer 1 sees the bond above it, layer L the bond below; inner layers see an idle channel's null space only."""
    arch = Hierarchical(4, 6)
    params = fit(arch, PowerLaw()).params
    draws = same_coefficients(arch, params, 4, np.random.default_rng(1))
    allocs = [allocate(arch, draw, PowerLaw()) for draw in draws]
    profiles = np.array([[layer.independent for layer in alloc.layers.values()] for alloc in allocs])
    changes = np.ptp(profiles, axis=0).max(axis=1)
    assert (changes[[0, 5]] > 0.05).all() and (changes[1:5] < 1e-8).all()
    assert np.ptp([alloc.per_input for alloc in allocs], axis=0).max() < 1e-8


def test_a_change_of_basis_between_layers_changes_no_layer(rng):
    arch = Hierarchical(3, 4)
    params = arch.init(rng)
    first, second, *rest = arch.kernels(params)
    mixing = rng.normal(size=(3, 3))
    mixed = [first @ mixing, np.tensordot(np.linalg.inv(mixing), second, 1), *rest]
    other = np.concatenate([kernel.ravel() for kernel in mixed])
    before, after = (allocate(arch, w, PowerLaw()).layers for w in (params, other))
    for name in before:
        assert after[name].independent == pytest.approx(before[name].independent, abs=1e-8)
        assert after[name].marginal == pytest.approx(before[name].marginal, abs=1e-8)
