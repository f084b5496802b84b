"""Every public function with some thirty arguments that mean something else: a finite answer, or a clear refusal.

``ROWS`` has a row for every public name, with arguments that work. Each in turn is replaced by what a reader may hand
over by mistake. An answer is then finite and of the usual type; all else is a refusal that says what was found and what
was expected. Never NaN, never an error from deep inside, and never numbers read out of dates, text or masked values.
"""

import dataclasses
import re
import signal
import warnings
from functools import partial
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import capcore as cc
from capcore import architectures, networks, processes, propagation, spectra

PACKAGES = (cc, architectures, processes, networks, propagation, spectra)
REFUSALS = (ValueError, TypeError, FloatingPointError, FileNotFoundError, cc.TooLargeError)
SECONDS = 10  # for one call: a hang, and not a slow machine
SHARED = np.random.default_rng(0)
ARCH, TASK = cc.Hierarchical(channels=2, n_layers=3), cc.PowerLaw()
PARAMS = ARCH.init(SHARED)
FITTED = cc.fit(ARCH, TASK)
SPACE = cc.allocate(ARCH, PARAMS, TASK).space
STACK = cc.ConvolutionTransport(np.array([[[0.25], [0.5], [0.25]]]))
X, Y = SHARED.normal(size=(12, 3)), SHARED.normal(size=(12, 2))
IMAGES = SHARED.normal(size=(12, 4, 4))
TAIL = SHARED.pareto(2.0, 60) + 1
WEIGHTS = {"fc.weight": SHARED.normal(size=(20, 12)), "conv.weight": SHARED.normal(size=(14, 12, 3, 3))}
RATES = cc.ConvolutionTransport(np.array([[[0.5], [0.0], [0.5]]]))
LIMIT = propagation.LimitCoefficients(np.array([[0.5]]), np.array([0.1]))


def linear(w, x):
    return x @ w


ONE_OUTPUT = cc.allocate_network(linear, np.linalg.lstsq(X, Y[:, 0])[0], X, Y[:, 0])


def quiet(function, **fixed):
    """The function with some arguments that are not tried."""
    return partial(function, **fixed)


