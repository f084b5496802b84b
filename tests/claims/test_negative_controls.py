"""A measure that says *this gap is small* must not say so of a wrong input: with each one below, its bound fails.

What is measured is the expression that the notebook records, after those statements of the notebook that it needs. A
row of the table gives what is wrong: a function whose results are off, or values in place of the notebook's own.
"""

import ast
import pkgutil
import re
import symtable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace as Values
from typing import Any

import nbformat
import numpy as np
import pytest

import capcore as cc
from chapters.claims.criteria import ROUND_OFF
from chapters.claims.registry import load
from chapters.cumulated_capacity.study import Bridge
from chapters.feature_space.study import pose
from chapters.scaling_pdes.study import neighbours
from chapters.shared.complexity import Network
from chapters.shared.layers import LayerProfiles
from chapters.shared.survey import case
from chapters.spectra_resnets.study import PermutedNetwork
from chapters.trajectories.study import Growth

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
REGISTRY = load()
PROCESS, STACK = cc.PowerLaw(), cc.Hierarchical(1, 2)
UNTRAINED = STACK.init(np.random.default_rng(0))
ONES, PAIR = np.ones((1, 2)), Values(per_input=np.array([1.0, 1.1]))
LAYERS = LayerProfiles(("layer 1",), ONES, ONES, ONES, 1.1 * ONES)  # marginal above independent
FEATURES = cc.Hierarchical(1, 2, input_dim=2)
POSED = case(
    FEATURES, pose(PROCESS, cc.Hermite(2), "square"), start=FEATURES.init(np.random.default_rng(0)), max_iterations=0
)
TAP = np.diag([1.0, 2.0])
SPECTRUM = Values(layer="layer 1", eigenvalues=np.array([1.0, 4.0]))  # 1/2 and 2 are right
APART = [Values(normalised=np.array([1.0, 0.5])), Values(normalised=np.array([0.5, 1.0]))]
SHIFTED = Bridge(np.eye(2)[0], [], [], np.eye(2)[1], np.eye(2)[1])
NOISY = 10 + np.random.default_rng(0).normal(size=(9, 2))
BASES = [Values(allocation=PAIR), Values(allocation=Values(per_input=np.ones(2)))]


def made(kind, **values):
    """An instance of a class that has these values, which nothing has computed."""
    one = kind.__new__(kind)
    vars(one).update(values)
    return one


