"""WeightWatcher beside this package on the same PyTorch modules, joined by the names of layers.

WeightWatcher and PyTorch are peers outside the lock: without them the file is skipped. The numbers that it once said
about checkpoints are kept in goldens/weightwatcher.json and compared in test_weightwatcher.py.
"""

import contextlib
import importlib.util
import io
import logging

import pytest

import capcore as cc
from capcore.spectra import DensityOptions, SpectraOptions, weightwatcher_details

torch = pytest.importorskip("torch", reason="a peer outside the lock")
if importlib.util.find_spec("weightwatcher") is None:
    pytest.skip("weightwatcher is a peer outside the lock", allow_module_level=True)

SAME = 1e-9
AS_THE_TOOL = SpectraOptions(DensityOptions("pooled", divide_by="nothing", scale="weightwatcher"), alternatives=())
LIKE = {"alpha": "alpha", "D": "distance", "xmin": "x_min", "num_evals": "n", "num_pl_spikes": "n_tail"}
LIKE |= {name: name for name in ("lambda_max", "sigma", "log_alpha_norm", "stable_rank")}
LIKE |= {"alpha_weighted": "alpha_hat", "log_norm": "log_frobenius", "log_spectral_norm": "log_spectral"}
LIKE |= {"matrix_rank": "rank"}
"""Column of the tool → ours, for layers with at least 20 eigenvalues, all above 1e-5."""


def perceptron():
    """Linear layers in containers within containers."""
    inner = torch.nn.Sequential(torch.nn.Linear(64, 80), torch.nn.ReLU(), torch.nn.Linear(80, 48))
    return torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.ModuleDict({"inner": inner}), torch.nn.Linear(48, 24))


def convolutions():
    """Blocks of convolution, batch normalisation and projection, and a head."""

    def block(n_in, n_out):
        parts = {"conv": torch.nn.Conv2d(n_in, n_out, 3), "norm": torch.nn.BatchNorm2d(n_out)}
        return torch.nn.ModuleDict({**parts, "project": torch.nn.Conv2d(n_out, n_out, 1)})

    stages = torch.nn.ModuleList([block(20, 24), block(24, 36)])
    return torch.nn.ModuleDict({"stages": stages, "head": torch.nn.Linear(36, 30)})


def embedded():
    """An embedding, a normalisation and a tall and a wide layer."""
    parts = [torch.nn.Embedding(300, 32), torch.nn.LayerNorm(32), torch.nn.Linear(32, 128), torch.nn.Linear(128, 32)]
    return torch.nn.Sequential(*parts)


MODELS = [perceptron, convolutions, embedded]


def analysed(model):
    """The tool's table, by name of the layer."""
    with contextlib.redirect_stdout(io.StringIO()):
        import weightwatcher

        watcher = weightwatcher.WeightWatcher(log_level=logging.CRITICAL)
        details = watcher.analyze(model=model, savefig=False)
    return details.set_index("longname")


def reported(model):
    """Our table with the tool's conventions, by name of the layer."""
    table = cc.spectra.report(model, options=AS_THE_TOOL).details.table()
    return table.assign(layer=table["layer"].str.removesuffix(".weight")).set_index("layer")


@pytest.mark.parametrize("build", MODELS)
def test_the_report_has_the_same_layers_and_numbers(build):
    torch.manual_seed(0)
    model = build()
    theirs, ours = analysed(model), reported(model)
    assert list(theirs.index) == list(ours.index)
    gaps = {}
    for column, other in LIKE.items():
        a, b = theirs[column].astype(float), ours[other].astype(float)
        gaps[column] = ((a - b).abs() / b.abs()).max()
    print(f"{build.__name__}, {len(theirs)} layers:", ", ".join(f"{name} {gap:.0e}" for name, gap in gaps.items()))
    assert max(gaps.values()) <= SAME, gaps


@pytest.mark.parametrize("build", MODELS)
def test_the_preset_has_the_same_layers_and_numbers(build):
    torch.manual_seed(1)
    model = build()
    theirs = analysed(model)
    ours = weightwatcher_details(cc.read_checkpoint(model.state_dict())).set_index("longname")
    assert list(theirs.index) == list(ours.index)
    for column in ours.columns.intersection(theirs.columns).drop("layer_type"):  # of a module: embedding, not dense
        if column in ("status", "warning"):
            assert theirs[column].tolist() == ours[column].tolist()
        else:
            a, b = theirs[column].astype(float), ours[column].astype(float)
            assert ((a - b).abs() <= SAME * b.abs()).all(), column


def test_what_the_report_analyses_besides_and_where_the_formula_differs():
    """Recurrent and one-dimensional layers, and attention's joint projection, are not in the tool's table."""
    torch.manual_seed(2)
    parts = {"lstm": torch.nn.LSTM(24, 32), "conv": torch.nn.Conv1d(24, 32, 3), "few": torch.nn.Linear(30, 12)}
    model = torch.nn.ModuleDict({**parts, "attention": torch.nn.MultiheadAttention(32, 4)})
    theirs, ours = analysed(model), reported(model)
    besides = ["lstm.weight_ih_l0", "lstm.weight_hh_l0", "conv", "attention.in_proj_weight"]
    assert [name for name in ours.index if name not in theirs.index] == besides
    assert set(theirs.index) == {"few", "attention.out_proj"}
    assert theirs.loc["few", "num_evals"] == ours.loc["few", "n"] == 12
    assert abs(theirs.loc["few", "alpha"] - ours.loc["few", "alpha"]) > 0.1