ROWS = {
    "AR1": (lambda **k: cc.AR1(**k).autocovariance(8), {"phi": 0.5}),
    "PowerLaw": (lambda **k: cc.PowerLaw(**k).autocovariance(8), {"exponent": 0.5}),
    "FractionalGaussianNoise": (lambda **k: cc.FractionalGaussianNoise(**k).autocovariance(8), {"hurst": 0.7}),
    "DampedCosine": (lambda **k: cc.DampedCosine(**k).autocovariance(8), {"decay": 9.0, "period": 5.0}),
    "RationalQuadratic": (lambda **k: cc.RationalQuadratic(**k).autocovariance(8), {"scale": 1.5, "alpha": 0.5}),
    "FromAutocovariance": (lambda **k: cc.FromAutocovariance(**k).autocovariance(2), {"values": np.array([1, 0.5, 0])}),
    "AutoRegressive": (
        lambda **k: cc.AutoRegressive(**k).autocovariance(4),
        {"coefficients": np.array([0.5, 0.1]), "variance": 2.0},
    ),
    "WithNugget": (lambda **k: cc.WithNugget(**k).autocovariance(4), {"process": TASK, "nugget": 0.5}),
    "Process": (lambda n: (TASK.autocovariance(n), TASK.covariance(n), TASK.predictor(n)), {"n": 4}),
    "Independent": (
        lambda **k: cc.Independent(**k).autocovariance(4),
        {"components": [TASK, TASK], "weights": np.array([1.0, 0.5])},
    ),
    "Mixed": (
        lambda **k: cc.Mixed(**k).autocovariance(4),
        {"components": [TASK, TASK], "mixing": np.array([[1.0, 0.5], [0.0, 1.0]]), "weights": np.array([1.0, 0.5])},
    ),
    "make_process": (lambda name, phi: cc.make_process(name, phi=phi), {"name": "AR1", "phi": 0.5}),
    "Hermite": (lambda count, y: cc.Hermite(count)(y), {"count": 3, "y": np.array([0.5, 2.0])}),
    "Monomials": (lambda count, y: cc.Monomials(count)(y), {"count": 3, "y": np.array([0.5, 2.0])}),
    "PiecewiseLinear": (lambda count, y: cc.PiecewiseLinear(count)(y), {"count": 3, "y": np.array([0.5, 2.0])}),
    "Fourier": (
        lambda count, period, y: cc.Fourier(count, period)(y),
        {"count": 3, "period": 8.0, "y": np.array([0.5, 2.0])},
    ),
    "make_features": (
        lambda name, count, period: cc.make_features(name, count, period=period),
        {"name": "Fourier", "count": 3, "period": 8.0},
    ),
    "FeatureProcess": (
        lambda **k: cc.FeatureProcess(**k).autocovariance(3),
        {"process": TASK, "features": cc.Hermite(2), "order": 16, "kinks": (0.5,)},
    ),
    "Hierarchical": (
        lambda channels, n_layers, kernel_size, input_dim: cc.Hierarchical(
            channels, n_layers, kernel_size, input_dim=input_dim
        ),
        {"channels": 2, "n_layers": 3, "kernel_size": 2, "input_dim": 1},
    ),
    "Hierarchical of lists": (
        cc.Hierarchical,
        {"channels": [2, 2], "kernel_size": [2, 2, 2], "dilations": [1, 2, 2]},
    ),
    "Architecture": (
        lambda params: (ARCH.jacobian(params), ARCH.coefficients(params)),
        {"params": PARAMS},
    ),
    "Recurrent": (cc.Recurrent, {"n_inputs": 8, "channels": 2}),
    "parameters of Recurrent": (
        lambda params: (cc.Recurrent(8, 2).jacobian(params), cc.Recurrent(8, 2).coefficients(params)),
        {"params": np.array([1.0, 2.0, 0.5, 0.25, 1.0, 3.0])},
    ),
    "Linear": (
        lambda basis, input_dim, params: cc.Linear(basis, input_dim).coefficients(params),
        {"basis": np.eye(4)[:, :2], "input_dim": 1, "params": np.array([1.0, 2.0])},
    ),
    "Frozen": (
        lambda params, **k: cc.Frozen(**k).jacobian(params),
        {"arch": ARCH, "values": PARAMS, "free": np.array([0, 1]), "params": np.array([1.0, 2.0])},
    ),
    "Function": (
        lambda params, **k: cc.Function(np.sin, derivative="complex-step", **k).jacobian(params),
        {"n_params": 2, "input_dim": 1, "layers": {"all": slice(0, 2)}, "params": np.array([1.0, 2.0])},
    ),
    "Problem": (
        cc.Problem,
        {"target": np.ones(2), "covariance": np.eye(2), "root": np.eye(2), "variance": 1.0},
    ),
    "ConstraintSpace": (
        lambda **k: cc.ConstraintSpace.from_columns(**k).per_input(),
        {"matrix": np.eye(4)[:, :2], "tolerance": 1e-9},
    ),
    "capacity of ConstraintSpace": (SPACE.capacity, {"subspace": np.eye(8)[:, :2]}),
    "groups of ConstraintSpace": (SPACE.per_input, {"group": 2}),
    "join": (cc.join, {"spaces": [SPACE, SPACE]}),
    "chain": (cc.chain, {"spaces": [SPACE, SPACE]}),
    "TangentSpace": (lambda kernels: cc.TangentSpace.of_kernels(kernels).dimension, {"kernels": ARCH.kernels(PARAMS)}),
    "fit": (
        quiet(cc.fit, max_iterations=2),
        {"arch": ARCH, "process": TASK, "rng": 0, "method": "gauss-newton", "start": PARAMS, "n_starts": 1},
    ),
    "options of fit": (quiet(cc.fit, arch=ARCH, process=TASK), {"max_iterations": 2}),
    "options of large fits": (
        quiet(cc.fit, arch=ARCH, process=TASK, method="riemannian-newton"),
        {"max_iterations": 2, "tolerance": 1e-8, "floor": 1e-12},
    ),
    "options of octaves": (quiet(cc.fit, arch=ARCH, process=TASK, method="octaves"), {"max_iterations": 2}),
    "allocate": (cc.allocate, {"arch": ARCH, "params": PARAMS, "process": TASK, "method": "dense"}),
    **{
        f"allocate by {method}": (
            lambda method=method, **k: cc.allocate(ARCH, process=TASK, method=method, **k).per_octave,
            {"params": PARAMS, **options},
        )
        for method, options in {
            "fft": {"memory": 1e9, "threads": 1},
            "streamed": {},
            "octaves": {},
            "sketch": {"rng": 0},
        }.items()
    },
    "allocate a function": (
        lambda **k: cc.allocate(np.square, process=TASK, derivative="complex-step", **k).per_octave,
        {"params": np.array([1.0, 2.0]), "input_dim": 1, "layers": {"all": slice(0, 2)}},
    ),
    "JacobianProducts": (
        lambda **k: cc.allocate(cc.JacobianProducts(np.eye(4).dot, np.eye(4).dot, **k), None, TASK).per_octave,
        {"n_inputs": 4, "n_params": 4, "input_dim": 1, "generic_total": 4, "width": 1},
    ),
    "exponential_sequence": (cc.exponential_sequence, {"process": TASK, "n": 64}),
    "ExponentialSequence": (
        lambda **k: cc.ExponentialSequence(**k).autocovariance(4),
        {"variance": 2.0, "weights": np.array([1.0]), "rates": np.array([0.5]), "near": np.array([1.5])},
    ),
    "estimate_process": (cc.estimate_process, {"series": SHARED.normal(size=60), "n_inputs": 4}),
    "load_series": (cc.load_series, {"path": "absent.csv", "column": "a"}),
    "load_sweep": (cc.load_sweep, {"path": "absent"}),
    "paper_metric": (lambda values: networks.paper_metric(ONE_OUTPUT, values), {"values": X}),
    "inputs": (networks.inputs, {"values": X, "groups": np.array([0, 0, 1]), "how": "whitened"}),
    "frequencies": (networks.frequencies, {"images": IMAGES, "how": "whitened"}),
    "patches": (networks.patches, {"images": IMAGES, "size": 2, "how": "whitened"}),
    "positions": (networks.positions, {"tokens": np.arange(12).reshape(6, 2) % 3, "how": "whitened"}),
    "ConvolutionTransport": (
        cc.ConvolutionTransport,
        {"weights": np.array([[[0.25], [0.5], [0.25]]]), "dilation": 1, "origin": 1},
    ),
    "MatrixTransport": (cc.MatrixTransport, {"weights": np.array([[0.5, 0.5], [0.5, 0.5]]), "shape": (2,)}),
    "Layer": (
        lambda **k: cc.propagate(np.eye(8)[0], [cc.Layer(**k)], conserve=False).input,
        {"transport": STACK, "side": 0.1, "bias": 0.1, "skips": {}},
    ),
    "propagate": (
        cc.propagate,
        {"output": np.eye(8)[0], "layers": [STACK, STACK], "boundary": "periodic", "sources": {1: np.eye(8)[1]}},
    ),
    "propagate_equal": (
        cc.propagate_equal,
        {"output": np.eye(8)[0], "transport": STACK, "n_layers": 3, "boundary": "periodic"},
    ),
    "evolve": (
        lambda initial, boundary, **k: cc.evolve(initial, [propagation.Segment(**k)], boundary),
        {"initial": np.eye(8)[0], "boundary": "periodic", "duration": 2.0, "generator": RATES, "leak": 0.1},
    ),
    "source of evolve": (
        lambda source: cc.evolve(np.eye(8)[0], [propagation.Segment(1.0, LIMIT, source=source)]),
        {"source": np.eye(8)[1]},
    ),
    "LimitCoefficients": (
        propagation.LimitCoefficients,
        {"diffusion": np.array([[0.5]]), "drift": np.array([0.1]), "leak": 0.1},
    ),
    "dilated_diffusion": (propagation.dilated_diffusion, {"rate": 0.5, "dilation_ratio": 2.0, "n_layers": 3}),
    "displacement": (propagation.displacement, {"layers": [STACK, STACK]}),
    "forgetting": (propagation.forgetting, {"alpha": 0.1, "n_steps": 3}),
    "heat_kernel": (propagation.heat_kernel, {"x": np.array([0.5, 1.0]), "t": 1.0, "coefficients": LIMIT}),
    "source_kernel": (propagation.source_kernel, {"x": np.array([0.5, 1.0]), "t": 1.0, "diffusion": 0.5}),
    "nearest_neighbour_law": (propagation.nearest_neighbour_law, {"x": np.array([0, 1]), "right": 0.5, "left": 0.3}),
    "lumped": (propagation.lumped, {"transport": STACK, "tolerance": 1e-12}),
    "normalised_rates": (propagation.normalised_rates, {"shape": STACK, "total": 0.5}),
    "residual": (propagation.residual, {"rates": STACK, "n_layers": 3}),
    "mean_chi_square": (
        propagation.mean_chi_square,
        {"samples": SHARED.normal(size=(20, 2)), "expected": np.zeros(2)},
    ),
    "signed_operator": (
        propagation.signed_operator,
        {"kernel": np.array([[[0.5], [-0.5]]]), "above": (4, 1), "dilation": 1, "origin": 0, "boundary": "periodic"},
    ),
    "squared_gradients": (
        propagation.squared_gradients,
        {"weights": [np.eye(3)], "output": 1, "n_samples": 4, "rng": np.random.default_rng(0)},
    ),
    "scaling_relations": (cc.scaling_relations, {"ndim": 2}),
    "fit_power_law": (
        cc.fit_power_law,
        {"eigenvalues": TAIL, "x_min": 1.5, "x_max": 50.0, "min_tail": 3, "threshold": 1e-9},
    ),
    "fit_power_laws": (spectra.fit_power_laws, {"spectra": [TAIL, TAIL], "x_min": 1.5}),
    "bootstrap_power_law": (
        lambda **k: spectra.bootstrap_power_law(rng=np.random.default_rng(0), **k),
        {"eigenvalues": TAIL, "n_resamples": 3, "confidence": 0.9, "x_min": 1.5, "min_tail": 3, "threshold": 1e-9},
    ),
    "goodness_of_fit": (
        lambda **k: spectra.goodness_of_fit(rng=np.random.default_rng(0), **k),
        {"eigenvalues": TAIL, "n_simulations": 3, "x_min": 1.5, "min_tail": 3, "threshold": 1e-9},
    ),
    "compare_tails": (
        spectra.compare_tails,
        {"eigenvalues": TAIL, "fit": cc.fit_power_law(TAIL), "level": 0.1, "alternatives": ["exponential"]},
    ),
    "hill_table": (spectra.hill_table, {"eigenvalues": TAIL, "threshold": 1e-9}),
    "spectrum_norms": (spectra.spectrum_norms, {"eigenvalues": TAIL, "threshold": 1e-9}),
    "log_alpha_norm": (spectra.log_alpha_norm, {"eigenvalues": TAIL, "alpha": 2.5, "threshold": 1e-9}),
    "fit_bulk": (spectra.fit_bulk, {"eigenvalues": TAIL, "shape": (60, 90), "divisor": 90.0, "level": 0.9}),
    "bulk_edges": (spectra.bulk_edges, {"ratio": 0.5, "sigma": 1.0}),
    "bulk_density": (spectra.bulk_density, {"values": np.array([0.5, 1.0]), "ratio": 0.5, "sigma": 1.0}),
    "bulk_distribution": (spectra.bulk_distribution, {"values": np.array([0.5, 1.0]), "ratio": 0.5, "sigma": 1.0}),
    "bulk_quantiles": (spectra.bulk_quantiles, {"probabilities": np.array([0.5, 0.9]), "ratio": 0.5, "sigma": 1.0}),
    "gram_spectra": (spectra.gram_spectra, {"matrices": WEIGHTS["fc.weight"][None]}),
    "large_singular_values": (spectra.large_singular_values, {"matrix": WEIGHTS["fc.weight"], "width": 4}),
    "operator_spectra": (
        spectra.operator_spectra,
        {"weights": WEIGHTS["conv.weight"], "grid": 4, "stride": 1, "dilation": 1},
    ),
    "slices": (spectra.slices, {"weights": WEIGHTS["conv.weight"]}),
    "unfolded": (spectra.unfolded, {"weights": WEIGHTS["conv.weight"]}),
    "layer_generator": (
        lambda **k: spectra.layer_generator(**k).integers(9),
        {"seed": 0, "name": "fc", "purpose": "null", "draw": 0},
    ),
    "null_weights": (
        spectra.null_weights,
        {"weights": WEIGHTS["fc.weight"], "null": "gaussian", "seed": 0, "name": "fc", "draw": 0},
    ),
    "DensityOptions": (
        spectra.DensityOptions,
        {"arrangement": "slices", "scale": 1.0, "seed": 0, "draw": 0, "minimum": 10, "maximum": 99},
    ),
    "SpectraOptions": (
        spectra.SpectraOptions,
        {"x_min": 1.0, "tail_share": None, "x_max": 9.0, "min_tail": 3, "threshold": 1e-9, "layout": "channels-first"},
    ),
    "read_checkpoint": (cc.read_checkpoint, {"source": WEIGHTS, "key": None, "non_finite": "refuse"}),
    "of_arrays": (spectra.of_arrays, {"source": WEIGHTS}),
    "arrays of a checkpoint": (lambda weights: cc.read_checkpoint({"w": weights}), {"weights": WEIGHTS["fc.weight"]}),
    "analyse_spectra": (cc.analyse_spectra, {"source": {"fc.weight": WEIGHTS["fc.weight"]}, "options": None}),
    "weights of analyse_spectra": (
        lambda weights: cc.analyse_spectra({"fc.weight": weights}),
        {"weights": WEIGHTS["fc.weight"]},
    ),
    "analyse_checkpoint": (spectra.analyse_checkpoint, {"checkpoint": cc.read_checkpoint(WEIGHTS), "options": None}),
    "compare_spectra": (cc.compare_spectra, {"reports": [cc.analyse_spectra(WEIGHTS)]}),
    "find_layers": (
        spectra.find_layers,
        {"checkpoint": cc.read_checkpoint(WEIGHTS), "groups": {"conv*": 1}, "layout": "channels-first"},
    ),
    "lora_products": (spectra.lora_products, {"adapter": "x"}),
    "read_folder": (spectra.read_folder, {"path": "absent", "non_finite": "refuse"}),
    "weightwatcher_details": (spectra.weightwatcher_details, {"checkpoint": WEIGHTS, "workers": 1}),
}
"""Public name → what is called, and arguments with which it works; names of more words are further rows."""
RETURNED = {
    *("Allocation", "CapacityWarning", "CheckpointError", "Fit", "LayerAllocation", "NetworkAllocation"),
    *("TooLargeError", "Capacities", "Functions", "Interactions", "NetworkLayer", "Polished", "ChiSquare"),
    *("Displacement", "Evolution", "NoSymbolError", "NotStochasticError", "Propagation", "ScalingRelation"),
    *("ScalingTable", "BootstrapInterval", "BulkFit", "Checkpoint", "Densities", "Density", "Folder", "GoodnessOfFit"),
    *("GramSpectra", "HillTable", "Layers", "LikelihoodRatio", "ModelMetrics", "Norms", "PowerLawFit"),
    *("SingularValues", "Skipped", "Source", "SpectraReport", "SpectrumMetrics", "Tensor", "layer_densities"),
    *("model_metrics", "weightwatcher_summary", "check_positive_definite"),
}
"""Records that functions above return, what they raise, and functions of such records alone."""
ELSEWHERE = ["linearised_torch", "from_torch", "linearised_jax", "allocate_network", "polish", "interactions"]
"""Calls that compile take seconds: the arguments of :func:`test_networks` alone are tried. And there is no PyTorch."""


