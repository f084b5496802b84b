"""Names: the public ones, imported on first use; what a misspelt one may mean; libraries that may not be there."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

import lazy_loader


def meant(value: object, known: Iterable[str]) -> str:
    """A question about the closest of the known names; empty where none is close.

    >>> meant("Hierarchicl", ["Hierarchical", "Recurrent"])
    " Did you mean 'Hierarchical'?"
    """
    close = get_close_matches(str(value), known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def lazily(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, whose stub says where its names are defined."""
    load, listed, names = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        if name in names:
            return load(name)
        raise AttributeError(f"{package}: found no attribute {name!r}, expected a public name.{meant(name, names)}")

    return get, listed, names


EXTRAS = {"matplotlib": "plot", "pandas": "series", "jax": "jax", "torch": "torch"}
EXTRAS |= dict.fromkeys(("pyarrow", "onnx", "gguf", "h5py"), "files")
"""Optional library → the extra of the package that brings it."""


def absent(name: str) -> str:
    """How to get an optional library; empty where it is installed."""
    extra = f", or capcore with its extra [{EXTRAS[name]}]" if name in EXTRAS else ""
    said = f"{name}: found no such library, an optional one. Install it: pip install {name}{extra}"
    return "" if find_spec(name) else said
