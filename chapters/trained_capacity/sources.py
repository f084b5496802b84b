"""What the stacks learn: Gaussian processes as they are and warped, and a measured series."""

import numpy as np
from matplotlib.cbook import get_sample_data

from capcore.processes import DampedCosine, FractionalGaussianNoise, PowerLaw, Process, RationalQuadratic

PROCESSES: dict[str, Process] = {
    "power law": PowerLaw(),
    "fractional Gaussian noise": FractionalGaussianNoise(),
    "rational quadratic": RationalQuadratic(),
    "damped cosine": DampedCosine(),
}
WARP = 1.5  # a value v is seen as sign(v) |v|^1.5


def white(n_examples: int, n_inputs: int, rng: np.random.Generator) -> np.ndarray:
    """(N, n) normal numbers and their negatives, with exactly the covariance of independent ones.

    >>> z = white(40, 3, np.random.default_rng(0))
    >>> np.allclose(z.T @ z / 40, np.eye(3)), bool(abs(z.sum()) < 1e-12)
    (True, True)
    """
    half = rng.normal(size=(n_examples // 2, n_inputs))
    left, _, right = np.linalg.svd(np.vstack([half, -half]), full_matrices=False)
    return np.sqrt(2 * (n_examples // 2)) * left @ right


def windows(
    process: Process, task: str, n_examples: int, n_inputs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(N, n) windows of a process, lag 0 first, and the expected next value (N, 1), both of variance about one.

    task : "linear", where the windows have exactly the process's covariance, or "warped", where their values are seen
    through a power.
    """
    sizes, axes = np.linalg.eigh(process.covariance(n_inputs))
    x = white(n_examples, n_inputs, rng) @ (axes * np.sqrt(sizes)) @ axes.T
    target = (x @ process.predictor(n_inputs)[0])[:, None]
    return (x if task == "linear" else np.sign(x) * np.abs(x) ** WARP), target


def volume(n_inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows (N, n) of the logarithm of Google's daily volume of trade, standardised, and the next values (N, 1)."""
    with np.load(get_sample_data("goog.npz", asfileobj=False)) as sample:
        series = np.log(sample["price_data"]["volume"])
    series = (series - series.mean()) / series.std()
    past = np.lib.stride_tricks.sliding_window_view(series[:-1], n_inputs)[:, ::-1]
    return past.copy(), series[n_inputs:, None]
