"""``import capcore`` is light, and gives every public name."""

import subprocess
import sys

import pytest

import capcore


def test_import_is_light():
    program = (
        "import sys, capcore; print(*{'numpy', 'scipy', 'matplotlib', 'yaml', 'tqdm', 'flint'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize("name", capcore.__all__)
def test_public_name(name):
    value = getattr(capcore, name)
    assert value.__name__ == name
    assert value.__module__.startswith(f"capcore.{capcore._HOME[name]}")


def test_all_lists_the_public_names():
    assert sorted(capcore._HOME) == sorted(capcore.__all__)
    assert set(capcore.__all__) | capcore._SUBMODULES <= set(dir(capcore))


@pytest.mark.parametrize("name", sorted(capcore._SUBMODULES))
def test_submodule(name):
    assert getattr(capcore, name).__name__ == f"capcore.{name}"


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'Hierarchic'"):
        _ = capcore.Hierarchic


def test_star_import_and_type_checker_agree():
    """The names that a type checker sees are those that exist."""
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(capcore))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module.removeprefix("capcore.")
        for node in guarded.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert seen == capcore._HOME
