"""What the stored runs of L-BFGS-B say of the two laws of paper 1, section 5.2.2."""

import numpy as np
import pytest

import capcore as cc
from chapters.recurrent import recurrent_stops
from chapters.recurrent.recurrent_lbfgs import stops
from chapters.recurrent.study import profile_shape


@pytest.fixture(scope="module")
def content():
    settings = {"n_inputs": 8, "channels": [1, 2, 4, 8], "seeds": [0, 1, 2], "max_iterations": 200}
    values = {name: stops(cc.processes.FAMILIES[name](), settings) for name in ("PowerLaw", "AR1")}
    return {"settings": settings, "values": values}


def test_the_line_is_through_medians_and_ends_with_the_first_full_model(content):
    found = recurrent_stops.loss_r2(content)
    assert list(found) == ["PowerLaw", "AR1"]
    losses = content["values"]["PowerLaw"]["losses"]
    y = np.log([sorted(losses[c])[1] for c in ("1", "2", "4")])
    assert found["PowerLaw"] == pytest.approx(np.corrcoef(np.log([2, 4, 8]), y)[0, 1] ** 2)


def test_profiles_are_those_of_the_lowest_loss(content):
    found = recurrent_stops.shapes(content, [1, 2])
    runs = content["values"]["AR1"]
    best = np.array(runs["params"]["2"][int(np.argmin(runs["losses"]["2"]))])
    profile = cc.allocate(
        lambda w: sum(w[j] * w[2 + j] ** np.arange(8) * w[4 + j] for j in range(2)), best, cc.AR1()
    ).per_input
    assert found["AR1"][2].head == profile_shape(profile).head
    assert found["AR1"][2].tail_r2 == pytest.approx(profile_shape(profile).tail_r2, abs=1e-6)
    with pytest.raises(KeyError):
        recurrent_stops.shapes(content, [16])
