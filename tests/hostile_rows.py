"""What :mod:`tests.checks.test_hostile` calls: a row for every public name, with arguments that work."""

from dataclasses import fields
from functools import partial

import numpy as np

import capcore as cc
from capcore import checkpoints, networks, propagation, spectra
from capcore.architectures.trees import ravelled
from capcore.networks.losses import losses_of
from capcore.processes.families import REGISTRY

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


def quiet(function, **fixed):
    """The function with some arguments that are not tried."""
    return partial(function, **fixed)


ROWS = {
    "FromAutocovariance": (lambda **k: cc.FromAutocovariance(**k).autocovariance(2), {"values": np.array([1, 0.5, 0])}),
    "FromKernel": (lambda **k: cc.FromKernel(**k).autocovariance(4), {"kernel": lambda lag: 0.5**lag, "spacing": 1.0}),
    "FromCovariance": (
        cc.FromCovariance,
        {"covariance": np.eye(3) + 0.5, "cross": np.array([0.5, 0.2, 0.1]), "variance": 1.0, "nugget": 0.1},
    ),
    "target of FromCovariance": (
        lambda target: cc.FromCovariance(np.eye(3) + 0.5, target=target),
        {"target": np.array([0.5, 0.2, 0.1])},
    ),
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
    "make_process": (lambda name, phi: cc.make_process(name, phi=phi), {"name": "AR1", "phi": 0.5}),
    "Hermite": (lambda count, y: cc.Hermite(count)(y), {"count": 3, "y": np.array([0.5, 2.0])}),
    "Monomials": (lambda count, y: cc.Monomials(count)(y), {"count": 3, "y": np.array([0.5, 2.0])}),
    "PiecewiseLinear": (lambda count, y: cc.PiecewiseLinear(count)(y), {"count": 3, "y": np.array([0.5, 2.0])}),
    "Fourier": (
        lambda count, period, y: cc.Fourier(count, period)(y),
        {"count": 3, "period": 8.0, "y": np.array([0.5, 2.0])},
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
    "Hierarchical of lists": (cc.Hierarchical, {"channels": [2, 2], "kernel_size": [2, 2, 2], "dilations": [1, 2, 2]}),
    "Architecture": (lambda params: (ARCH.jacobian(params), ARCH.coefficients(params)), {"params": PARAMS}),
    "Recurrent": (cc.Recurrent, {"n_inputs": 8, "channels": 2}),
    "parameters of Recurrent": (
        lambda params: (cc.Recurrent(8, 2).jacobian(params), cc.Recurrent(8, 2).coefficients(params)),
        {"params": np.array([1.0, 2.0, 0.5, 0.25, 1.0, 3.0])},
    ),
    "Linear": (
        lambda basis, input_dim, params: cc.Linear(basis, input_dim).coefficients(params),
        {"basis": np.eye(4)[:, :2], "input_dim": 1, "params": np.array([1.0, 2.0])},
    ),
    "AutoRegressiveTaps": (cc.AutoRegressiveTaps, {"taps": 2, "n_inputs": 4}),
    "LogTaps": (cc.LogTaps, {"n_inputs": 8, "taps": 3}),
    "NearAndPools": (cc.NearAndPools, {"near": 2, "pools": 2, "n_inputs": 8}),
    "Frozen": (
        lambda params, **k: cc.Frozen(**k).jacobian(params),
        {"arch": ARCH, "values": PARAMS, "free": np.array([0, 1]), "params": np.array([1.0, 2.0])},
    ),
    "Function": (
        lambda params, **k: cc.Function(np.sin, derivative="complex-step", **k).jacobian(params),
        {"n_params": 2, "input_dim": 1, "layers": {"all": slice(0, 2)}, "params": np.array([1.0, 2.0])},
    ),
    "Problem": (cc.Problem, {"target": np.ones(2), "covariance": np.eye(2), "root": np.eye(2), "variance": 1.0}),
    "ConstraintSpace": (lambda **k: cc.ConstraintSpace.from_columns(**k).per_input(), {"matrix": np.eye(4)[:, :2]}),
    "capacity of ConstraintSpace": (SPACE.capacity, {"subspace": np.eye(8)[:, :2]}),
    "groups of ConstraintSpace": (SPACE.per_input, {"group": 2}),
    "join": (cc.join, {"spaces": [SPACE, SPACE]}),
    "chain": (cc.chain, {"spaces": [SPACE, SPACE]}),
    "TangentSpace": (lambda kernels: cc.TangentSpace.of_kernels(kernels).dimension, {"kernels": ARCH.kernels(PARAMS)}),
    "fit": (
        quiet(cc.fit, max_iterations=2),
        {"arch": ARCH, "task": TASK, "rng": 0, "method": "gauss-newton", "start": PARAMS, "n_starts": 1},
    ),
    "options of fit": (
        quiet(cc.fit, arch=ARCH, task=TASK, method="gauss-newton"),
        {"max_iterations": 2, "tolerance": 1e-8, "floor": 1e-12},
    ),
    "options of large fits": (
        quiet(cc.fit, arch=ARCH, task=TASK, method="riemannian-newton"),
        {"max_iterations": 2, "tolerance": 1e-8, "floor": 1e-12},
    ),
    "options of octaves": (quiet(cc.fit, arch=ARCH, task=TASK, method="octaves"), {"max_iterations": 2}),
    "fit a function": (
        lambda **k: cc.fit(np.square, TASK, max_iterations=2, **k),
        {"params": np.array([1.0, 2.0]), "inputs": None, "time_axis": None},
    ),
    "options of hopping": (
        quiet(cc.fit, arch=ARCH, task=TASK, method="basin-hopping"),
        {"n_hops": 1, "max_iterations": 2},
    ),
    "design": (
        lambda **k: cc.design(**k).best,
        {
            "process": TASK,
            "max_params": 4,
            "n_inputs": 8,
            "horizon": 2,
            "families": ["autoregressive", "near and pools"],
            "n_best": 2,
        },
    ),
    "design for a series": (
        lambda series, **k: cc.design(series, max_params=2, n_inputs=4, families=["autoregressive"], **k).best,
        {"series": SHARED.normal(size=80), "horizon": 2, "differences": 1, "season": 4},
    ),
    "compare": (
        quiet(cc.compare, max_iterations=2),
        {"models": {"small": ARCH}, "task": TASK, "starts": 2, "rng": 0},
    ),
    "allocate": (cc.allocate, {"arch": ARCH, "params": PARAMS, "task": TASK, "method": "dense"}),
    **{
        f"allocate by {method}": (
            lambda method=method, **k: cc.allocate(ARCH, task=TASK, method=method, **k).per_octave,
            {"params": PARAMS, **options},
        )
        for method, options in {"streamed": {}, "octaves": {}, "sketch": {"rng": 0}}.items()
    },
    "allocate a function": (
        lambda params, **k: cc.allocate(cc.Function(np.square, 2, **k), params, TASK).per_octave,
        {"params": np.array([1.0, 2.0]), "input_dim": 1, "layers": {"all": slice(0, 2)}},
    ),
    "receptive_field": (cc.receptive_field, {"kernel_size": 3, "dilations": 2}),
    "receptive_field of a model": (cc.receptive_field, {"model": ARCH}),
    "exponential_sequence": (cc.exponential_sequence, {"process": TASK, "n": 64}),
    "ExponentialSequence": (
        lambda **k: cc.ExponentialSequence(**k).autocovariance(4),
        {"variance": 2.0, "weights": np.array([1.0]), "rates": np.array([0.5])},
    ),
    "estimate_process": (cc.estimate_process, {"series": SHARED.normal(size=60), "n_inputs": 4}),
    "inputs": (networks.inputs, {"values": X, "groups": np.array([0, 0, 1])}),
    "frequencies": (networks.frequencies, {"images": IMAGES}),
    "huber": (lambda **k: losses_of(X, 2 * X, networks.huber(**k)), {"threshold": 0.8}),
    "quantile": (lambda **k: losses_of(X, 2 * X, networks.quantile(**k)), {"level": 0.9, "width": 0.3}),
    "patches": (networks.patches, {"images": IMAGES, "size": 2}),
    "positions": (networks.positions, {"tokens": np.arange(12).reshape(6, 2) % 3}),
    "ConvolutionTransport": (
        cc.ConvolutionTransport,
        {"weights": np.array([[[0.25], [0.5], [0.25]]]), "dilation": 1, "origin": 1},
    ),
    "MatrixTransport": (cc.MatrixTransport, {"weights": np.array([[0.5, 0.5], [0.5, 0.5]])}),
    "Layer": (
        lambda **k: cc.propagate(np.eye(8)[0], [cc.Layer(**k)], conserve=False).input,
        {"transport": STACK, "side": 0.1, "bias": 0.1, "skips": {}},
    ),
    "propagate": (
        cc.propagate,
        {"output": np.eye(8)[0], "layers": [STACK, STACK], "boundary": "periodic", "sources": {1: np.eye(8)[1]}},
    ),
    "propagate_equal": (cc.propagate_equal, {"output": np.eye(8)[0], "transport": STACK, "n_layers": 3}),
    "evolve": (
        lambda initial, **k: cc.evolve(initial, [propagation.Segment(**k)]),
        {"initial": np.eye(8)[0], "duration": 2.0, "generator": RATES, "leak": 0.1},
    ),
    "source of evolve": (
        lambda source: cc.evolve(np.eye(8)[0], [propagation.Segment(1.0, LIMIT, source=source)]),
        {"source": np.eye(8)[1]},
    ),
    "LimitCoefficients": (
        propagation.LimitCoefficients,
        {"diffusion": np.array([[0.5]]), "drift": np.array([0.1]), "leak": 0.1},
    ),
    "displacement": (propagation.displacement, {"layers": [STACK, STACK]}),
    "heat_kernel": (propagation.heat_kernel, {"x": np.array([0.5, 1.0]), "t": 1.0, "coefficients": LIMIT}),
    "lumped": (propagation.lumped, {"transport": STACK}),
    "residual": (propagation.residual, {"rates": STACK, "n_layers": 3}),
    "fit_power_law": (cc.fit_power_law, {"eigenvalues": TAIL, "x_min": 1.5, "min_tail": 3, "threshold": 1e-9}),
    "fit_power_laws": (spectra.fit_power_laws, {"spectra": [TAIL, TAIL], "x_min": 1.5}),
    "bootstrap_power_law": (
        lambda **k: spectra.bootstrap_power_law(rng=np.random.default_rng(0), **k),
        {"eigenvalues": TAIL, "n_resamples": 3, "x_min": 1.5, "min_tail": 3},
    ),
    "goodness_of_fit": (
        lambda **k: spectra.goodness_of_fit(rng=np.random.default_rng(0), **k),
        {"eigenvalues": TAIL, "n_simulations": 3, "x_min": 1.5, "min_tail": 3},
    ),
    "compare_tails": (
        spectra.compare_tails,
        {"eigenvalues": TAIL, "fit": cc.fit_power_law(TAIL), "level": 0.1, "alternatives": ["exponential"]},
    ),
    "spectrum_norms": (spectra.spectrum_norms, {"eigenvalues": TAIL}),
    "log_alpha_norm": (spectra.log_alpha_norm, {"eigenvalues": TAIL, "alpha": 2.5}),
    "fit_bulk": (spectra.fit_bulk, {"eigenvalues": TAIL, "shape": (60, 90), "divisor": 90.0}),
    "gram_spectra": (spectra.gram_spectra, {"matrices": WEIGHTS["fc.weight"][None]}),
    "operator_spectra": (spectra.operator_spectra, {"weights": WEIGHTS["conv.weight"], "grid": 4, "stride": 1}),
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
        {"arrangement": "slices", "scale": "weightwatcher", "seed": 0, "draw": 0, "minimum": 10, "maximum": 99},
    ),
    "SpectraOptions": (
        spectra.SpectraOptions,
        {"tail_share": 0.5, "min_tail": 3, "layout": "channels-first"},
    ),
    "read_checkpoint": (cc.read_checkpoint, {"source": WEIGHTS, "key": None, "non_finite": "refuse"}),
    "of_arrays": (checkpoints.of_arrays, {"source": WEIGHTS}),
    "arrays of a checkpoint": (lambda weights: cc.read_checkpoint({"w": weights}), {"weights": WEIGHTS["fc.weight"]}),
    "analyse_spectra": (cc.analyse_spectra, {"source": {"fc.weight": WEIGHTS["fc.weight"]}, "options": None}),
    "weights of analyse_spectra": (
        lambda weights: cc.analyse_spectra({"fc.weight": weights}, spectra.SpectraOptions()),
        {"weights": WEIGHTS["fc.weight"]},
    ),
    "decoupled_decay": (
        lambda **k: ravelled(networks.decoupled_decay(**k)).vector,
        {"second_moments": SHARED.uniform(size=4), "weight_decay": 0.1, "n_examples": 20, "eps": 1e-8},
    ),
    "find_layers": (
        spectra.find_layers,
        {"checkpoint": cc.read_checkpoint(WEIGHTS), "groups": {"conv*": 1}, "layout": "channels-first"},
    ),
    "noise_eigenvalues": (lambda **k: spectra.noise_eigenvalues(rng=np.random.default_rng(0), **k), {"shape": (6, 9)}),
    "report": (
        lambda **k: spectra.report(fast=True, **k),
        {"source": {"fc.weight": WEIGHTS["fc.weight"]}, "layers": "fc*", "workers": 1, "options": None},
    ),
    "numbers of report": (
        lambda **k: spectra.report({"fc.weight": WEIGHTS["fc.weight"]}, **k),
        {"n_null": 3, "n_resamples": 3, "null": "gaussian"},
    ),
    "lora_products": (checkpoints.lora_products, {"adapter": "x"}),
    "read_folder": (checkpoints.read_folder, {"path": "absent", "non_finite": "refuse"}),
    "weightwatcher_details": (spectra.weightwatcher_details, {"checkpoint": WEIGHTS, "workers": 1}),
}
ROWS |= {
    name: (
        lambda family=family, **parameters: family(**parameters).autocovariance(8),
        {field.name: field.default for field in fields(family)},
    )
    for name, family in REGISTRY.items()
}
"""Public name → what is called, and arguments with which it works; names of more words are further rows."""
RETURNED = {
    *("Allocation", "CapacityWarning", "CheckpointError", "Comparison", "Design", "Fit", "ReceptiveField"),
    *("LayerAllocation", "NetworkAllocation", "LeaveOneOut"),
    *("TooLargeError", "Capacities", "Functions", "NetworkLayer", "Polished"),
    *("Displacement", "Evolution", "NotStochasticError", "Propagation"),
    *("BootstrapInterval", "BulkFit", "Checkpoint", "Densities", "Density", "Folder", "GoodnessOfFit"),
    *("GramSpectra", "Layers", "LikelihoodRatio", "ModelMetrics", "Norms", "PowerLawFit"),
    *("Skipped", "Source", "SpectraReport", "SpectrumMetrics", "Tensor", "layer_densities"),
    *("model_metrics", "usual_options", "weightwatcher_summary", "check_positive_definite"),
}
"""Records that functions above return, what they raise, and functions of such records alone."""
ELSEWHERE = ["linearised", "from_torch", "allocate_network", "polish"]
"""Calls that compile take seconds: the arguments of :func:`test_networks` alone are tried. And there is no PyTorch."""
