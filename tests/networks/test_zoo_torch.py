"""Networks of PyTorch as people have them, against the Jacobian and the Hessian that it computes of each."""

import warnings

import numpy as np
import pytest

import capcore as cc
from capcore import networks
from capcore.architectures.adapter import plain_kernels
from capcore.networks.derivatives import Derivatives
from tests.strategies import refused

torch = pytest.importorskip("torch")
nn = torch.nn
N, DECAY = 9, 1.0
ROUNDING = 1e-9
"""Relative: the condition number is at most 1e4, times eps, the number of parameters and a margin of ten."""


class Last(nn.Module):
    """The last step of a recurrent layer, read by a linear one."""

    def __init__(self, layer, size):
        super().__init__()
        self.layer, self.top = layer, nn.Linear(size, 2)

    def forward(self, x):
        outputs, states = self.layer(x)
        outputs = outputs if self.layer.batch_first else outputs.transpose(0, 1)
        states = states if isinstance(states, tuple) else (states,)
        return self.top(outputs[:, -1]) + sum(state.sum((0, 2))[:, None] for state in states)


class TimeFirst(nn.Module):
    """A recurrent layer that takes the time axis first, with initial states of its own."""

    def __init__(self):
        super().__init__()
        self.layer, self.first = nn.LSTM(2, 3, num_layers=2, proj_size=2), nn.Parameter(torch.randn(2, 1, 2))

    def forward(self, x):
        first = self.first.expand(2, len(x), 2).contiguous()
        outputs, (state, _) = self.layer(x.transpose(0, 1), (first, torch.zeros(2, len(x), 3, dtype=x.dtype)))
        return outputs[-1] + state[0]


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.GRUCell(2, 3), nn.LSTMCell(3, 2)

    def forward(self, x):
        h, state = x.new_zeros(len(x), 3), None
        for now in x.unbind(1):
            h = self.first(now, h)
            state = self.second(h, state)
        return state[0]


class ViT(nn.Module):
    """A transformer on patches of images of 8 × 8, with a learned position."""

    def __init__(self, width, heads, inner, depth, outputs):
        super().__init__()
        self.patch, self.position = nn.Conv2d(1, width, 4, 4), nn.Parameter(torch.randn(4, width) / 8)
        layer = nn.TransformerEncoderLayer(width, heads, inner, dropout=0.1, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, outputs)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        return self.head(self.norm(self.blocks(x).mean(1)))


class Residual(nn.Module):
    """Layers that are used twice, in place, in groups, and with a tied weight."""

    def __init__(self):
        super().__init__()
        self.tokens, self.mix, self.norm = (
            nn.Embedding(5, 4),
            nn.Conv1d(4, 4, 3, padding="same", groups=2),
            nn.GroupNorm(2, 4),
        )
        self.inner, self.act, self.tied = nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 5, bias=False)
        self.tied.weight = self.tokens.weight

    def forward(self, x):
        x = self.tokens(x).transpose(1, 2)
        x = x + self.act(self.norm(self.mix(x)))
        x = self.act(self.inner(self.act(self.inner(x.mean(2)))))
        return self.tied(x)


def dilated(act, padding_mode="zeros"):
    layers = [nn.Conv1d(1, 2, 2), act()]
    for dilation in (2, 4):
        layers += [nn.Conv1d(2, 2, 2, dilation=dilation, padding_mode=padding_mode), act()]
    return nn.Sequential(*layers, nn.Conv1d(2, 1, 1), nn.Flatten())


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(2, 3, 3, stride=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3),
    )  # fmt: skip


def normalised():
    """Batch normalisation whose running statistics differ from zero and one."""
    module = nn.Sequential(
        nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.Tanh(), nn.Flatten(), nn.Linear(9, 2), nn.BatchNorm1d(2)
    )
    module(torch.randn(50, 2, 4))
    return module


def weight_norm(function):
    return nn.Sequential(function(nn.Linear(3, 4)), nn.Tanh(), function(nn.Linear(4, 2)))


def written_weight_norm(weights, x):
    """The same from biases, sizes and directions: PyTorch 2.13 computes a Hessian of it that is not symmetric."""
    below, g, v, above, gg, vv = weights.values()
    hidden = torch.tanh(x @ (g * v / v.norm(dim=1, keepdim=True)).T + below)
    return hidden @ (gg * vv / vv.norm(dim=1, keepdim=True)).T + above


def transformer():
    layer = nn.TransformerEncoderLayer(2, 1, 3, batch_first=True)
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(8, 1))


