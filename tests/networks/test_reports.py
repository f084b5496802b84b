"""What users of Laplace, BackPACK and NNGeometry reported as not working: here it works, or is refused plainly.

Each test is named after a report, and has the network that it was about, small.
"""

import numpy as np
import pytest

import capcore as cc

torch = pytest.importorskip("torch")
nn = torch.nn
N, DECAY = 12, 0.5
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def agreed(module, x, y, **options):
    """The allocation from the examples' side, which is that of the dense route to rounding."""
    options = {"weight_decay": DECAY, "subspaces": {}, **options}
    found, dense = (cc.allocate_network(module, None, x, y, method=way, **options) for way in ("dual", "dense"))
    assert found.per_example == pytest.approx(dense.per_example, rel=0, abs=1e-9)  # condition numbers below 1e5
    left = found.leave_one_out()
    assert 0 < found.total < left.n_fitted and left.outputs.shape == (N, found.per_output.size)
    return found


@pytest.fixture(autouse=True)
def weights():
    torch.manual_seed(0)


@pytest.fixture
def images(rng):
    return rng.normal(size=(N, 3, 6, 6))


def test_a_prior_for_the_weights_and_another_for_the_biases_of_the_last_layer(rng):
    """Laplace 116. The trained body stays as it is: its parameters have no gradient."""
    module = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    module[0].requires_grad_(False)
    decay = {"2.weight": np.full((3, 6), 0.5), "2.bias": np.zeros(3)}
    x, y = rng.normal(size=(N, 4)), rng.integers(0, 3, N)
    found = agreed(module, x, y, loss="cross-entropy", weight_decay=decay)
    assert found.problem.decay.size == 21 and found.total > 2  # the biases count fully: two shifts of probabilities


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.norm = nn.LSTM(2, 4, batch_first=True), nn.BatchNorm1d(4)
        self.last, self.drop = nn.Linear(4, 1), nn.Dropout(0.3)

    def forward(self, x):
        return self.last(self.drop(self.norm(self.lstm(x)[0][:, -1]))).squeeze(dim=1)


def test_lstm_with_dropout_and_batch_normalisation_and_squeezed_outputs(rng):
    """Laplace 143."""
    agreed(Recurrent(), rng.normal(size=(N, 5, 2)), rng.normal(size=N))


def test_all_layers_of_a_residual_network(images, rng):
    """Laplace 210: batch normalisation was an unsupported layer, and a full Hessian unfeasible."""

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.inner = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
            self.norm, self.last = nn.BatchNorm2d(4), nn.Linear(4, 3)

        def forward(self, x):
            x = self.first(x)
            return self.last((x + torch.relu(self.norm(self.inner(x)))).mean((2, 3)))

    found = agreed(Residual(), images, rng.integers(0, 3, N), loss="cross-entropy")
    assert {"first", "inner", "norm", "last"} == set(found.layers)


def test_images_to_images(images):
    """Laplace 111 and 118: the last layer is a convolution."""
    module = nn.Sequential(nn.Conv2d(3, 2, 3, stride=3), nn.Tanh(), nn.Conv2d(2, 1, 1), nn.Flatten())
    agreed(module, images, images.mean(axis=(1, 2, 3))[:, None] * np.ones(4))


def test_a_last_layer_that_is_applied_at_several_positions(rng):
    """Laplace 265."""
    agreed(nn.Sequential(nn.Linear(3, 2), nn.Flatten()), rng.normal(size=(N, 4, 3)), rng.normal(size=(N, 8)))


def test_many_labels(rng):
    """Laplace 138: a last layer of thousands of labels, whose Jacobian was formed."""
    module, x, y = nn.Linear(8, 60), rng.normal(size=(N, 8)), rng.integers(0, 60, N)
    found = agreed(module, x, y, loss="cross-entropy")
    assert [len(factor.places) for factor in found.problem.derivatives.factors(found.problem.derivatives.params)] == [9]


def test_embeddings(rng):
    """NNGeometry 79: *I do not know what to do with layer Embedding*. Few of the words are in the data."""
    module = nn.Sequential(nn.Embedding(50, 4), nn.Flatten(), nn.Linear(12, 3))
    found = agreed(module, rng.integers(0, 50, (N, 3)), rng.integers(0, 3, N), loss="cross-entropy")
    assert {"0", "2"} == set(found.layers)


def test_what_would_take_terabytes_is_refused_before(rng, monkeypatch):
    """Laplace 281: videos to videos, with 7 TB asked of a card although a diagonal was wanted."""
    monkeypatch.setenv("CAPCORE_MEMORY", "1e6")
    module = nn.Sequential(nn.Linear(4, 50), nn.Tanh(), nn.Linear(50, 60))
    with pytest.raises(cc.TooLargeError, match=r"found 720 outputs on the data and 3,310 parameters, .* takes about"):
        cc.allocate_network(module, None, rng.normal(size=(N, 4)), rng.normal(size=(N, 60)), subspaces={})
