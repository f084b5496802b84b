"""What events cost: bounds by capacity, and the stored answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.capacity.allocation import CapacityAllocation
from chapters.events import study
from chapters.events.experiment import SETTINGS, autoregression
from chapters.shared.rank_statistics import spearman
from tests.strategies import seeds

N = 12


def allocation(jacobian, covariance):
    space = cc.ConstraintSpace.from_columns(covariance @ jacobian)
    return CapacityAllocation(space, space.dimension, covariance, 1, {})


@given(seeds, st.integers(1, N - 1), st.floats(0.5, 4))
def test_what_is_learnt_lies_between_capacity_times_the_extreme_eigenvalues(seed, rank, spread):
    """λ_min κ_k ≤ Σ_kk − E_k ≤ λ_max κ_k; condition numbers are below 1e4, hence the tolerance."""
    rng = np.random.default_rng(seed)
    vectors, eigenvalues = np.linalg.qr(rng.normal(size=(N, N)))[0], np.exp(rng.uniform(-spread, spread, N))
    covariance = vectors * eigenvalues @ vectors.T
    found = allocation(rng.normal(size=(N, rank)), covariance)
    learnt = np.diag(covariance) * (1 - found.missed)
    slack = 1e-9 * eigenvalues.max()
    assert (eigenvalues.min() * found.per_input <= learnt + slack).all()
    assert (learnt <= eigenvalues.max() * found.per_input + slack).all()


def test_a_unit_of_capacity_may_miss_nearly_all():
    """Two inputs with correlation ρ attain Kantorovich's bound ((c − 1)/(c + 1))², which is ρ²."""
    covariance = np.array([[1, 0.99], [0.99, 1]])
    found = allocation(np.linalg.inv(covariance)[:, :1], covariance)
    condition = np.linalg.cond(covariance)
    assert found.per_input == pytest.approx([1, 0], abs=1e-12)
    assert found.missed[0] == pytest.approx(((condition - 1) / (condition + 1)) ** 2, abs=1e-10)
    assert found.missed[0] == pytest.approx(0.99**2, abs=1e-10)


def test_the_process_of_an_event_has_it_in_its_forecast():
    coefficients = np.zeros(42)
    coefficients[[0, 40]] = 0.5, 0.25
    found, variance = autoregression(coefficients, 2.0).predictor(42)
    np.testing.assert_allclose(found, coefficients, atol=1e-9)
    assert variance == pytest.approx(2.0)


def test_the_answers_are_those_of_the_page():
    table = study.answers()
    answers = table["answer"].value_counts()
    assert len(table) == 15 and (answers["yes"], answers["no"], answers["undecided"]) == (6, 3, 6)
    assert table.loc["Does missed share rank events in the target?", "answer"] == "yes"
    lines = study.overview(table).splitlines()
    assert [sum(line.count(f"*{answer}*") for line in lines) for answer in ("yes", "no", "undecided")] == [6, 3, 6]


def test_what_has_nothing_to_rank_is_left_out():
    kinds = study.by_kind("0.1")
    assert kinds.shape == (len(SETTINGS["models"]), len(SETTINGS["processes"]))
    assert kinds.loc["stack 4"].isna().all() and kinds.loc["stack 1"].notna().all()
    assert spearman(np.ones(3), np.arange(3)) == 0
