"""Tokens, adapters, tied weights and batches of PyTorch, against its own losses and derivatives."""

import pytest

import capcore as cc

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional
N, T, V, DECAY = 6, 4, 5, 0.5
ROUNDING = 1e-9
"""Condition numbers here are below 1e4, times eps and a thousand operations."""


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


@pytest.fixture
def data():
    """A module, tokens, and labels of which some do not count."""
    torch.manual_seed(0)
    x, y = torch.randint(0, V, (2, N, T))
    y[::2, 2:] = -100
    return Adapted(), x, y


def leverages(module, x, y, loss, names):
    """(N, T) leverages by PyTorch's Hessian of its own loss by the outputs, and J of the named parameters alone."""
    module, weights = module.double(), dict(module.named_parameters())
    f = module(x).detach()
    metric = torch.func.hessian(lambda f: loss(f, y))(f).reshape(f.numel(), f.numel())
    free = {name: weights[name].detach() for name in names}
    tree = torch.func.jacrev(lambda free: torch.func.functional_call(module, free, (x,)))(free)
    jacobian = torch.cat([leaf.reshape(f.numel(), -1) for leaf in tree.values()], 1)
    hessian = jacobian.T @ metric @ jacobian + DECAY * torch.eye(jacobian.shape[1], dtype=f.dtype)
    blocks = torch.einsum("ip,pq,jq,ji->i", jacobian, torch.linalg.inv(hessian), jacobian, metric)
    return blocks.reshape(f.shape).sum(-1).detach().numpy()


@pytest.mark.parametrize("method", ["dense", "dual"])
@pytest.mark.parametrize(
    "names", [["words.weight", "below.weight", "below.bias", "down.weight", "up.weight"], ["down.weight", "up.weight"]]
)
def test_an_adapter_counts_by_itself_and_a_tied_weight_once(data, method, names):
    """With class weights and ignored labels; frozen by ``requires_grad`` or by name (Laplace, issue 217)."""
    module, x, y = data
    scales = torch.linspace(0.5, 2.0, V).double()

    def loss(f, y):
        return functional.cross_entropy(f.reshape(-1, V), y.reshape(-1), weight=scales, reduction="sum")

    expected = leverages(module, x, y, loss, names)
    options = {"loss": "cross-entropy", "weight_decay": DECAY, "method": method, "sample_weight": scales[None, None]}
    by_name = cc.allocate_network(module, None, x, y, trainable=lambda name: name in names, **options)
    for name, weight in module.named_parameters():
        weight.requires_grad_(name in names)
    found = cc.allocate_network(module, None, x, y, **options)
    assert found.per_position == pytest.approx(expected, abs=ROUNDING)
    assert by_name.per_position == pytest.approx(expected, abs=ROUNDING)
    assert found.problem.derivatives.n_params == sum(dict(module.named_parameters())[name].numel() for name in names)
    assert list(found.layers) == list(dict.fromkeys(name.split(".")[0] for name in names))


def test_several_logits_have_weights_of_positive_labels(data):
    """Public wishes (Laplace, issue 107; BackPACK, 257): ``BCEWithLogitsLoss``, ``pos_weight`` as weights of terms."""
    module, x, _ = data
    y = torch.randint(0, 2, (N, T, V)).double()

    def loss(f, y):
        return functional.binary_cross_entropy_with_logits(f, y, pos_weight=torch.tensor(3.0), reduction="sum")

    options = {"loss": "binary cross-entropy", "weight_decay": DECAY, "trainable": lambda name: "below" in name}
    found = cc.allocate_network(module, None, x, y, sample_weight=1 + 2 * y, **options)
    assert found.per_position == pytest.approx(
        leverages(module, x, y, loss, ["below.weight", "below.bias"]), abs=ROUNDING
    )


def test_batches_and_half_precision_give_what_the_whole_gives(data):
    """The module keeps its type; its copy has the same weights, in double precision."""
    module, x, y = data
    module.to(torch.bfloat16)
    options = {"loss": "cross-entropy", "weight_decay": DECAY}
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)
    found = cc.allocate_network(module, None, loader, **options)
    assert {weight.dtype for weight in module.parameters()} == {torch.bfloat16}
    assert found.per_position == pytest.approx(cc.allocate_network(module.double(), None, x, y, **options).per_position)