def public_names():
    found = {name: getattr(package, name) for package in PACKAGES for name in package.__all__}
    return {name for name, value in found.items() if callable(value) and not isinstance(value, ModuleType)}


def test_every_public_name_has_a_row():
    rows = [name for name in ROWS if " " not in name]
    assert sorted([*rows, "Segment", *RETURNED, *ELSEWHERE]) == sorted(public_names())


def objects(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def dated(values, kind):
    return np.round(np.asarray(values)).astype(int).astype(kind)


ANY = {
    "None": lambda _: None,
    "NaN": lambda _: np.nan,
    "infinity": lambda _: np.inf,
    "minus infinity": lambda _: -np.inf,
    "minus one": lambda _: -1,
    "zero": lambda _: 0,
    "a half": lambda _: 0.5,
    "a number of 400 digits": lambda _: 10**400,
    "1e300": lambda _: 1e300,
    "1e-300": lambda _: 1e-300,
    "a million million": lambda _: 10**12,
    "text": lambda _: "text",
    "digits": lambda _: "3",
    "bytes": lambda _: b"3",
    "True": lambda _: True,
    "a complex number": lambda _: 1j,
    "an empty list": lambda _: [],
    "an empty array": lambda _: np.zeros((0, 3)),
    "a ragged list": lambda _: [[1.0], [1.0, 2.0]],
    "a list of None": lambda _: [None, None],
    "objects": lambda _: objects(1.0, object()),
    "a dictionary": lambda _: {"a": 1.0},
    "a set": lambda _: {1.0},
    "a generator": lambda _: (i for i in range(3)),
    "a function": lambda _: len,
    "a class": lambda _: dict,
    "a module": lambda _: np,
    "a date": lambda _: np.datetime64("2026-01-01"),
    "a duration": lambda _: np.timedelta64(3, "s"),
    "a masked number": lambda _: np.ma.masked,
    "NA": lambda _: pd.NA,
    "a table": lambda _: pd.DataFrame({"a": ["x"]}),
}
"""In place of any argument: an answer or a refusal."""
ARRAYS = {
    "one of them NaN": lambda v: np.where(np.arange(v.size).reshape(v.shape) == v.size - 1, np.nan, v),
    "one of them infinite": lambda v: np.where(np.arange(v.size).reshape(v.shape) == 0, np.inf, v),
    "one of them None": lambda v: objects(None, *v.ravel()[1:]).reshape(v.shape),
    "one of them NA": lambda v: objects(pd.NA, *v.ravel()[1:]).reshape(v.shape),
    "one of them masked": lambda v: np.ma.array(v, mask=np.arange(v.size).reshape(v.shape) == 0),
    "dates": lambda v: dated(v, "M8[D]"),
    "durations": lambda v: dated(v, "m8[s]"),
    "records": lambda v: np.asarray(v).astype([("a", float)]),
    "digits as text": lambda v: np.asarray(v).astype(str),
    "digits as objects": lambda v: objects(*map(str, v.ravel())).reshape(v.shape),
    "digits as bytes": lambda v: np.asarray(v).astype("S"),
    "booleans": lambda v: v > np.median(v),
    "complex numbers": lambda v: v + 1j,
    "sparse": lambda v: sparse.coo_array(np.atleast_2d(v.reshape(len(v), -1))),
}
"""In place of an array of numbers: refused."""
SCALED = {"times 1e300": lambda v: v * 1e300, "times 1e-300": lambda v: v * 1e-300, "zeros": np.zeros_like}
SCALED |= {"a dimension more": lambda v: v[None], "no dimension": lambda v: v.ravel()[0]}
"""In place of an array of numbers: an answer or a refusal."""
SAME = {
    "a list": lambda v: v.tolist(),
    "a masked array without a mask": np.ma.array,
    "objects that are numbers": lambda v: v.astype(object),
    "in the other order": np.asfortranarray,
    "unwritable": lambda v: np.frombuffer(np.ascontiguousarray(v).tobytes(), v.dtype).reshape(v.shape),
}
"""In place of an array of numbers: means the same."""
NUMBERS = {
    "an array without dimensions": np.array,
    "an array of one element": lambda v: np.array([v]),
    "a series of one element": lambda v: pd.Series([v]),
    "a NumPy number": lambda v: np.array(v)[()],
}
"""In place of a number: means the same."""
ENORMOUS = ("a number of 400 digits", "a million million")
AMOUNTS_OF_WORK = ("n_starts", "n_samples", "n_simulations", "n_resamples", "max_iterations")
NO_NUMBERS = ("text", "digits", "bytes", "True", "a complex number", "NaN", "a date", "a duration", "a masked number")
FILES = ("load_series", "load_sweep", "lora_products", "read_folder")
"""What they are given is not there: only refusals are seen."""
NAMED = ("arrays of a checkpoint", "weights of analyse_spectra")
"""What is no array of real numbers is not refused: it is listed, with the reason why it is not read."""
UNDEFINED = ("log_alpha_norm", "bulk_edges", "bulk_density", "bulk_distribution", "bulk_quantiles", "SpectraOptions")
"""Of a point or a parameter that is not finite they give NaN or an end of the law: reports hold NaN where a fit failed,
and pass it on; a threshold is refused where it is used."""
NOT_FINITE = ("None", "NaN", "infinity", "minus infinity", "1e300", "a list of None", "a number of 400 digits")
NOT_FINITE += ("one of them NaN", "one of them infinite", "one of them None")
EXCEPTIONS = {
    ("MatrixTransport weights", "sparse"): "sparse matrices are what it is for",
    ("gram_spectra matrices", "complex numbers"): "the Fourier transform of a kernel is complex",
    ("allocate arch", "a class"): "it can be called, and its own error is shown",
    ("Hierarchical channels", "an array of one element"): "the channels of one hidden layer",
    ("Hierarchical kernel_size", "an array of one element"): "the taps of one layer",
    ("analyse_spectra source", "objects"): "of no type that could be hashed",
    **{(f"{row} weights", "objects that are numbers"): "of no type that could be hashed" for row in NAMED},
    ("operator_spectra dilation", "a number of 400 digits"): "of no size that NumPy knows",
    **{
        (f"{name} weights", f"one of them {what}"): "it only arranges them anew"
        for name in ("slices", "unfolded")
        for what in ("NaN", "infinite", "None")
    },
}


def finite(found, depth=0):
    """Whether there is no NaN and no infinity in an answer."""
    if isinstance(found, np.ndarray | np.generic | float | complex):
        array = np.asarray(found)
        return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
    if depth > 4:
        return True
    if isinstance(found, spectra.SpectraReport):  # what was not asked for is NaN, as the fields' texts say
        return all(np.isfinite(row.alpha) or row.reason for row in found.spectra)
    if isinstance(found, spectra.PowerLawFit) and not found.ok:
        return bool(found.reason)
    if isinstance(found, dict):
        return all(finite(value, depth + 1) for value in found.values())
    if isinstance(found, list | tuple):
        return all(finite(value, depth + 1) for value in found)
    if dataclasses.is_dataclass(found):
        return all(finite(getattr(found, field.name), depth + 1) for field in dataclasses.fields(found))
    return True


def equal(found, expected):
    if isinstance(expected, dict | list | tuple):
        if len(found) != len(expected):
            return False
        pairs = (
            zip(found.values(), expected.values(), strict=True)
            if isinstance(expected, dict)
            else zip(found, expected, strict=True)
        )
        return all(equal(*pair) for pair in pairs)
    if isinstance(expected, np.ndarray | float | int):
        return bool(np.allclose(found, expected, rtol=1e-6, atol=1e-9, equal_nan=True))
    if dataclasses.is_dataclass(expected):
        names = [field.name for field in dataclasses.fields(expected)]
        return all(equal(getattr(found, name), getattr(expected, name)) for name in names)
    return type(found) is type(expected)


def outcome(function, arguments):
    """What comes of a call: the answer, or the error."""

    def expired(*_):
        raise AssertionError("hangs")

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(SECONDS)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(**arguments)
    except Exception as error:
        return error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def complaint(found, usual, trial=""):
    """What is wrong with an outcome: empty for a clear refusal, or a finite answer of the usual type."""
    if isinstance(found, Exception):
        if (trial in ENORMOUS and isinstance(found, (MemoryError, OverflowError))) or (
            re.search("Maximum allowed|inhomogeneous", str(found))
        ):
            return ""  # Python or NumPy say at once that there is no such size
        said = str(found)
        clear = re.search("[Ff]ound|disagree|not given|cannot", said)
        clear = clear and re.search("[Ee]xpected|[Rr]escale|Scale|Check", said)
        return "" if isinstance(found, REFUSALS) and clear else f"{type(found).__name__}: {said[:150]}"
    if isinstance(usual, np.ndarray) and isinstance(found, np.floating):
        found = np.asarray(found)
    if not isinstance(found, type(usual)) and not isinstance(usual, Exception):
        return f"a {type(found).__name__}"
    return "" if finite(found) else f"not finite: {str(found)[:80]}"


def trials(value):
    """Name, replacement and whether it has to be refused (True), means the same (None), or may be either."""
    array = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    for name, change in ANY.items():
        yield name, change(value), (array or number) and name in NO_NUMBERS
    for table, rule in ((ARRAYS, True), (SCALED, False), (SAME, None)) if array else ():
        yield from ((name, change(value), rule) for name, change in table.items())
    for name, change in NUMBERS.items() if number else ():
        yield name, change(value), None


@pytest.mark.parametrize("row", ROWS)
def test_an_answer_or_a_refusal(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, arguments = ROWS[row]
    usual = outcome(function, arguments)
    assert row in FILES or not isinstance(usual, Exception), usual
    wrong = []
    for name, value in arguments.items():
        for trial, replacement, refused in trials(value):
            if (trial in ENORMOUS and name in AMOUNTS_OF_WORK) or (trial in NOT_FINITE and row in UNDEFINED):
                continue
            found = outcome(function, {**arguments, name: replacement})
            said = complaint(found, usual, trial)
            if (f"{row} {name}", trial) in EXCEPTIONS or (refused and row in NAMED):
                continue
            if refused and not isinstance(found, Exception):
                said = said or f"read as numbers: {str(found)[:60]}"
            elif refused is None and not said and (isinstance(found, Exception) or not equal(found, usual)):
                said = f"not the same: {str(found)[:150]}"
            if said:
                wrong.append(f"{name} = {trial}: {said}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["inputs", "targets", "params", "weight_decay"])
def test_networks(name):
    arguments = {"params": np.linalg.lstsq(X, Y)[0], "inputs": X, "targets": Y, "weight_decay": np.full((3, 2), 0.1)}
    for trial, replacement, refused in trials(arguments[name]):
        if refused or trial == "times 1e300":
            found = outcome(partial(cc.allocate_network, linear), arguments | {name: replacement})
            read = (name, trial) == ("inputs", "booleans")
            assert read or (isinstance(found, Exception) and not complaint(found, None)), f"{trial}: {found!r}"


WRONG_OPTIONS = [{"tolerance": np.nan}, {"tolerance": True}, {"subspaces": 3}, {"max_steps": 0.5}, {"weight_decay": {}}]
WRONG_OPTIONS += [{"weight_decay": ANY[each](None)} for each in ("None", "NaN", "text", "True", "a function", "a set")]
WRONG_OPTIONS += [{"layers": ANY[each](None)} for each in ("zero", "text", "True", "an empty list", "a dictionary")]


@pytest.mark.parametrize("change", WRONG_OPTIONS, ids=str)
def test_options_of_networks(change):
    found = outcome(partial(cc.allocate_network, linear, np.zeros((3, 2)), X, Y), change)
    assert isinstance(found, Exception) and not complaint(found, None), found
