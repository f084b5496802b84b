"""Handwritten digits, the real data of the experiments: scikit-learn's copy of a UCI set, 1,797 images of 8 × 8."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclass(frozen=True, eq=False)
class Digits:
    """Training and test images with their labels.

    Attributes
    ----------
    x, x_test : (n, 64) array
        Pixels, row by row; mean 0 and variance 1 over all pixels of the training images.
    y, y_test : (n,) array
        int32 labels 0 … 9.
    """

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def digits(test_share: float = 0.2, dtype: type = np.float32) -> Digits:
    """The images in a fixed split, with equal shares of every digit on both sides; ``dtype`` of their pixels.

    >>> digits().x.shape, digits().x_test.shape
    ((1437, 64), (360, 64))
    """
    x, y = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x, y, test_size=test_share, random_state=0, stratify=y)
    mean, scale = x.mean(), x.std()
    x, x_test = (((pixels - mean) / scale).astype(dtype) for pixels in (x, x_test))
    return Digits(x, y.astype(np.int32), x_test, y_test.astype(np.int32))
