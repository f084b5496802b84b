"""One result of each kind and method, and whether two values agree in every bit."""

import dataclasses
from types import MappingProxyType

import numpy as np
import pytest

import capcore as cc

TASK = cc.PowerLaw()
ARCH = cc.Hierarchical(channels=2, n_layers=4)
NETWORK = np.random.default_rng(1).normal(size=(20, 3))


def linear(w, x):
    return x @ w


def same(one, other):
    """Whether two values agree in every bit and every type; functions and what holds them are compared by kind."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and (one.dtype, one.shape, one.flags.writeable) == (other.dtype, other.shape, other.flags.writeable)
            and one.tobytes() == other.tobytes()
        )
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(same(vars(one)[name], vars(other)[name]) for name in names)
    if isinstance(one, dict | MappingProxyType):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "n_params"):
        return repr(one) == repr(other) and same(one.layers, other.layers)
    if isinstance(one, float):
        return repr(float(one)) == repr(other)
    return one == other


@pytest.fixture(scope="session")
def results():
    """One of each kind and method."""
    found = {f"fit by {m}": cc.fit(ARCH, TASK, method=m) for m in ("gauss-newton", "riemannian-newton", "octaves")}
    fitted = found["fit by gauss-newton"]
    for method in ("dense", "fft", "streamed", "octaves", "sketch"):
        found[f"allocation by {method}"] = cc.allocate(ARCH, fitted, TASK, method=method)
    data = (NETWORK, NETWORK @ np.ones(3) + np.sin(9 * NETWORK[:, 0]))
    least = np.linalg.lstsq(*data)[0]
    found["network"] = cc.allocate_network(linear, least, *data)
    found["sketched network"] = cc.allocate_network(linear, least, *data, method="sketch")
    found["stopped network"] = cc.allocate_network(linear, least, *data, stopping_time=0.1)
    rng = np.random.default_rng(0)
    weights = {"fc": rng.normal(size=(30, 20)), "conv": rng.normal(size=(14, 12, 3, 3)), "head": np.ones((3, 20))}
    options = cc.spectra.SpectraOptions(kinds={"head": "linear"}, groups={"conv": 2})
    found["spectra"] = cc.analyse_spectra(weights, options)
    found["spectra of huge weights"] = cc.analyse_spectra({"fc": 1e200 * weights["fc"]})
    return found


@pytest.fixture
def file(results, tmp_path):
    results["allocation by fft"].save(tmp_path / "result.npz")
    return tmp_path / "result.npz"
