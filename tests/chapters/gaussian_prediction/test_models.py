import pytest

from chapters.gaussian_prediction.study import models_by_channels


def test_entries_may_be_numbers_or_lists():
    models = models_by_channels([1, 4, [2, 3]], n_layers=3, kernel_size=3)
    assert [arch.channels for arch in models.values()] == [[1, 1], [4, 4], [2, 3]]
    assert list(models) == ["1 channel", "4 channels", "2, 3 channels"]
    assert {arch.n_inputs for arch in models.values()} == {27}


@pytest.mark.parametrize("channels", [4, "4", [], None])
def test_something_else_than_a_list_is_refused(channels):
    with pytest.raises(ValueError, match=r"channels: found .*expected a non-empty list such as \[1, 2, 4\]"):
        models_by_channels(channels, n_layers=3)


def test_what_no_model_can_be_made_of_is_refused():
    with pytest.raises(ValueError, match="channels: found 0"):
        models_by_channels([0], n_layers=3)
    with pytest.raises(ValueError, match="the arguments disagree"):
        models_by_channels([[2, 3]], n_layers=6)
