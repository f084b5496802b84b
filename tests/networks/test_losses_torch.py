"""Tokens, adapters, tied weights and batches of PyTorch, against its own losses and derivatives."""

import pytest

import capcore as cc

torch = pytest.importorskip("torch")
nn, functional, func = torch.nn, torch.nn.functional, torch.func
N, T, V, DECAY = 6, 4, 5, 0.5
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
ADAPTER = ["down.weight", "up.weight"]


class Adapted(nn.Module):
    """A layer with an adapter of rank 2, between a tied embedding and what reads it out."""

    def __init__(self):
        super().__init__()
        self.words, self.below, self.head = nn.Embedding(V, 4), nn.Linear(4, 4), nn.Linear(4, V, bias=False)
        self.down, self.up = nn.Linear(4, 2, bias=False), nn.Linear(2, 4, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        words = self.words(x)
        return self.head(torch.tanh(self.below(words) + self.up(self.down(words))).cumsum(1))


def categorical(f, y, w):
    return functional.cross_entropy(f.reshape(-1, V), y.reshape(-1), weight=w, reduction="sum")


def binary(f, y, w):
    return functional.binary_cross_entropy_with_logits(f, y, w, reduction="sum")


@pytest.mark.parametrize(("name", "loss"), [("cross-entropy", categorical), ("binary cross-entropy", binary)])
@pytest.mark.parametrize("names", [["words.weight", "below.weight", "below.bias", *ADAPTER], ADAPTER])
def test_an_adapter_counts_by_itself_and_a_tied_weight_once(name, loss, names):
    """Of half precision, in batches, frozen by ``requires_grad`` or by name, with labels that do not count.

    Public reports: Laplace 107 and BackPACK 257 (``BCEWithLogitsLoss``), Laplace 217 (a part by its gradients).
    """
    torch.manual_seed(0)
    module, (x, y), scales = Adapted().to(torch.bfloat16), torch.randint(0, V, (2, N, T)), torch.linspace(0.5, 2, V)
    y = functional.one_hot(y).double() if loss is binary else torch.where(x > 0, y, -100)
    options = {"weight_decay": DECAY, "sample_weight": scales[None, None], "loss": name}
    batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)
    found = [cc.allocate_network(module, None, batches, trainable=names.__contains__, **options)]
    for each, weight in module.named_parameters():
        weight.requires_grad_(each in names)
    found += [cc.allocate_network(module, None, x, y, method=way, **options) for way in ("dense", "dual")]
    weights = {each: weight.detach().double() for each, weight in module.named_parameters()}
    assert module.below.bias.dtype == torch.bfloat16
    f = func.functional_call(module, weights, (x,))
    metric = func.hessian(lambda f: loss(f, y, scales.double()))(f).reshape(f.numel(), f.numel())
    free = {each: weights[each] for each in names}
    tree = func.jacrev(lambda free: func.functional_call(module, {**weights, **free}, (x,)))(free)
    jacobian = torch.cat([leaf.reshape(f.numel(), -1) for leaf in tree.values()], 1)
    hessian = jacobian.T @ metric @ jacobian + DECAY * torch.eye(jacobian.shape[1])
    expected = (jacobian @ torch.linalg.inv(hessian) @ jacobian.T * metric).sum(1).reshape(f.shape).sum(-1)
    for each in found:
        assert each.per_position == pytest.approx(expected.numpy(), abs=1e-9)  # condition numbers are below 1e4
        assert each.problem.derivatives.n_params == jacobian.shape[1] and "head" not in each.layers
