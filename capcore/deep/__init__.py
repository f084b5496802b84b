"""Trained networks: those that put the scaling conjecture of paper 2 to the test, models of sets, and mimicry.

Optional: JAX, optax and scikit-learn, ``pip install "capcore[deep]"``. Depth is a scan over layers, and many seeds and
learning rates train side by side (:func:`capcore.deep.training.train`).
"""

from importlib.util import find_spec

_MISSING = [name for name in ("jax", "optax", "sklearn") if find_spec(name) is None]
if _MISSING:
    raise ModuleNotFoundError(
        f'capcore.deep: found no {", ".join(_MISSING)}, expected the optional extra "deep". '
        'Install it: pip install "capcore[deep]".'
    )
