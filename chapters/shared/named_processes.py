"""Seven processes to design for: memories without a scale, a single rhythm, several, and one that is very smooth."""

import numpy as np

import capcore as cc

LAGS = 1025  # of the sequences that are written out: for 1,024 inputs


def seasons() -> cc.Process:
    """Two seasons of periods 48 and 7, a power law and white noise."""
    lags = np.arange(LAGS)
    values = 0.45 * _rhythm(lags, 1 / 48, 2000) + 0.25 * _rhythm(lags, 1 / 7, 300) + 0.2 * (1 + lags) ** -0.5
    return cc.FromAutocovariance(values + 0.1 * (lags == 0))


def music() -> cc.Process:
    """Two tones that die away, a slow rhythm of period 96, a power law and white noise: as music, in brief."""
    lags = np.arange(LAGS)
    values = 0.35 * _rhythm(lags, 0.11, 60) + 0.2 * _rhythm(lags, 0.23, 25) + 0.3 * _rhythm(lags, 1 / 96, 900)
    return cc.FromAutocovariance(values + 0.1 * (1 + lags) ** -0.4 + 0.05 * (lags == 0))


def _rhythm(lags: np.ndarray, frequency: float, decay: float) -> np.ndarray:
    return np.cos(2 * np.pi * frequency * lags) * np.exp(-lags / decay)


def named() -> dict[str, cc.Process]:
    """Name → process.

    >>> len(named()), float(named()["music-like"].autocovariance(1)[0])
    (7, 1.0)
    """
    return {
        "power law, exponent 0.5": cc.PowerLaw(0.5),
        "power law, exponent 0.25": cc.PowerLaw(0.25),
        "fractional noise, H = 0.9": cc.FractionalGaussianNoise(0.9),
        "damped cosine": cc.DampedCosine(),
        "rational quadratic": cc.RationalQuadratic(),
        "two seasons": seasons(),
        "music-like": music(),
    }