CONTROLS: dict[str, dict[str, Any]] = {
    "P1.01.spread": {"fault": "linear_systems.systems.ConstraintSpace.capacity", "n_spaces": 2},
    "P1.01.spread_spanning": {"fault": "linear_systems.systems.ConstraintSpace.capacity", "n_spaces": 2},
    "P1.02.gap": {"fault": "linear_systems.systems.ConstraintSpace.capacity"},
    "P1.03.gap_pair": {"fault": "linear_systems.systems.ConstraintSpace.capacity", "n_spaces": 2},
    "P1.03.gap_sum": {"fault": "linear_systems.systems.ConstraintSpace.along", "n_spaces": 2},
    "P1.04.gap_inside": {"fault": "linear_systems.systems.ConstraintSpace.along", "n_spaces": 2},
    "P1.04.gap_outside": {"fault": "linear_systems.systems.null_space", "n_spaces": 2},
    "P1.04.largest": {"fault": "linear_systems.systems.ConstraintSpace.along", "by": 1.0, "n_spaces": 2},
    "P1.06.gap": {"fault": "linear_systems.systems.ConstraintSpace.capacity", "n_spaces": 2},
    "P1.06.outside": {"fault": "linear_systems.systems.ConstraintSpace.capacity", "by": 1.0, "n_spaces": 2},
    "P1.06.gap_model": {"fault": "linear_systems.study.relative_squares", "task": PROCESS},
    "P1.07.gap_orthogonal": {"fault": "linear_systems.systems.random_basis", "n_spaces": 2},
    "P1.07.gap_converse": {"fault": "linear_systems.systems.subspace_angles", "n_spaces": 2},
    "P1.08.gap": {"fault": "linear_systems.systems.ConstraintSpace.capacity", "n_spaces": 2},
    "P1.08.gap_layers": {"alloc": Values(layers={"layer 1": Values(forward=1.0, backward=1.0)}, per_input=0.9)},
    "P1.11.total_gap": {"allocs": {"one": PAIR, "other": Values(per_input=np.ones(2))}},
    "P1.46.gap": {"fault": "linear_systems.systems.ConstraintSpace.from_columns", "n_spaces": 2},
    "P1.09.gradient_gap": {"fault": "gaussian_prediction.optima.gradient"},
    "P1.09.stationarity": {
        "models": {"one": STACK},
        "mine": {"one": Values(fit=Values(params=UNTRAINED))},
        "problem": cc.Problem.of(STACK, PROCESS),
    },
    "P1.36.residual": {"fault": "linear_systems.study.Process.predictor", "by": 1e-5, "n": 4},
    "P1.36.variance_gap": {"fault": "linear_systems.study.Process.predictor", "by": 1e-5, "n": 4},
    "P1.36.round_trip": {"fault": "linear_systems.study.Process.predictor", "by": 1e-5, "n": 4},
    "P1.37.algebra_gap": {"fault": "gaussian_prediction.study.error_variance"},
    "P1.49.boundary": {"fault": "gaussian_prediction.response.model_autocorrelation"},
    "P1.49.homogeneous_residual": {"fault": "gaussian_prediction.response.model_autocorrelation"},
    "P1.49.source_residual": {"fault": "gaussian_prediction.response.model_autocorrelation"},
    "P1.12.coefficient_gap": {"fault": "hierarchical.study.products"},
    "P1.20.smallest": {"inputs": {8: np.array([1.0, 0.99])}, "last": 8},
    "P1.26.input_excess": {"model": LAYERS},
    "P1.26.total_excess": {"families": {"one": LAYERS}},
    "P1.27.numerical_gap": {"model": LAYERS, "exact": {"marginal": np.array([2])}},
    "P1.31.excess": {"tops": {2: 2.1}},
    "P1.34.offset": {"found": {"one": POSED}},
    "P1.35.sum": {"fault": "feature_space.study.per_feature", "allocations": [POSED.allocation]},
    "P1.35.bound": {"allocations": [PAIR], "count": 1},
    "P1.35.orthonormal": {"pair": BASES, "cured": BASES},
    "P1.42.layers": {"from_optimum": {4: {"layer 1": Values(excess=np.array([0.0, 1e-5]))}}},
    "P1.45.sum": {"cases": {4: Values(allocation=Values(per_frequency=np.ones(3), total=4))}},
    "P2.02.coefficient": {"fault": "scaling_pdes.study.law_of_layers", "depths": [8]},
    "P2.02.conservation": {"laws": {8: np.array([0.5, 0.4])}, "limit": np.ones(1)},
    "P2.03.quadrature": {"fault": "scaling_pdes.paths.gaussian_average", "spreads": [1.0]},
    "P2.16.path_sum": {"fault": "scaling_pdes.paths.Network.capacity"},
    "P2.07.integral": {"fault": "scaling_pdes.paths.sources_until_now"},
    "P2.07.lattice_value": {"fault": "scaling_pdes_layers.study.steady_lattice_law"},
    "P2.08.integral": {"fault": "scaling_pdes.paths.sources_until_now", "strengths": [1.0, 0.5]},
    "P2.08.conditional_sum": {"counted": {"conditional": 6.9, "total": 7.0}},
    "P2.08.superposition": {
        "fault": "scaling_pdes_layers.study.cumulated_one_by_one",
        "depths": [8],
        "rates": neighbours(1.0),
    },
    "P2.09.conservation": {"growing": {8: Values(imbalance=0.1)}, "constant": {}, "shallowest": {}},
    "P2.10.capacity_law": {
        "kept": {0.5: Values(capacity_of_x=lambda: 3.0)},
        "squares": {0.5: 0.1},
        "units": 4,
        "layers": 2,
    },
    "P2.13.uniform_gap": {
        "fault": "scaling_pdes_architectures.study.propagate_equal",
        "channel_list": [3],
        "depths": [8],
    },
    "P2.13.lumpable_gap": {
        "fault": "scaling_pdes_architectures.study.propagate_equal",
        "channel_list": [3],
        "depths": [8],
    },
    "P2.14.covariance_gap": {"fault": "scaling_pdes_architectures.study.covariance", "depths": [8]},
    "P2.14.eight_gap": {"fault": "scaling_pdes_architectures.study.origin_by_quadrature"},
    "P2.15.forgetting": {"fault": "scaling_conjecture_recurrent.memory.forgetting"},
    "P2.15.orthogonal": {"rotations": [[-0.1]]},
    "P2.15.probe_law": {"exact": np.zeros(5), "n_steps": 4},
    "P2.17.chain_identity": {
        "fault": "linear_systems.systems.ConstraintSpace.per_input",
        "cases": {1: case(STACK, PROCESS)},
    },
    "P2.17.one_channel": {"one": Bridge(np.ones(2), [], [], np.ones(2), 1.1 * np.ones(2))},
    "P2.17.residual": {"steps": Bridge(np.ones(2), [], [], np.ones(2), 1.1 * np.ones(2))},
    "P2.18.factor_gap": {"fault": "receptive_field.dilated.step_factor"},
    "P3.04.by_hand": {"nets": [20], "plain": {20: 1.1}, "models": {20: Values(sum_alpha_hat=1.0)}, "scale": {20: 1.0}},
    "P3.04.forms": {"several": {20: [1.0, 1.1]}, "scale": {20: 1.0}},
    "P3.04.squared_over_n": {"fault": "spectra_metrics.alpha_hat.np.linalg.eigvalsh"},
    "P3.04.rescaling_law": {"moved": np.ones(2), "law": 1.1 * np.ones(2), "at": [0, 1], "kept": 0.0},
    "P3.06.linear": {"weights": {"layer 1": TAP}, "trained": Values(densities=[SPECTRUM])},
    "P3.06.slices": {"taps": [TAP], "found": {"kernel": [SPECTRUM]}},
    "P3.06.weighted_sum": {"fault": "spectra.study.exhaustive_sum"},
    "P3.06.kept_norm": {"fault": "spectra.convolutions.eigenvalues"},
    "P3.06.same_slices": {"rotated": [np.ones(2)], "equal": [np.array([1.0, 1.1])]},
    "P3.06.operator": {"fault": "spectra.convolutions.circular_matrix"},
    "P3.09.permuted": {"pair": made(PermutedNetwork, intact=Values(mean_alpha=2.0), permuted=Values(mean_alpha=2.1))},
    "S4.08.closed_form": {"fault": "effective_complexity.study.closed_form_fisher_rao"},
    "S4.08.rescaling": {"fault": "effective_complexity.study.rescaled_units"},
    "S4.08.forward_mode": {"fault": "effective_complexity.study.fisher_rao"},
    "P1.05.worst_z": {"fault": "linear_systems.errors.free_dimensions", "by": 1.0, "n_samples": 1000},
    "P1.34.sampling": {"fault": "feature_space.study.FeatureProcess.covariance", "by": 1.0, "n_samples": 1000, "n": 4},
    "P1.37.worst_z": {"expected": {"one": 1.0}, "sampled": {"one": Values(mean=2.0, standard_error=0.1)}},
    "P2.01.close": {"means": {("signs", "dense"): np.array([1.0, 0.0])}, "laws": {"dense": np.array([0.5, 0.5])}},
    "P2.01.tanh_signs": {"tanh": np.array([1.0, 0.0]), "laws": {"dense": np.array([0.5, 0.5])}},
    "P2.02.with_drift": {"fault": "scaling_pdes.study.heat_law", "by": 0.1, "spreads": [64]},
    "P2.07.rescaled": {"first": ONES[0], "last": 3 * ONES[0], "here": [True, False], "depths": [8, 16]},
    "P2.09.leak_value": {"constant": {8: Values(masses={"input": 0.5})}, "leak": 1.5},
    "P2.12.smooth_variance": {"fault": "receptive_field.dilated.smooth_dilations", "by": 0.1},
    "P2.15.half_life": {"long_one": Values(half_life=1.0), "n_steps": 4, "alpha": 1.0},
    "P2.17.printed": {"here": SHIFTED},
    "P2.17.conditional": {"here": SHIFTED},
    "S4.02.first_layer": {"counted": NOISY, "expected": 0.0},
    "S4.02.every_layer": {"counted": NOISY, "expected": 0.0},
    "S4.02.prefactor": {"short": NOISY * [2, 1]},
    "S4.03.law_2": {"pairs": [(NOISY[:, 0], 0.0)]},
    "S4.03.law_3": {"pairs": [(NOISY[:, 0], 0.0)] * 2},
    "S4.03.law_16": {"pairs": [(NOISY[:, 0], 0.0)] * 3},
    "S4.03.polygons": {
        "crossed": Values(value=2.0, standard_error=0.1),
        "sides": Values(boundary_length=1.0, areas=ONES),
    },
    "S4.04.law": {"found": {"He": made(Growth, start=np.ones((9, 1)), lengths=NOISY)}, "laws": {"He": np.ones(2)}},
    "P1.33.similar_coincide": {"alike_groups": {1: APART}},
    "P1.33.coincide": {"groups": {1: APART}},
    "P1.33.by_parameters": {"apart": {1: [0.0, 0.0, 0.5]}},
    "P2.03.layers": {"fault": "scaling_pdes.study.law_of_many_layers", "by": 0.1, "spreads": [4], "very_deep": 64},
    "P2.03.edge_images": {"fault": "scaling_pdes.paths.edge_law", "spreads": [4], "depths": [64]},
    "P2.09.equation_gap": {"fault": "scaling_pdes_layers.leaks.leaked_density", "by": 0.1},
    "P3.05.lomax": {"random": {"positive": {"printed": ONES, "alpha": 1.5 * ONES}}},
    "P3.05.symmetric": {"random": {"both signs": {"printed": ONES, "alpha": 1.5 * ONES}}},
    "P3.05.pure": {"pure": {2.0: 2.5}},
    "P3.07c.drawn_equivalent": {"found": {"drawn": Values(low=-0.6, high=0.1)}, "drawn_name": "drawn"},
    "P3.07c.quoted_equivalent": {"found": {"quoted": Values(low=-0.1, high=0.6)}, "quoted_name": "quoted"},
    "S4.06.error": {"fault": "effective_complexity.region_counts.expit", "by": 0.1},
    "S4.07.tolerance": {"tolerant": {0.5: Values(value=20.0)}},  # 40 is right
    "S4.07.separable": {"separating": {10: Values(value=10.0)}},  # 20 is right
    "N2.02.linear_allocation": {"pairs": [Values(per_input_gap=1e-3)]},
    "N2.02.order_blind": {"models": {"invariant": Values(odd_shares=np.array([0.5]))}},
}
GAPS = r"\bgap|\|z\||z-score|change|differen|deviation|misplaced|total variation|in standard errors|error of"
NO_GAP = {  # as small as rounding, or with such a word, but of another form
    "P1.15.loss_at_8": "a loss",
    "P1.16.benchmark_gap": "a loss",
    "P1.38.lbfgs_loss": "a loss",
    "P1.39.short_long_ratio": "an order of two errors",
    "P1.45.stationary": "an order of two differences",
    "P2.12.median": "a ratio of two lengths",
    "P3.07d.drawn_interval": "the sign of a difference",
    "P1.38.loss": "a loss",
    "P2.01.left_out": "a p-value",
    "P2.01.printed_index": "a p-value",
}


