"""Receptive fields: published values, brute force, and the three routes against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.architectures.probing import field_of

POWERS = [2**l for l in range(10)]
PUBLISHED = [
    # kernel size, dilations, size, where it is asked or said
    (2, POWERS, 1024, "van den Oord et al. 2016, section 2.1: each block has a field of 1,024"),
    ([2, *[2] * 10], [1, *POWERS], 1025, "tensorflow-wavenet, issue 259: one causal layer before the block"),
    (2, [1] * 3, 4, "pytorch-wavenet, issue 14: blocks · 2^layers − blocks + 1, three blocks of one layer"),
    (3, np.repeat([1, 2, 4, 8], 2), 61, "Bai et al. 2018: two convolutions a block, 1 + 2 (k − 1) Σ d"),
    (8, np.tile(np.repeat([1, 2, 4, 8], 2), 3), 631, "keras-tcn, issue 8: 1 + 2 (8 − 1) · 3 · 15, and not 192"),
    (2, np.repeat(POWERS[:8], 2), 511, "keras-tcn, issue 71: one stack"),
    (2, np.tile(np.repeat(POWERS[:7], 2), 2), 509, "keras-tcn, issue 71: two stacks"),
    (4, np.repeat(POWERS[:7], 2), 763, "pytorch-tcn, issue 13"),
]


@pytest.mark.parametrize(("kernel_size", "dilations", "size", "where"), PUBLISHED)
def test_published_fields(kernel_size, dilations, size, where):
    assert cc.receptive_field(kernel_size=kernel_size, dilations=dilations).size == size, where


def causal(layers, x):
    """The outputs (n,) of a stack of causal convolutions with positive weights."""
    for kernel, dilation in layers:
        padded = np.concatenate([np.zeros((kernel - 1) * dilation), x])
        x = sum(padded[tap * dilation : tap * dilation + len(x)] * (1 + tap) for tap in range(kernel))
    return x


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), min_size=1, max_size=4))
def test_closed_form_against_perturbed_inputs(layers):
    kernels, dilations = map(list, zip(*layers, strict=True))
    found = cc.receptive_field(kernel_size=kernels, dilations=dilations)
    n = 2 * found.size + 2
    base = causal(layers, np.ones(n))
    moved = [i for i in range(n) if causal(layers, np.ones(n) + np.eye(n)[i])[-1] != base[-1]]
    assert found.size == moved[-1] - moved[0] + 1 and found.n_read == len(moved)
    assert (found.first, found.last) == (moved[0] - n + 1, moved[-1] - n + 1)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=4))
def test_an_architecture_reads_what_its_coefficients_do_not_leave_out(layers):
    kernels, dilations = map(list, zip(*layers, strict=True))
    arch = cc.Hierarchical(channels=1, n_layers=len(layers), kernel_size=kernels, dilations=dilations)
    found = cc.receptive_field(arch)
    read = np.flatnonzero(arch.coefficients(np.ones(arch.n_params)))
    assert (found.size, found.n_read, found.first) == (arch.n_inputs, len(read), -int(read[-1]))


def test_other_architectures():
    assert cc.receptive_field(cc.Recurrent(n_inputs=32, channels=2)).size == 32
    assert cc.receptive_field(cc.Function(lambda w: np.convolve(w[:2], w[2:]), 4)).size == 3
    assert cc.receptive_field(cc.Hierarchical(channels=4, n_layers=30)).size == 2**30


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: cc.receptive_field(), ValueError, "model, kernel_size: found both or neither, expected"),
        (lambda: cc.receptive_field(cc.Hierarchical(1, 2), kernel_size=2), ValueError, "model, kernel_size: found"),
        (lambda: cc.receptive_field(3), TypeError, "model: found int, expected an architecture"),
        (lambda: cc.receptive_field(lambda w, x: x), ValueError, "params: not given"),
        (lambda: cc.receptive_field(kernel_size=0), ValueError, "kernel_size: found 0"),
        (lambda: cc.receptive_field(kernel_size=[2, 2, 2], dilations=[1, 2]), ValueError, "n_layers: found"),
        (lambda: cc.receptive_field(kernel_size=2, dilations="1"), ValueError, "kernel_size, dilations: found text"),
    ],
)
def test_bad_arguments(call, error, said):
    with pytest.raises(error, match=f"^{said}") as refusal:
        call()
    assert "expected" in str(refusal.value)


def test_one_output_without_an_index_lies_at_the_end():
    assert field_of(lambda _: np.arange(9) >= 6, None) == (-2, 0, 1, 3, False)
    assert field_of(lambda _: np.ones(9, bool), None).whole


def test_a_jax_function():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    kernels = [np.random.default_rng(l).normal(size=(3, *shape)) for l, shape in enumerate([(2, 4), (4, 4), (4, 1)])]

    def apply(weights, x):
        h = x
        for kernel, dilation in zip(weights, (1, 2, 4), strict=True):
            padded = jnp.pad(h, ((2 * dilation, 0), (0, 0)))
            h = jax.nn.relu(sum(padded[t * dilation : t * dilation + len(h)] @ kernel[t] for t in range(3)))
        return h

    expected = cc.receptive_field(kernel_size=3, dilations=[1, 2, 4])
    found = cc.receptive_field(apply, kernels, np.zeros((40, 2)))
    assert (found.size, found.first, found.last, found.n_read) == (15, -14, 0, 15) == (expected.size, -14, 0, 15)
    last = cc.receptive_field(lambda w, x: apply(w, x)[-1, 0], kernels, np.zeros((40, 2)))
    assert (last.size, last.last) == (15, 0)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def chomped(torch, length):
    class Chomp(torch.nn.Module):
        def forward(self, x):
            return x[:, :, :-length] if length else x

    return Chomp()


def block(torch, below, above, kernel, dilation):
    """A residual block of Bai et al. (2018)."""
    nn, pad = torch.nn, (kernel - 1) * dilation

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Conv1d(below, above, 1) if below != above else nn.Identity()
            widths = [(below, above), (above, above)]
            convolutions = [nn.Conv1d(*width, kernel, padding=pad, dilation=dilation) for width in widths]
            parts = [[nn.utils.parametrizations.weight_norm(each), chomped(torch, pad), nn.ReLU(), nn.Dropout(0.2)]
                     for each in convolutions]  # fmt: skip
            self.net = nn.Sequential(*parts[0], *parts[1])

        def forward(self, x):
            return torch.relu(self.net(x) + self.down(x))

    return Block()


def wavenet(torch, n_layers, channels=4):
    """Gates, residual and skip connections without padding, as in van den Oord et al. (2016)."""
    nn = torch.nn

    class WaveNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.start, self.end = nn.Conv1d(1, channels, 1), nn.Conv1d(channels, 3, 1)
            dilated = [[nn.Conv1d(channels, channels, 2, dilation=2**l) for l in range(n_layers)] for _ in range(2)]
            self.filters, self.gates = map(nn.ModuleList, dilated)
            self.residual = nn.ModuleList([nn.Conv1d(channels, channels, 1) for _ in range(n_layers)])

        def forward(self, x):
            x, skip = self.start(x), 0.0
            for filters, gates, residual in zip(self.filters, self.gates, self.residual, strict=True):
                h = residual(torch.tanh(filters(x)) * torch.sigmoid(gates(x)))
                x = x[..., -h.shape[-1] :] + h
                skip = h if isinstance(skip, float) else skip[..., -h.shape[-1] :] + h
            return self.end(torch.relu(skip))

    return WaveNet()


def test_a_temporal_convolutional_network(torch):
    widths = [(1, 6), (6, 6), (6, 8), (8, 8)]
    module = torch.nn.Sequential(*(block(torch, *width, 3, 2**l) for l, width in enumerate(widths)))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    x = np.zeros((1, 1, 16))  # longer ones are tried
    found = cc.receptive_field(module, inputs=x)
    assert (found.size, found.first, found.last, found.n_read) == (61, -60, 0, 61)
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items()) and module.training

    class Last(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.below, self.above = module, torch.nn.Linear(8, 10)

        def forward(self, x):
            return self.above(self.below(x)[:, :, -1])

    assert cc.receptive_field(Last(), inputs=x).size == 61


def test_wavenet(torch):
    found = cc.receptive_field(wavenet(torch, 7), inputs=np.zeros((1, 1, 200)))
    assert (found.size, found.first, found.last) == (128, 0, 127)
    with pytest.raises(ValueError, match=r"found that shape \(1, 1, 100\) fails"):
        cc.receptive_field(wavenet(torch, 7), inputs=np.zeros((1, 1, 100)))


def test_pooling_strides_images_and_upsampling(torch):
    nn = torch.nn
    layers = [nn.Conv1d(1, 2, 5, stride=2, padding=2), nn.ReLU(), nn.MaxPool1d(3, 2, 1), nn.Conv1d(2, 2, 3, dilation=2)]
    found = cc.receptive_field(nn.Sequential(*layers), inputs=np.zeros((1, 1, 64)))
    assert (found.size, found.stride, found.first) == (1 + 4 + 2 * 2 + 2 * 2 * 4, 4, -4)
    image = nn.Sequential(nn.Conv2d(3, 4, (3, 5), padding=1), nn.BatchNorm2d(4), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3))
    assert cc.receptive_field(image, inputs=np.zeros((1, 3, 32, 32))).size == (3 + 1 + 4, 5 + 1 + 4)

    class Hourglass(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv1d(1, 2, 3, padding=1), nn.Conv1d(2, 2, 3, padding=1)
            self.up = nn.ConvTranspose1d(2, 2, 2, stride=2)

        def forward(self, x):
            h = self.a(x)
            return self.up(self.b(nn.functional.max_pool1d(h, 2))) + h

    found = cc.receptive_field(Hourglass(), inputs=np.zeros((1, 1, 64)))
    assert (found.size, found.stride) == (8, 1)  # the upsampled output 2j reads pooled j − 1 … j + 1, inputs −3 … +4


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_a_maximum_over_a_window_reads_all_of_it(torch, ceil_mode):
    """Against the outputs that a NaN reaches: it passes every operation. Holes in a pool are not counted."""
    nn = torch.nn
    module = nn.Sequential(nn.Conv1d(1, 2, 2, dilation=3), nn.MaxPool1d(3, 2, 1, 2, ceil_mode=ceil_mode)).double()
    found = cc.receptive_field(module, inputs=np.zeros((1, 1, 60)))
    reached = []
    for i in range(60):
        x = torch.zeros(1, 1, 60, dtype=torch.float64)
        x[..., i] = float("nan")
        reached.append(bool(module(x)[0, 0, 10].isnan()))
    read = np.flatnonzero(reached) - 10 * found.stride
    assert (found.first, found.last, found.n_read) == (read[0], read[-1], None) and len(read) < found.size


def test_statistics_that_switch_a_rectifier_off_do_not_count(torch):
    nn = torch.nn
    module = nn.Sequential(nn.Conv1d(1, 1, 3), nn.BatchNorm1d(1), nn.ReLU(), nn.Conv1d(1, 1, 2))
    module[1].running_mean.fill_(1e3)
    assert cc.receptive_field(module, inputs=np.zeros((1, 1, 9))).size == 4


def test_what_reads_everything(torch):
    nn = torch.nn
    normalised = nn.Sequential(nn.Conv1d(1, 4, 3, padding=1), nn.GroupNorm(2, 4))
    with pytest.raises(ValueError, match=r"reads all of 1,280 inputs, expected fewer"):
        cc.receptive_field(normalised, inputs=np.zeros((1, 1, 20)))
    with pytest.raises(ValueError, match="inputs: not given, expected an example"):
        cc.receptive_field(nn.Linear(4, 1))
    assert cc.receptive_field(nn.Linear(4, 1), inputs=np.zeros((1, 4))).size == 4
    with pytest.raises(ValueError, match=r"found that shape \(1, 3, 9\) fails"):
        cc.receptive_field(nn.Conv1d(1, 1, 2), inputs=np.zeros((1, 3, 9)))


def test_time_elsewhere(torch):
    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Conv1d(3, 2, 4)

        def forward(self, x):
            return self.inner(x.transpose(1, 2)).transpose(1, 2)

    assert cc.receptive_field(First(), inputs=np.zeros((2, 30, 3))).size == 4
