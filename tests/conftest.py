"""One BLAS thread (or CAPCORE_THREADS) and reproducible property tests, whatever the machine."""

import os

THREADS = os.environ.get("CAPCORE_THREADS", "1")
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = (
        THREADS  # before NumPy is imported; spinning threads make small problems 10 to 100 times slower
    )
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest  # noqa: E402
from hypothesis import HealthCheck, Phase, settings  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

# The same examples on every run: a red build is red again. HYPOTHESIS_PROFILE=explore looks further afield,
# and "first" leaves the first example that fails as it is, for faults planted on purpose.
settings.register_profile(
    "reproducible", derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("reproducible"), derandomize=False, max_examples=500)
settings.register_profile("first", settings.get_profile("reproducible"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "reproducible"))


@pytest.fixture(autouse=True, scope="session")
def capped_blas_threads():
    """Cap the thread pools that were loaded before the environment variables could tell them."""
    with threadpool_limits(int(THREADS)):
        yield


@pytest.fixture(autouse=True, scope="module")
def usual_style():
    """A style that a file of tests sets, or what it tests, ends with the file."""
    import matplotlib

    with matplotlib.rc_context():
        yield


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    import numpy as np

    return np.random.default_rng(20240229)


@pytest.fixture
def ax():
    """An axis; its figure is drawn after the test, since nothing may fail as late as that, and closed."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    yield ax
    figure.canvas.draw()
    plt.close(figure)