def measured(name, given):
    """What the notebook records for a check with the ``given`` values in place of its own."""
    claim, check = name.rsplit(".", 1)
    cells = nbformat.read(NOTEBOOKS / f"{REGISTRY[claim].notebook}.ipynb", 4).cells
    rows = [row for cell in cells if cell.cell_type == "code" for row in ast.parse(cell.source).body]
    records = [row for row in rows if ast.unparse(row).startswith(f"claims.record('{claim}'")]
    candidates = [(row, keyword) for row in records for keyword in row.value.keywords if keyword.arg in (check, None)]
    record, keyword = max(candidates, key=lambda pair: pair[1].arg == check)
    needed, part = names(ast.Expr(keyword.value))[1] - set(given), []
    for row in reversed(rows[: rows.index(record)]):
        bound, used = names(row)
        if bound & needed:
            part.insert(0, row)
            needed |= used - set(given)
    namespace = dict(given)
    for row in part:
        exec(compile(ast.Module([row], []), name, "exec"), namespace)
        namespace |= given
    value = eval(compile(ast.Expression(keyword.value), name, "eval"), namespace)
    return value if keyword.arg else value[check]


def names(statement):
    """The names that a statement binds or appends to, and those that it uses."""
    tables = [symtable.symtable(ast.unparse(statement), "cell", "exec")]
    symbols = tables[0].get_symbols()
    bound = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}
    used = {each.get_name() for each in symbols if each.is_referenced()}
    for table in tables:
        tables.extend(table.get_children())
        used |= {each.get_name() for each in table.get_symbols() if each.is_global()}
    return bound | {ast.unparse(n.value) for n in ast.walk(statement) if getattr(n, "attr", "") == "append"}, used