SEQUENCE, IMAGE, VECTOR = (4, 2), (1, 8, 8), (3,)
RECURRENT = ["layer", "top"]
BLOCK = ["self_attn", "self_attn.out_proj", "linear1", "linear2", "norm1", "norm2"]
BOTH = {"batch_first": True, "bidirectional": True, "num_layers": 2}
ZOO = {
    "MLP": (lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2)), VECTOR, ["0", "2"]),
    "LSTM": (lambda: Last(nn.LSTM(2, 3, batch_first=True), 3), SEQUENCE, RECURRENT),
    "GRU": (lambda: Last(nn.GRU(2, 3, batch_first=True), 3), SEQUENCE, RECURRENT),
    "RNN, ReLU": (lambda: Last(nn.RNN(2, 3, nonlinearity="relu", batch_first=True), 3), SEQUENCE, RECURRENT),
    "LSTM, both ways": (lambda: Last(nn.LSTM(2, 2, **BOTH), 4), SEQUENCE, RECURRENT),
    "GRU, both ways, no biases": (lambda: Last(nn.GRU(2, 2, bias=False, dropout=0.5, **BOTH), 4), SEQUENCE, RECURRENT),
    "LSTM, time first": (TimeFirst, SEQUENCE, ["first", "layer"]),
    "cells": (Cells, SEQUENCE, ["first", "second"]),
    "TransformerEncoderLayer": (transformer, SEQUENCE, [*(f"0.{part}" for part in BLOCK), "2"]),
    "ViT": (
        lambda: ViT(4, 2, 6, 1, 3),
        IMAGE,
        ["position", "patch", *(f"blocks.layers.0.{part}" for part in BLOCK), "norm", "head"],
    ),
    "LeNet": (lenet, IMAGE, ["0", "3", "6", "8"]),
    "BatchNorm": (normalised, (2, 4), ["0", "1", "4", "5"]),
    "weight norm": (lambda: weight_norm(nn.utils.parametrizations.weight_norm), VECTOR, ["0", "2"]),
    "weight norm, old": (lambda: weight_norm(nn.utils.weight_norm), VECTOR, ["0", "2"]),
    "dilated tanh": (lambda: dilated(nn.Tanh), (1, 8), ["0", "2", "4", "6"]),
    "dilated ReLU": (lambda: dilated(nn.ReLU, "circular"), (1, 8), ["0", "2", "4", "6"]),
    "tied and reused": (Residual, None, ["tokens", "mix", "norm", "inner"]),
}


