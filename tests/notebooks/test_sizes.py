"""Sizes that could not fit into memory, in every notebook: one line, before anything is allocated."""

import ast

import nbformat
import pytest

from capcore.memory import TooLargeError
from chapters import sizes as notebook_sizes
from chapters import start as notebook
from tests.notebooks.conftest import NOTEBOOKS

NO_SIZE = frozenset(
    "compared drawn_layers epochs kernel_size law_channels max_iterations more_threads "  # noqa: SIM905
    "n_blocks seed spreads target threads".split()
)
"""Whole numbers, or lists of them, that multiply time at most, or that another parameter bounds."""
SIZES = (
    notebook_sizes.WIDTHS
    | notebook_sizes.DEPTHS
    | notebook_sizes.POWERS
    | notebook_sizes.SQUARES
    | notebook_sizes.COUNTS
)


def defaults(path):
    """Parameter → default of a notebook."""
    (cell,) = (c for c in nbformat.read(path, as_version=4).cells if "parameters" in c.metadata.get("tags", []))
    statements = ast.parse(cell.source).body
    return {
        each.target.id: ast.literal_eval(ast.unparse(each.value).replace("2 ** 20", "1048576")) for each in statements
    }


PARAMETERS = {path.stem: defaults(path) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}


def is_counted(value):
    whole = lambda x: isinstance(x, int) and not isinstance(x, bool)  # noqa: E731
    return whole(value) or (isinstance(value, list) and any(map(whole, value)))


def test_every_whole_number_is_a_size_or_none():
    found = {name for values in PARAMETERS.values() for name, value in values.items() if is_counted(value)}
    assert found - SIZES <= NO_SIZE, "a new parameter: say in chapters.sizes what it counts, or add it here"
    assert not NO_SIZE & SIZES
    assert found >= NO_SIZE, "no notebook has these any more"


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_small_machine_takes_the_parameters_as_they_stand(name, monkeypatch):
    monkeypatch.setenv("CAPCORE_MEMORY", "1e9")
    notebook_sizes.check_sizes(PARAMETERS[name])


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        (name, parameter)
        for name, values in PARAMETERS.items()
        for parameter, value in values.items()
        if parameter in SIZES and is_counted(value)
    ],
)
def test_every_size_is_refused_beyond_the_memory(name, parameter):
    size = 60 if parameter in notebook_sizes.POWERS and "width" not in PARAMETERS[name] else 10**13
    value = [size] if isinstance(PARAMETERS[name][parameter], list) else size
    with pytest.raises(TooLargeError, match=f"^{parameter}: found {size}.*expected at most"):
        notebook_sizes.check_sizes(PARAMETERS[name] | {parameter: value})


@pytest.mark.parametrize("value", [0, -3, 2.5, "many", None, True, [], ["a"], {}])
def test_what_is_no_size_is_left_to_the_notebooks_own_checks(value):
    notebook_sizes.check_sizes({"channels": value, "width": value, "n_layers": value, "kernel_size": value})


def test_the_start_of_a_notebook_says_it_in_one_line():
    with pytest.raises(notebook.ParameterError, match="channels: found 1000000, which takes about 64 TB") as caught:
        notebook.start({"channels": 10**6}, "channels")
    assert "\n" not in str(caught.value) and caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("hierarchical_layers", {"channels": 1_000_000}),
        ("audio_scale", {"channels": 1_000_000}),
        ("linear_systems", {"n_layers": 40}),
        ("linear_systems", {"n_layers": 21}),  # starts, but for the covariance
        ("hierarchical", {"large": 1_000_000}),
        ("multidimensional", {"channels": [1, 1_000_000]}),
        ("recurrent", {"n_inputs": 10_000_000}),
        ("linear_regions", {"width": 1_000_000}),
        ("scaling_conjecture", {"width": 1_000_000}),
        ("mimicry", {"teacher_width": 1_000_000}),
    ],
)
def test_it_is_refused_in_one_line(refused, name, parameters):
    refused(name, r"found .*, which takes about .* of memory, expected at most .* here\.", **parameters)
