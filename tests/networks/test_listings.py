"""The listings that a reader copies, as they stand on their pages."""

import numpy as np
import pytest

from tests.listings import ROOT, cells, fenced, listing, run

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def chapter():
    """The source of each cell of the chapter."""
    return [cell.source for cell in cells("your_trained_network")]


@pytest.fixture(scope="module")
def pasted(chapter):
    """The chapter's listing, run by itself."""
    pytest.importorskip("sklearn")
    first = next(i for i, cell in enumerate(chapter) if "import jax.numpy" in cell)
    return run("\n\n\n".join(chapter[first : first + 2]))


def test_the_listing_of_the_reference(capsys):
    """Both linear and other functions take capacity: the inputs' share is less than the whole."""
    page = (ROOT / "book" / "api" / "networks.md").read_text("utf8")
    names = run(fenced([page], "found.report()"))
    found = names["found"]
    assert capsys.readouterr().out == found.report() + "\n"
    assert 0 < found.per_subspace["inputs"].sum() < found.total < len(names["x"])
    polished = run(fenced([page], "networks.polish("), dict(names))["found"]
    assert capsys.readouterr().out.startswith("True ")
    assert polished.is_optimum and polished.curvature == "full"


def test_the_chapter_s_listing_needs_nothing_else(pasted):
    assert pasted["end"].converged and pasted["found"].is_optimum
    assert len(pasted["found"].per_example) == len(pasted["x"])


def test_its_check_is_the_definition(chapter, pasted, capsys):
    """Retrained logits move as S says, up to the second order of a shift of a thousandth."""
    (check,) = (cell for cell in chapter if "found.response(shift)" in cell)
    run(check, dict(pasted))
    assert float(capsys.readouterr().out) < 0.05


def test_the_pytorch_listing(pasted, capsys):
    """A network of PyTorch's, with biases; x is in double precision, as its copy is."""
    pytest.importorskip("torch")
    names = run(listing("your_trained_network", "import torch"), {"x": pasted["x"], "y": pasted["y"]})
    assert capsys.readouterr().out.startswith("True ")
    assert np.isfinite(names["found"].total)
