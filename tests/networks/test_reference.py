"""The listing of the reference, which a reader copies."""

import re
from pathlib import Path

import pytest

pytest.importorskip("jax")
PAGE = Path(__file__).resolve().parents[2] / "book" / "api" / "networks.md"


def test_the_listing_runs_as_it_stands(capsys):
    """Both linear and other functions take capacity: the inputs' share is less than the whole."""
    (listing,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf8"), re.DOTALL)
    names = {}
    exec(compile(listing, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.startswith("True ")
    found = names["found"]
    assert found.is_optimum and 0 < sum(found.per_subspace["inputs"].ravel()) < found.total < names["x"].shape[0]