def off(function, by):
    """The function with results that are ``by`` too large at the first call, twice as much at the second, and so on."""
    calls = count(1)

    def moved(result, error):
        if isinstance(result, tuple | list):
            return [moved(each, error) for each in result]
        if name := {cc.ConstraintSpace: "basis", Network: "weights"}.get(type(result)):
            return replace(result, **{name: moved(getattr(result, name), error)})
        return result + error

    return lambda *args, **options: moved(function(*args, **options), by * next(calls))


@pytest.mark.parametrize("name", CONTROLS)
def test_a_wrong_input_fails(name, monkeypatch):
    given = dict(CONTROLS[name])
    by, target = given.pop("by", 1e-3), given.pop("fault", None)
    if target:
        original = pkgutil.resolve_name(f"chapters.{target}")
        monkeypatch.setattr(f"chapters.{target}", off(original, by))
    claim, check = name.rsplit(".", 1)
    assert not REGISTRY[claim].check(check).test.holds(float(measured(name, given)))


def test_every_gap_of_the_registry_has_its_control():
    gaps = {
        f"{claim.id}.{check.name}"
        for claim in REGISTRY
        for check in claim.checks
        if check.test.kind == "at_most" and (0 < check.test.bound <= ROUND_OFF or re.search(GAPS, check.quantity))
    }
    assert gaps == {*CONTROLS, *NO_GAP}
