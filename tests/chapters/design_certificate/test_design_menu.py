"""What can be ordered: undominated stacks, each of which is what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from chapters.design_certificate import design_menu as experiment
from chapters.design_certificate.processes import named
from chapters.kit.stored import stored

MENU = stored("design_menu")["values"]


def test_a_quick_run_has_what_the_page_reads():
    found = experiment.run(experiment.SETTINGS | experiment.QUICK)
    assert set(found) == set(MENU)
    for menu in found.values():
        assert menu["stacks"] and len(menu["stacks"]) <= menu["tried"]
        assert all(each["bound"] <= each["loss"] * (1 + 1e-3) for each in menu["stacks"])


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=10))
def test_undominated(triples):
    stacks = [{"parameters": p, "loss": loss, "share": share} for p, loss, share in triples]
    kept = experiment.undominated(stacks)
    for p, loss, share in triples:
        assert any(one["parameters"] <= p and one["loss"] <= loss and one["share"] >= share for one in kept)
    for budget in range(5):
        for share in range(5):
            fitting = [each["loss"] for each in stacks if each["parameters"] <= budget and each["share"] >= share]
            best = experiment.ordered({"stacks": kept}, budget, share)
            assert (best["loss"] if best else None) == min(fitting, default=None)


@pytest.mark.parametrize("name", MENU)
def test_a_stack_on_the_menu_is_what_it_says(name):
    menu, process, half = MENU[name], named()[name], experiment.SETTINGS["n_inputs"] // 2
    best = experiment.ordered(menu, 48, 0.3)
    arch = cc.Hierarchical(best["channels"], kernel_size=best["kernels"])
    fit = cc.fit(arch, process, method="riemannian-newton")
    alloc = cc.allocate(arch, fit, process, method="dense")
    assert (arch.n_params, alloc.total) == (best["parameters"], best["capacity"])
    assert fit.loss / process.predictor(2 * half)[1] == pytest.approx(best["loss"], rel=1e-3)
    assert alloc.per_input[half:].sum() / alloc.total == pytest.approx(best["share"], abs=2e-3)
    lower = [bound for size, bound in menu["wall"] if size <= 48][-1]
    assert lower <= best["bound"] * (1 + 1e-3) <= best["loss"] * (1 + 2e-3)


def test_nothing_is_found_beyond_the_largest_share():
    for menu in MENU.values():
        most = max(each["share"] for each in menu["stacks"])
        assert experiment.ordered(menu, 96, most) and experiment.ordered(menu, 96, most + 0.01) is None
