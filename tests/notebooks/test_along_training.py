"""The chapter on training and every measure with other parameters, and with parameters that it must refuse."""

import pytest

NAME = "along_training"
FAST = {"n_epochs": 3, "n_images": 40, "n_lines": 80}
VARIANTS = {
    "few images": {},
    "tanh": {"activation": "tanh", "width": 5},
    "a tiny network": {"width": 2, "seed": 7},
    "another rate, two seeds": {"learning_rate": 0.02, "n_seeds": 2, "width": 4},
}


def published(notebook):
    """Key → text of what the notebook glues."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                found[name] = next(iter(output.data.values()))
    return found


@pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS)
def test_it_runs_with_other_parameters(run, parameters):
    values = published(run(NAME, **{**FAST, **parameters}))
    assert len(values) == 15 and values["along_met"] == "125"  # of the stored networks, whatever is trained


def test_its_figures_are_drawn(drawn):
    drawn(NAME, **FAST, width=3)


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("activation: found 'sigmoid', expected one of", {"activation": "sigmoid"}),
        ("width: found 0", {"width": 0}),
        ("n_images: found 1500, expected at most 360", {"n_images": 1500}),
        ("n_images: found 10, expected a whole number of at least 20", {"n_images": 10}),
        ("learning_rate: found 0.0, expected more than 0", {"learning_rate": 0.0}),
        ("n_epochs: found 0", {"n_epochs": 0}),
        ("n_seeds: found 0", {"n_seeds": 0}),
        ("n_lines: found 1, expected a whole number of at least 80", {"n_lines": 1}),
        ("seed: found -1", {"seed": -1}),
        ("epochs: not a parameter.*Did you mean 'n_epochs'", {"epochs": 5}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(NAME, message, **parameters)
