"""Every public class has a representation that fits on a line or two: nobody scrolls past an array to read a result."""

import dataclasses
import inspect
import warnings

import numpy as np
import pytest

import capcore as cc
from capcore import networks, propagation, spectra
from capcore.checkpoints import read_folder
from capcore.results.representation import LONGEST, short
from tests.checks.test_hostile import PACKAGES
from tests.hostile_rows import FITTED, ROWS, SHARED, TASK, WEIGHTS

FILES = ("lora_products", "read_folder")
LONG = np.eye(300)[150]
STEPS = cc.ConvolutionTransport.of_offsets(dict.fromkeys(range(-20, 21), 1 / 41))


def inner(value, depth=0):
    """Records that a value holds, and itself."""
    yield value
    if depth > 4 or isinstance(value, str | bytes | np.ndarray):
        return
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    for part in list(parts)[:20]:
        yield from inner(part, depth + 1)


def large():
    """Results of sizes at which arrays are long."""
    arch = cc.Hierarchical(channels=3, n_layers=9)
    fit = cc.fit(arch, TASK, method="gauss-newton", max_iterations=3)
    alloc = cc.allocate(arch, fit, TASK)
    yield from (arch, fit, fit.details, alloc, alloc.details, alloc.space, *alloc.layers.values())
    yield from (cc.Problem.of(arch, TASK), cc.FromAutocovariance(TASK.autocovariance(500)), FITTED)
    yield from (cc.AutoRegressive(np.full(300, 1e-3)), TASK.with_nugget(0.1), cc.Independent([TASK] * 3))
    yield from (cc.AR1(), cc.DampedCosine(), cc.FractionalGaussianNoise())
    yield cc.FromKernel(lambda lag: 0.5**lag)
    yield from (cc.RationalQuadratic(), cc.Monomials(3))
    yield from (cc.Function(np.sin, 300), cc.Linear(np.eye(300)), cc.Frozen(arch, fit.params, [0, 1]))
    yield cc.design(TASK, max_params=16, n_inputs=16)
    yield from (cc.NearAndPools(16, 8), cc.LogTaps(300, 9))
    yield from (STEPS, cc.MatrixTransport(np.eye(300)), cc.Layer(STEPS, skips={0: STEPS}))
    yield cc.propagate(LONG, [STEPS] * 5)
    yield cc.evolve(LONG, [cc.Segment(1.0, STEPS, source=LONG)])
    yield from (cc.Segment(1.0, STEPS, source=LONG), propagation.displacement([STEPS] * 3))
    yield cc.receptive_field(kernel_size=2, dilations=[2**l for l in range(20)])
    yield from (cc.exponential_sequence(TASK, 2**12),)
    yield cc.TangentSpace.of_kernels(arch.kernels(fit.params))
    yield from (cc.PiecewiseLinear(30), cc.Fourier(4), cc.FeatureProcess(TASK, cc.Hermite(4)))
    checkpoint = cc.read_checkpoint(WEIGHTS | {"steps": np.arange(3), "names": np.array(["a"])})
    report = cc.analyse_spectra(checkpoint, spectra.SpectraOptions())
    yield from (checkpoint, report, spectra.find_layers(checkpoint))
    yield from (spectra.spectrum_norms(SHARED.pareto(2.0, 500) + 1), spectra.SpectraOptions(), spectra.DensityOptions())
    yield spectra.gram_spectra(SHARED.normal(size=(30, 20, 20)))
    yield networks.inputs(SHARED.normal(size=(200, 20)))
    x = SHARED.normal(size=(40, 3))
    trained = cc.allocate_network(lambda w, x: x @ w, np.linalg.lstsq(x, x[:, 0])[0], x, x[:, 0])
    yield from (trained, trained.layers, trained.leave_one_out())
    yield networks.polish(lambda w, x: x @ w, np.zeros(3), x, x[:, 0])
    yield from (
        spectra.layer_densities(each, spectra.DensityOptions()) for each in spectra.find_layers(checkpoint).layers
    )


def instances(folder):
    """Public class → its instances: the large ones above, and all that the calls of ``hostile_rows`` return."""
    public = [getattr(package, name) for package in PACKAGES for name in package.__all__]
    classes = {value for value in public if inspect.isclass(value) and not issubclass(value, Exception)}
    found = {value: [] for value in classes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(folder / "weights.npz", **WEIGHTS)
        results = [*large(), read_folder(folder)]
        results += [call(**arguments) for name, (call, arguments) in ROWS.items() if name not in FILES]
        results += [value for _, arguments in ROWS.values() for value in arguments.values()]
    for value in (part for result in results for part in inner(result)):
        if type(value) in found:
            found[type(value)].append(value)
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return instances(tmp_path_factory.mktemp("weights"))


CALLS = ("Hierarchical", "Independent")
"""Shown as the call that makes them, with their lists: an ordinary one is short."""
NOT_BUILT = {"Architecture": "a protocol", "Process": "a base class"}


def test_every_public_class_is_built(built):
    missing = {kind.__name__ for kind, values in built.items() if not values}
    assert missing == set(NOT_BUILT)


def test_representations_are_short(built):
    long = {}
    for kind, values in built.items():
        texts = {repr(value) for value in values}
        bad = [text for text in texts if len(text) > LONGEST or "\n" in text]
        if bad and (kind.__name__ not in CALLS or bad == list(texts)):
            long[kind.__name__] = max(map(len, bad))
    assert long == {}, (
        f"expected at most {LONGEST} characters and one line: bind capcore.results.representation in the class"
    )


def test_what_is_shown():
    alloc = cc.allocate(cc.Hierarchical(channels=2, n_layers=3), FITTED, TASK)
    assert repr(alloc.space) == "ConstraintSpace(dimension 8 in R^8)"
    assert repr(alloc.layers["layer 1"]) == "LayerAllocation(independent=4, forward=4, backward=0, marginal=0)"
    assert repr(STEPS) == "ConvolutionTransport(weights=<1 × 41 × 1>, dilation=(1,), origin=(20,))"
    assert short({"a": np.zeros(99)}) == "<dict of 1>"