@pytest.fixture(scope="module", params=ZOO)
def animal(request):
    """Module, inputs, targets near its outputs, the layers' names, and the exact Jacobian and Hessian of the loss."""
    create, shape, names = ZOO[request.param]
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, (N, 6)) if shape is None else rng.normal(size=(N, *shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the old weight_norm is deprecated
        module = create().double()
    free = {name: weight.detach().clone() for name, weight in module.eval().named_parameters()}
    flat, points = torch.cat([weight.ravel() for weight in free.values()]), torch.as_tensor(x)

    def outputs(w):
        parts = torch.split(w, [weight.numel() for weight in free.values()])
        new = {name: part.view(old.shape) for (name, old), part in zip(free.items(), parts, strict=True)}
        written = "weight norm" in request.param
        return written_weight_norm(new, points) if written else torch.func.functional_call(module, new, (points,))

    with plain_kernels():
        start = outputs(flat).detach()
        y = start + 0.01 * torch.as_tensor(rng.normal(size=start.shape))

        def loss(w):
            return (outputs(w) - y).square().sum() / 2 + DECAY / 2 * w.square().sum()

        jacobian = torch.autograd.functional.jacobian(outputs, flat).reshape(-1, len(flat)).numpy()
        hessian = torch.autograd.functional.hessian(loss, flat).numpy()
    assert np.linalg.eigvalsh(hessian)[0] > 0, "the full Hessian is compared at a minimum"
    module.train()
    return module, x, y.numpy(), names, jacobian, hessian


def allocated(animal, **options):
    module, x, y = animal[:3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CapacityWarning)  # weights are as they were drawn
        return cc.allocate_network(module, None, x, y, weight_decay=DECAY, subspaces={}, **options)


def exact(animal, curvature):
    jacobian, hessian = animal[4:]
    h = hessian if curvature == "full" else jacobian.T @ jacobian + DECAY * np.eye(len(hessian))
    return np.diag(jacobian @ np.linalg.solve(h, jacobian.T)).reshape(N, -1).sum(1)


@pytest.mark.parametrize("curvature", ["full", "gauss-newton"])
def test_dense_capacities_are_those_of_the_module_s_own_derivatives(animal, curvature):
    found, expected = allocated(animal, curvature=curvature, method="dense"), exact(animal, curvature)
    assert found.per_example == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)
    assert found.total == pytest.approx(expected.sum(), rel=ROUNDING)
    assert list(found.problem.layers) == animal[3]


def test_the_dual_route_is_the_dense_one(animal):
    """Layers that are linear and called once in closed form, all others by products."""
    found, expected = (allocated(animal, method=method) for method in ("dual", "dense"))
    assert found.per_example == pytest.approx(exact(animal, "gauss-newton"), rel=ROUNDING, abs=ROUNDING)
    for name, layer in expected.layers.items():
        assert found.layers[name].totals == pytest.approx(layer.totals, rel=ROUNDING, abs=ROUNDING)
    one, other = found.leave_one_out(), expected.leave_one_out()
    assert one.outputs == pytest.approx(other.outputs, rel=ROUNDING, abs=ROUNDING)


def test_jacobians_by_layers_are_those_of_pytorch(animal):
    """Sums of at most a hundred products each."""
    module, x, _, _, jacobian, _ = animal
    found = Derivatives(*networks.from_torch(module), x)
    assert found.jacobian(found.params) == pytest.approx(jacobian, rel=1e-12, abs=1e-12 * np.abs(jacobian).max())


def test_the_module_stays_as_it_is_and_switches_as_they_were(animal):
    module = animal[0]
    before = {name: value.clone() for name, value in module.state_dict().items()}
    allocated(animal, curvature="gauss-newton")
    assert module.training and torch.backends.mha.get_fastpath_enabled()
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    own = [*module.modules(), *(hook for part in module.modules() for hook in part._forward_pre_hooks.values())]
    assert not any({"forward", "compute_weight"} & set(vars(each)) for each in own)


class Own(torch.autograd.Function):
    """A square without derivatives in forward mode."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


def module_of(function):
    """A linear layer, and a function of what it gives."""

    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return function(self.layer(x))

    torch.manual_seed(0)
    return Module()


X, Y = np.random.default_rng(0).normal(size=(N, 2)), np.zeros((N, 2))


test_modules_that_are_no_functions_of_one_example_are_refused = refused(
    lambda function: cc.allocate_network(module_of(function), None, X, Y),
    (lambda x: nn.functional.dropout(x, 0.5), "apply: found another output .* Turn dropout off"),
    (lambda x: nn.functional.batch_norm(x, None, None, training=True), "outputs that mix examples"),
    (lambda x: x - x.mean(0), "outputs that mix examples.*batch normalisation into evaluation"),
    (lambda x: (x, x), "apply: found a tuple, expected one array"),
    (lambda x: {"logits": x}, "apply: found a dict, expected one array"),
    error=(ValueError, TypeError),
)


def test_packed_sequences_are_refused():
    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.GRU(2, 2, batch_first=True)

        def forward(self, x):
            lengths = torch.full((len(x),), x.shape[1])
            return self.layer(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True))[1][0]

    with pytest.raises(ValueError, match="expected operations with derivatives for each example"):
        cc.allocate_network(Packed(), None, np.zeros((N, 3, 2)), Y)


def test_a_derivative_that_an_operation_lacks_is_told():
    module, options = module_of(Own.apply), {"weight_decay": 1.0, "subspaces": {}}
    for method in ("dense", "dual"):
        assert 0 < cc.allocate_network(module, None, X, Y, method=method, **options).total < 6
    with pytest.raises(ValueError, match=r"(?s)apply: found .*in forward mode for curvature=.full.*"):
        cc.allocate_network(module, None, X, Y, curvature="full", **options)


def test_other_parameters_beside_a_module_have_its_names():
    module, options = module_of(torch.tanh), {"weight_decay": 1.0, "curvature": "gauss-newton"}
    params = {"layer.bias": np.zeros(2), "layer.weight": np.eye(2)}
    found = cc.allocate_network(module, params, X, Y, **options)
    apply, own = networks.from_torch(module)
    expected = cc.allocate_network(apply, {name: params[name] for name in own}, X, Y, **options)
    assert found.total == expected.total and list(own) == ["layer.weight", "layer.bias"]
    with pytest.raises(ValueError, match=r"params: found dict beside a module.* layer\.weight, layer\.bias"):
        cc.allocate_network(module, {"layer.weight": np.eye(2)}, X, Y)
