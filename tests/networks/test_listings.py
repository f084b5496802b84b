"""The listings that a reader copies, as they stand on their pages."""

import numpy as np
import pytest

import capcore as cc
from tests.listings import ROOT, fenced, listing, run

pytest.importorskip("jax")


@pytest.fixture
def names():
    """What the chapter's cells leave before the listings that its text shows, for fewer images."""
    x, y = pytest.importorskip("sklearn.datasets").load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    first = {
        "hidden": rng.normal(size=(64, 6)) / 8,
        "bias": np.zeros(6),
        "out": rng.normal(size=(6, 10)) / 3,
        "shift": np.zeros(10),
    }
    options = {"loss": "cross-entropy", "weight_decay": 1.0}
    return {"x": x[:150] / 16, "y": y[:150], "first": first, "options": options, "np": np, "cc": cc}


def test_the_listing_of_the_reference(capsys):
    """Both linear and other functions take capacity: the inputs' share is less than the whole."""
    page = (ROOT / "book" / "api" / "prose" / "networks.md").read_text("utf8")
    names = run(fenced([page], "found.report()"))
    found = names["found"]
    assert capsys.readouterr().out == found.report() + "\n"
    assert 0 < found.per_subspace["inputs"].sum() < found.total < len(names["x"])
    polished = run(fenced([page], "networks.polish("), dict(names))["found"]
    assert capsys.readouterr().out.startswith("True ")
    assert polished.is_optimum and polished.curvature == "full"


def test_the_expert_s_listing_is_the_definition(names, capsys):
    """Retrained logits move as S says, up to the second order of a shift of a thousandth."""
    run(listing("your_trained_network", "polished.response(shift)"), names)
    converged, difference = capsys.readouterr().out.split()
    assert converged == "True" and float(difference) < 0.05
    assert names["polished"].is_optimum and len(names["polished"].per_example) == len(names["x"])


def test_the_pytorch_listing(names, capsys, tmp_path, monkeypatch):
    """From a checkpoint to a report, with AdamW's decay for each weight."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    names = run(listing("your_trained_network", "import torch"), names)
    assert capsys.readouterr().out.split(" ")[1:4] == ["of", "760", "parameters"]
    assert set(names["decays"]) == set(names["weights"]) and 0 < names["of_module"].total < 760
