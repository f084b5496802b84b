import numpy as np

from capcore.architectures import Hierarchical
from capcore.processes import PowerLaw
from chapters.gaussian_prediction.study import models_by_channels
from chapters.hierarchical.eigenvalue_counts import SETTINGS, count_models
from chapters.stored import stored


def test_a_model_that_fills_the_space_is_counted_right_and_has_no_noise():
    found = count_models({"full": Hierarchical(2, n_layers=3)}, PowerLaw())
    assert found["right"] == {"full": True}
    assert found["negative_share"] == {"full": 0.0}


def test_a_singular_optimum_is_counted_wrong():
    """AR(1): the optimum of a model with more than one channel has a lower rank than the generic one."""
    assert not count_models(models_by_channels([2], 4), PowerLaw())["families"]["AR1"]["2 channels"]


def test_the_stored_counts_are_those_of_a_run_now_but_for_rounding():
    """What rounding cannot change: full models are counted right, singular optima wrong, and signs are balanced."""
    content = stored("eigenvalue_counts")
    assert content["settings"] == SETTINGS
    kept = content["values"]
    now = count_models(models_by_channels([1, 8], 6), PowerLaw())
    assert now["right"]["8 channels"] == kept["right"]["8 channels"] is True
    for family in ("AR1", "DampedCosine"):
        assert now["families"][family]["8 channels"] == kept["families"][family]["8 channels"] is False
    assert np.isclose(now["negative_share"]["1 channel"], kept["negative_share"]["1 channel"], atol=0.15)
