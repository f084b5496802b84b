"""JᵀWJ of linear layers, with the sum over outputs taken first, against the product of PyTorch's own Jacobian."""

import numpy as np
import pytest

from capcore import networks
from capcore.networks import outer_products
from capcore.networks.losses import to_metric
from capcore.networks.problem import NetworkProblem

torch = pytest.importorskip("torch")
nn = torch.nn
N = 30
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Both(nn.Module):
    """Two layers side by side, whose outputs are multiplied, and a skip."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.last = nn.Linear(6, 20), nn.Linear(6, 20, False), nn.Linear(20, 20)

    def forward(self, x):
        hidden = self.left(x) * torch.sigmoid(self.right(x))
        return hidden + self.last(torch.relu(hidden))


class Twice(nn.Module):
    """One layer, passed twice."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(20, 20)

    def forward(self, x):
        return self.layer(torch.tanh(self.layer(nn.functional.pad(x, (0, 14)))))


class Shifted(nn.Module):
    """A parameter that belongs to no layer."""

    def __init__(self):
        super().__init__()
        self.layer, self.shift = nn.Linear(6, 20), nn.Parameter(torch.ones(20))

    def forward(self, x):
        return self.layer(x) + self.shift


def chain(*bias):
    return nn.Sequential(nn.Linear(6, 18, bias[0]), nn.Tanh(), nn.Linear(18, 16, bias[1]), nn.ReLU(), nn.Linear(16, 12))


def frozen():
    module = chain(True, True)
    module[2].bias.requires_grad_(False)
    return module


MODULES = {"chain": lambda: chain(True, True), "without a bias": lambda: chain(False, True), "side by side": Both}
OTHERS = {
    "passed twice": Twice,
    "a parameter of no layer": Shifted,
    "one that is a constant": frozen,
    "many positions": lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Linear(3, 20), nn.Flatten(), nn.Linear(40, 20)),
    "a convolution": lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Conv1d(2, 9, 2), nn.Flatten(), nn.Linear(18, 9)),
    "one output": lambda: nn.Sequential(nn.Linear(6, 18), nn.Tanh(), nn.Linear(18, 1)),
}


def problem_of(make, loss):
    torch.manual_seed(0)
    module, rng = make().double(), np.random.default_rng(0)
    x = rng.normal(size=(N, 6))
    k = module(torch.as_tensor(x)).shape[1]
    y = rng.integers(0, k, N) if loss == "cross-entropy" else rng.normal(size=(N, k))
    problem = NetworkProblem.of(*networks.from_torch(module), x, y, loss, 0.1)
    return problem, problem.at(problem.derivatives.params)[1:]


@pytest.mark.parametrize("numbers", [1, 2**22], ids=["example by example", "all at once"])
@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
@pytest.mark.parametrize("name", MODULES)
def test_it_is_the_product_of_the_jacobian_with_itself(name, loss, numbers, monkeypatch):
    monkeypatch.setattr(outer_products, "NUMBERS", numbers)
    problem, metric = problem_of(MODULES[name], loss)
    derivatives = problem.derivatives
    scaled = to_metric(derivatives.jacobian(derivatives.params), *metric)
    expected = scaled.T @ scaled
    found = derivatives.gauss_newton(derivatives.params, *metric)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_such_sum_or_no_faster_is_left_to_the_jacobian(name):
    problem, metric = problem_of(OTHERS[name], "squared")
    assert problem.derivatives.gauss_newton(problem.derivatives.params, *metric) is None
