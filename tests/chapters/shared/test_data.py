"""The digits against scikit-learn's own copy."""

import numpy as np
from sklearn.datasets import load_digits

from chapters.shared.data import digits


def test_every_image_is_on_one_side_with_its_label():
    data = digits()
    x, y = load_digits(return_X_y=True)
    scale = x.std()  # of all images; that of the training images is within a few per cent
    both = np.concatenate([data.x, data.x_test]).astype(float)
    labels = np.concatenate([data.y, data.y_test])
    levels = np.unique(np.round(both, 4))
    assert len(levels) == 17 and abs(np.diff(levels).mean() - 1 / scale) < 0.01 / scale
    pixels = np.rint((both - both.min()) / np.diff(levels).mean()).astype(int)
    made = sorted((*image, label) for image, label in zip(pixels.tolist(), labels.tolist(), strict=True))
    assert made == sorted((*image, label) for image, label in zip(x.astype(int).tolist(), y.tolist(), strict=True))


def test_the_split_is_fixed_balanced_and_standardised():
    data = digits()
    assert (data.x == digits().x).all()
    assert abs(data.x.mean()) < 1e-5 and abs(data.x.std() - 1) < 1e-5
    shares = np.bincount(data.y_test) / np.bincount(np.concatenate([data.y, data.y_test]))
    assert shares.min() > 0.18 and shares.max() < 0.22
