"""The chapter on measures of effective complexity with other parameters."""

FAST = {"n_epochs": 3, "n_images": 100}
VARIANTS = {
    "few images": {},
    "tanh, coarse tangents": {"activation": "tanh", "width": 8, "error": 0.3},
    "a fast rate and other seeds": {"learning_rate": 0.02, "seed": 50, "width": 16},
}
DRAWN = {**FAST, "width": 8}


def test_it_runs_with_other_parameters(values):
    assert {name.split(".")[1] for name in values} == {"05", "06", "08", "09"}
    assert values["S4.05.test"] > 10 > values["S4.05.logits_test"]  # of the stored networks, whatever is trained here
    assert values["S4.06.bound"] <= 1 and values["S4.06.line_one_layer"] == 0
    assert max(values[f"S4.08.{name}"] for name in ("closed_form", "rescaling", "forward_mode")) < 1e-10
    assert values["S4.09.structure_share"] > 0.9 > values["S4.09.other_measures"]
