"""Slices of the networks that learn digits: the plane through three images, cut into its linear regions."""

from __future__ import annotations

import numpy as np

from capcore.complexity import Network, SlicePartition, partition_slice
from chapters.linear_regions.region_training import setting


def three_images() -> np.ndarray:
    """(3, 64) the first training images of a 0, a 1 and a 4."""
    at = setting()
    return np.array([at.x[np.flatnonzero(at.y == digit)[0]] for digit in (0, 1, 4)])


def plane_through(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(3, d) the middle of three images and two orthonormal directions of their plane, and their places (3, 2)."""
    middle = images.mean(axis=0)
    directions = np.linalg.qr((images[1:] - images[0]).T)[0].T
    return np.vstack([middle, directions]), (images - middle) @ directions.T


def slice_of(network: Network, plane: np.ndarray, places: np.ndarray, margin: float = 1.4) -> SlicePartition:
    """The polygons of a square on the plane that holds the places (3, 2), ``margin`` times as wide as it must be."""
    half = margin * float(np.abs(places).max())
    square = half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return partition_slice(network, plane[0], plane[1], plane[2], square)


def mean_angle_share() -> float:
    """Mean over the segments of θ/π, θ the angle between the images at their ends as seen from the origin."""
    lines = setting().lines
    first, last = lines.coefficients[:, 0], lines.coefficients.sum(axis=1)
    cosine = np.sum(first * last, axis=1) / np.linalg.norm(first, axis=1) / np.linalg.norm(last, axis=1)
    return float(np.arccos(cosine).mean() / np.pi)
